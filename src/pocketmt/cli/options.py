"""The options that several commands share, each written once."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pocketmt.whole_file import check_output

DEFAULT_MODEL = "captions-en-de"

# No check of existence here: a missing file is an error of the run (exit status 1, our message), not of usage (2).
FILE = click.Path(path_type=Path)

PICTURES = (".png", ".svg", ".pdf")

Command = Callable[..., Any]

_UNITS = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9}


class FileSize(click.ParamType):  # type: ignore[type-arg]  # older versions of click are not generic
    """A number of bytes, as 900000, 900kB or 1.2MB; units are powers of 1,000."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", str(value).strip())
        if match is None or match[2] not in _UNITS or (size := int(float(match[1]) * _UNITS[match[2]])) < 1:
            self.fail(f"{value!r} is no size: give bytes, or as in 900kB or 1.2MB.", param, ctx)
        return size


def beam_size_option(command: Command) -> Command:
    """Add --beam-size K."""
    return click.option(
        "--beam-size",
        "-b",
        type=click.IntRange(1),
        default=4,
        show_default=True,
        help="Hypotheses kept at each step; 1 is greedy search, faster and a little worse.",
    )(command)


def workers_option(command: Command) -> Command:
    """Add --workers N."""
    return click.option(
        "--workers",
        "-w",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Threads that translate, over one copy of the weights. The text is the same for any number.",
    )(command)


def pin_workers_option(command: Command) -> Command:
    """Add --pin-workers."""
    return click.option(
        "--pin-workers",
        is_flag=True,
        help="Keep each worker to a core of its own: steadier times where nothing else runs, worse ones where it does.",
    )(command)


def instruction_set_option(command: Command) -> Command:
    """Add --instruction-set NAME."""
    return click.option(
        "--instruction-set",
        type=click.Choice(["portable", "avx2", "avx_vnni", "avx512_vnni", "neon_dot_product"]),
        default=None,
        help="Kernels to use (default: the best that this CPU has).",
    )(command)


def parallel_output_option(command: Command) -> Command:
    """Add --output SOURCE TARGET, as `outputs`."""
    return click.option(
        "--output",
        "-o",
        "outputs",
        type=FILE,
        nargs=2,
        required=True,
        metavar="SOURCE TARGET",
        help="The two files to write; gzip where a name ends in .gz.",
    )(command)


def entropy_coding_option(command: Command) -> Command:
    """Add --entropy-coding."""
    return click.option(
        "--entropy-coding", is_flag=True, help="Make the file smaller without loss; loading takes a little longer."
    )(command)


def shortlist_option(command: Command) -> Command:
    """Add --no-shortlist."""
    return click.option(
        "--shortlist/--no-shortlist",
        default=True,
        help="Whether the model's shortlist of likely pieces is used, where it has one (default: it is).",
    )(command)


def json_option(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Write a JSON record in place of a table.")(command)


def check_picture(path: Path) -> None:
    """Raise click.BadParameter or ConfigurationError where no picture can be written to a path, before any work."""
    if path.suffix not in PICTURES:
        raise click.BadParameter(f"{path} must end in one of {', '.join(PICTURES)}.")
    check_output(path)


def show_scored(done: int, total: int) -> None:
    """Show on stderr how many networks are scored, of how many."""
    _show_done("scored", done, total)


def show_translated(done: int, total: int) -> None:
    """Show on stderr how many lines are translated, of how many."""
    _show_done("translated", done, total)


def _show_done(what: str, done: int, total: int) -> None:
    click.echo(f"\r{what} {done:,} of {total:,}" + ("\n" if done == total else ""), nl=False, err=True)
