"""The options that several commands share, each written once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

DEFAULT_MODEL = "captions-en-de"

# No check of existence here: a missing file is an error of the run (exit status 1, our message), not of usage (2).
FILE = click.Path(path_type=Path)

Command = Callable[..., Any]


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


def instruction_set_option(command: Command) -> Command:
    """Add --instruction-set NAME."""
    return click.option(
        "--instruction-set",
        type=click.Choice(["portable", "avx2", "avx512_vnni"]),
        default=None,
        help="Kernels to use (default: the best that this CPU has).",
    )(command)


def json_option(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Write a JSON record in place of a table.")(command)
