"""Follows one weight matrix through `pocketmt compress`, by a call trace: the files that it is handed to, in order.

    python tools/trace_matrix.py RECIPE [--stays]

A small network is made, one matrix of which has a shape that nothing else has. The matrix is handed to a function that
is called with an array of its shape (weights, codes, gradients) or with its name, also inside containers and objects
that are passed, up to three levels deep. Methods called on an object that keeps the matrix are not counted, nor are
networks that compute with it, nor what reads the written file back: its check, and the report at the end. A pair of
caller and callee counts once, so that loops over updates and layers add nothing. Entering a file from another is a
stay; a stay in a file that was left before is a return. Fewer files and fewer returns make the code easier to follow.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from click.testing import CliRunner

import pocketmt
from pocketmt.cli.main import pocketmt_command

PACKAGE = str(Path(pocketmt.__file__).parent)
ROWS, COLUMNS = 37, 22  # of the feed-forward matrix that is followed
MATRIX = "encoder.layers.0.feed_forward.inner.weight"
DEPTH = 3
READING_BACK = ("_check_readable", "show_model_file")  # of the model file's writer, and of the command's last lines
WORDS = ("a", "red", "blue", "green", "cat", "dog", "house", "tree")
CONFIGURATION = f"""
[data]
source_language = "en"
target_language = "de"
training_source = "train.en"
training_target = "train.de"
validation_source = "train.en"
validation_target = "train.de"
vocabulary_size = 60
[model]
preset = "tiny"
encoder_layers = 1
decoder_layers = 1
model_dimension = {COLUMNS}
feed_forward_dimension = {ROWS}
attention_heads = 1
attention_dimension = 20
[training]
threads = 1
accelerator = "cpu"
batch_tokens = 128
maximum_updates = 2
"""


class Trace:
    """The calls that hand the matrix on, each pair of caller and callee once."""

    def __init__(self) -> None:
        self.pairs: set[tuple[object, object]] = set()
        self.stays: list[tuple[str, str]] = []  # file, function

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call; a profile function of `sys.setprofile`."""
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        callers = [each for each in ancestors(frame) if each.f_code.co_filename.startswith(PACKAGE)]
        if any(each.f_code.co_name in READING_BACK for each in callers):
            return
        caller = callers[0] if callers else None
        pair = (caller and caller.f_code, frame.f_code)
        if pair in self.pairs or frame.f_code.co_name.startswith("<"):
            return
        count = frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
        names = [name for name in frame.f_code.co_varnames[:count] if name not in ("self", "cls")]
        if any(handles(frame.f_locals.get(name), DEPTH) for name in names):
            self.pairs.add(pair)
            file = frame.f_code.co_filename.removeprefix(PACKAGE + "/")
            if not self.stays or self.stays[-1][0] != file:
                self.stays.append((file, frame.f_code.co_name))


def ancestors(frame: FrameType) -> Iterator[FrameType]:
    """Yield the callers of a frame, the nearest first."""
    caller = frame.f_back
    while caller is not None:
        yield caller
        caller = caller.f_back


def handles(value: Any, depth: int) -> bool:
    """Return whether a value is the matrix, its name, or holds one of them."""
    if isinstance(value, str):
        return value == MATRIX or value.startswith(MATRIX + ".")
    if isinstance(value, torch.Tensor | np.ndarray):
        return ROWS in value.shape[:1] and value.ndim > 1
    if depth == 0 or isinstance(value, int | float | bytes | type(None)):
        return False
    return any(handles(each, depth - 1) for each in parts(value))


def parts(value: Any) -> Iterator[Any]:
    """Yield what a container or an object of this package holds."""
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from list(value)[:200]
    elif type(value).__module__.startswith("pocketmt"):
        if isinstance(value, torch.nn.Module):
            return
        if hasattr(value, "__dict__"):
            yield from vars(value).values()
        else:
            yield from (getattr(value, name, None) for name in getattr(value, "__slots__", ()))


def run(*arguments: str | Path) -> None:
    """Run a command in this process; raises RuntimeError where it fails."""
    result = CliRunner().invoke(pocketmt_command, [*map(str, arguments)])
    if result.exception is not None:
        raise RuntimeError(f"pocketmt {' '.join(map(str, arguments))}: {result.exception!r}\n{result.output}")


def trace_compress(recipe: str) -> list[tuple[str, str]]:
    """Train a small network, and trace its compression by a recipe; returns the stays."""
    draw = random.Random(1)
    lines = [" ".join(draw.choices(WORDS, k=5)) for _ in range(60)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.en").write_text("\n".join(lines) + "\n")
        (folder / "train.de").write_text("\n".join(lines).upper() + "\n")
        (folder / "run.toml").write_text(CONFIGURATION)
        run("train", folder / "run.toml", "--output", folder / "run")
        trace = Trace()
        sys.setprofile(trace)
        try:
            run("compress", folder / "run", recipe, "--limit-updates", "2", "--output", folder / "small.pocketmt")
        finally:
            sys.setprofile(None)
    return trace.stays


def main() -> None:
    """Trace, and print what was found as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", help="a name of `pocketmt compress --list`, or a TOML file")
    parser.add_argument("--stays", action="store_true", help="also print every stay: file and function")
    arguments = parser.parse_args()
    stays = trace_compress(arguments.recipe)
    if arguments.stays:
        print("\n".join(f"{number:3d}  {file}  {function}" for number, (file, function) in enumerate(stays, 1)))
    files = {file for file, _ in stays}
    print(json.dumps({"stays": len(stays), "files": len(files), "returns": len(stays) - len(files)}))


if __name__ == "__main__":
    main()
