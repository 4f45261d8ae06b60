"""Options that several commands share."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from pocketmt.atomic_file import check_not_read, check_output
from pocketmt.cli.endings import quoted
from pocketmt.distributed.storage import is_address, local_path
from pocketmt.errors import DataError
from pocketmt.text.corpus import both_sides
from pocketmt.text.formats.format import format_of

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_MODEL = "everyday-en-de"


class LocalFile(click.Path):
    """A path. Its existence is not checked: a missing file is an error (exit status 1), not wrong usage (2)."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; click.BadParameter for an address, which would become a folder with a colon, or nothing."""
        if value == "":
            self.fail("the path is empty: give a path", param, ctx)
        if isinstance(value, str) and is_address(value):
            self.fail(f"{value!r} is an address: give a path", param, ctx)
        return super().convert(value, param, ctx)


FILE = LocalFile()


class GivenOnce(click.Option):
    """An option that is refused if it is given twice: click would leave out all but the last file without a word."""

    def __init__(self, names: Sequence[str], **settings: Any) -> None:
        super().__init__(names, multiple=True, callback=self._only, **settings)

    @staticmethod
    def _only(context: click.Context, option: click.Parameter, values: Sequence[Any]) -> Any:
        if len(values) > 1:
            times = f"{option.opts[0]} is given {len(values)} times"
            raise click.UsageError(f"{times}: give it once, and run the command again for another.", context)
        return values[0] if values else None


PICTURE_SUFFIXES = (".png", ".svg", ".pdf")

LARGEST_BEAM = 256  # The engine's limit.
MOST_WORKERS = 1024  # The engine's limit.

# What `pocketmt train` writes; the module that names these files imports PyTorch.
RUN_FILES = ("configuration.json", "vocabulary.model", "log.jsonl", "checkpoint.pt", "model.safetensors")

_LARGEST_SIZE = (1 << 63) - 1  # Most bytes of a file on any system.
_UNITS = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def option_name(argument: str) -> str:
    """Return the option that gives an argument of Python."""
    return f"--{argument.replace('_', '-')}"


class FileSize(click.ParamType):  # type: ignore[type-arg]  # ParamType is not generic in older versions of click.
    """A file size in bytes, such as 900000, 900kB or 1.2MB. Units are powers of 1,000."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes; click.BadParameter if the value is not a size."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", str(value).strip())
        size = 0.0 if match is None else float(match[1]) * _UNITS.get(match[2], 0)
        if not 1 <= size <= _LARGEST_SIZE:
            about = f"{value!r:.80} is not a size"
            self.fail(f"{about}: give a number of bytes, or a size such as 900kB or 1.2MB.", param, ctx)
        return int(size)


class EncodableText(click.ParamType):  # type: ignore[type-arg]
    """Text that a file can hold as UTF-8; arguments that the terminal's encoding cannot decode are not."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text; click.BadParameter if it has bytes that are no characters."""
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail(f"{value!r} has bytes that are no characters: give text in UTF-8.", param, ctx)
        return str(value)


class FiniteRange(click.FloatRange):
    """A range of numbers without "not a number" and the infinities, which click accepts."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; click.BadParameter if it is not finite or out of range."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


beam_size_option = click.option(
    "--beam-size",
    "-b",
    type=click.IntRange(1, LARGEST_BEAM),
    default=4,
    show_default=True,
    help="Hypotheses kept at each step. 1 (greedy search) is faster and slightly worse.",
)
workers_option = click.option(
    "--workers",
    "-w",
    type=click.IntRange(1, MOST_WORKERS),
    default=1,
    show_default=True,
    help="Threads, with one copy of the weights. Translations do not depend on their number.",
)
pin_workers_option = click.option(
    "--pin-workers",
    is_flag=True,
    help="Pin each worker to a separate core. Times vary less on an idle machine, but are worse on a busy one.",
)
instruction_set_option = click.option(
    "--instruction-set",
    type=click.Choice(["portable", "avx2", "avx_vnni", "avx512_vnni", "amx_int8", "neon_dot_product", "neon_i8mm"]),
    default=None,
    help="Instruction set of the kernels (default: the best that this CPU supports).",
)


def device_option(default: str) -> Callable[[Command], Command]:
    """Return the option --device of a command."""
    return click.option(
        "--device",
        metavar="DEVICE",
        default=default,
        show_default=True,
        help="cpu, cuda, cuda:N, torch-cpu, or auto: a GPU, if any.",
    )


def precision_option(default: str) -> Callable[[Command], Command]:
    """Return the option --precision of a command; `default`: in words, for its help."""
    return click.option(
        "--precision",
        type=click.Choice(
            [
                *("float32", "float16", "bfloat16", "packed_float16", "packed_bfloat16"),
                *("int8_float32", "int8_float16", "int8_bfloat16"),
            ]
        ),
        default=None,
        help=f"Numeric precision on a GPU or with torch-cpu (default: {default}).",
    )


def translator_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add options to a command, which takes them as one argument `translator_choices`: arguments of `Translator`."""
    names = ("workers", "pin_workers", "instruction_set", "device", "precision")

    @wraps(command)
    def with_choices(**arguments: Any) -> None:
        command(translator_choices={name: arguments.pop(name) for name in names}, **arguments)

    decorated: Callable[..., None] = with_choices
    on_device = (precision_option("float32"), device_option("cpu"))
    for option in (*on_device, instruction_set_option, pin_workers_option, workers_option):
        decorated = option(decorated)
    return decorated


parallel_output_option = click.option(
    "--output",
    "-o",
    "outputs",
    cls=GivenOnce,
    type=FILE,
    nargs=2,
    required=True,
    metavar="SOURCE TARGET",
    help="The two files to write; gzip if their names end in .gz.",
)
entropy_coding_option = click.option(
    "--entropy-coding", is_flag=True, help="Make the file smaller without loss. Loading takes slightly longer."
)
licence_option = click.option("--licence", type=EncodableText(), default="", help="Licence to store in the file.")
description_option = click.option(
    "--description", type=EncodableText(), default="", help="Description to store in the file."
)
shortlist_option = click.option(
    "--shortlist/--no-shortlist",
    default=True,
    help="Use the file's shortlist, if any, or the whole vocabulary (default: shortlist; with PyTorch, none).",
)
source_language_option = click.option(
    "--source-language",
    type=EncodableText(),
    metavar="CODE",
    help="Language of the text (default: the model's).",
)
target_language_option = click.option(
    "--target-language",
    type=EncodableText(),
    metavar="CODE",
    help="Language to translate into (default: the model's); `pocketmt inspect` lists them.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write a JSON record instead of a table.")


def check_replaces_nothing(outputs: Iterable[Path | str | None], inputs: Iterable[Path | str | None]) -> None:
    """Check, before any work starts, that no file to write is one that is read.

    Args:
        outputs: paths and addresses to write, or None.
        inputs: paths, addresses and names of models that are read; only files count, and those of a run in its folder.
            Addresses that begin with file:// or local:// are files.

    Raises ConfigurationError as `check_not_read` does.
    """
    given = [local_path(path) for path in inputs if path is not None and not _is_bundled(path)]
    files = [*given, *(folder / name for folder in given for name in RUN_FILES)]
    check_not_read(
        (local_path(path) for path in outputs if path is not None), [path for path in files if path.is_file()]
    )


def check_ensemble(models: Sequence[str]) -> None:
    """Check, before any work starts, models that are to translate together.

    Raises click.UsageError if one is given twice, or a shortlist is asked for.
    """
    for place, model in enumerate(models):
        if model in models[:place]:
            raise click.UsageError(f"{model} is given twice: an ensemble needs different models.")
    if len(models) > 1 and click.get_current_context().params.get("shortlist") and is_given("shortlist"):
        raise click.UsageError("--shortlist needs one model: an ensemble has no shortlist.")


def check_picture(path: Path) -> None:
    """Check, before any work starts, that a picture can be written to a path.

    Raises:
        click.BadParameter: the suffix is not one of `PICTURE_SUFFIXES`.
        ConfigurationError: as `check_output` does.
    """
    if path.suffix not in PICTURE_SUFFIXES:
        raise click.BadParameter(f"{path} must end in one of {', '.join(PICTURE_SUFFIXES)}.")
    check_output(path)


def check_run(run: Path) -> None:
    """Check, before PyTorch is loaded, that a path may be the folder of a training run; raises DataError if not."""
    if run.is_file():
        folder = "give the folder of a run, which `pocketmt train CONFIGURATION -o RUN` writes"
        if run.suffix == ".pocketmt":
            command = f"pocketmt compress {quoted(run)} 8bit --output {quoted(run.with_name('small.pocketmt'))}"
            raise DataError(f"{run} is a model file, not a run: make a smaller file of it by `{command}`, or {folder}")
        raise DataError(f"{run} is a file: {folder}")
    if not run.exists():
        raise DataError(f"{run}: no such folder: give the folder of a run, which `pocketmt train` writes")


def is_given(parameter: str) -> bool:
    """Return whether an option of the command that runs, by the name of its parameter, was typed."""
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def check_n_best(n_best: int, beam_size: int) -> None:
    """Raise click.UsageError if a beam has fewer translations than --n-best asks for."""
    if n_best > beam_size:
        raise click.UsageError(f"--n-best {n_best} needs a beam of at least that size: --beam-size {n_best}.")


def check_model(name: str) -> None:
    """Check, before PyTorch is loaded, that a name is a folder, a model file, a bundled or another toolkit's model.

    Raises ModelFileError if it is a file of another kind, and DataError if there is nothing of this name.
    """
    from pocketmt.interop.formats import recognize
    from pocketmt.model_file import open_model

    if _is_bundled(name):
        return
    path = Path(name)
    if path.is_file() and recognize(path) is None:
        open_model(path, check_digest=False).close()
    elif not path.exists():
        raise DataError(
            f"{name}: no such folder, model file or bundled model: give the folder of a run, which `pocketmt train` "
            "writes, or a model file (*.pocketmt), which `pocketmt import` writes"
        )


def _is_bundled(name: Path | str) -> bool:
    """Return whether a string, which may also be the name of a file, names a bundled model."""
    if isinstance(name, Path):
        return False  # Without the time to import the engine.
    from pocketmt.engine.bundled import bundled_model

    return bundled_model(name) is not None


def warn_of_languages(languages: Iterable[str]) -> None:
    """Warn on stderr of codes that no language has."""
    from pocketmt.text.languages import language_warning  # Takes 2 ms, and few commands warn.

    for message in dict.fromkeys(filter(None, map(language_warning, languages))):
        click.echo(f"warning: {message}", err=True)


def require_both_sides(source: Path, target: Path | None, target_name: str) -> tuple[Path, Path]:
    """Return the files of the two sides, as `both_sides` does.

    Raises click.UsageError, which names the option or argument of the target, if only one file of plain text is given.
    """
    if target is None and format_of(source) == "text":
        raise click.UsageError(f"{source} is plain text: give {target_name} too, or a TSV, JSONL or TMX file of both.")
    return both_sides(source, target)
