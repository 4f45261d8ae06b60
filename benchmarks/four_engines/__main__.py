"""Compares engines on one student: agreement with full precision, speed, memory and installed size.

    python -m benchmarks.four_engines ORIGINAL MODEL TEXT --output RECORD.json

ORIGINAL is the folder of a training run, or a model file, in full precision; MODEL the same model in 8 bits with one
scale a matrix and calibrated activations, of a network that Marian has. Each engine gets the same codes, one thread and
one line at a time.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pocketmt.errors import InteropError
from pocketmt.interop.bergamot.writing import write_model as write_bergamot
from pocketmt.interop.ctranslate2.writing import write_model as write_ctranslate2
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.model_file import open_model
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.packing.model_source import AnyModel

ROOT = Path(__file__).parents[2]
BERGAMOT = ROOT / "build" / "bergamot" / "node_modules" / "@browsermt" / "bergamot-translator"
Writer = Callable[[ForeignModel, Path], tuple[str, ...]]


def main() -> None:
    """Run all engines, and write a record."""
    parser = argparse.ArgumentParser(description="One student in four engines.")
    parser.add_argument("original")
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    lines = arguments.text.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = full_precision(arguments.original, lines, folder)
        record = {"lines": len(lines), "engines": run_all(arguments.model, lines, expected, folder)}
    arguments.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    for engine, found in record["engines"].items():  # type: ignore[attr-defined]
        print(engine, json.dumps(found))


def full_precision(original: str, lines: Sequence[str], folder: Path) -> list[str]:
    """Return PocketMT's translations by the model in full precision."""
    translator = AnyModel(original).translator(folder / "original.pocketmt", 1)
    return translator.translate(lines, beam_size=1, split=False, check=False)


def run_all(model: Path, lines: Sequence[str], expected: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return what each engine did; a text says why it did not."""
    ours = folder / "pocketmt"
    ours.mkdir()
    shutil.copy(model, ours / "model.pocketmt")
    bergamot = written(model, folder / "bergamot", write_bergamot)
    ctranslate2 = written(model, folder / "ctranslate2", write_ctranslate2)
    found = {"PocketMT": measured(child("PocketMT", ours), lines, expected, installed("pocketmt"))}
    found["fxtranslate"] = run_python("fxtranslate", bergamot, folder, lines, expected)
    node = shutil.which("node")
    if isinstance(bergamot, str) or node is None or not BERGAMOT.is_dir():
        found["bergamot"] = bergamot if isinstance(bergamot, str) else "needs Node, and `make bergamot`"
    else:
        program = [node, str(Path(__file__).parent / "run_bergamot.mjs"), str(BERGAMOT), str(bergamot)]
        found["bergamot"] = measured(program, lines, expected, folder_bytes(BERGAMOT))
    found["CTranslate2"] = run_python("CTranslate2", ctranslate2, folder, lines, expected)
    return found


def run_python(
    engine: str, model: Path | str, folder: Path, lines: Sequence[str], expected: Sequence[str]
) -> dict[str, Any] | str:
    """Return what an engine of Python did, or why it did not."""
    if isinstance(model, str):
        return model
    if find_spec(engine.lower()) is None:
        return f"the package {engine.lower()} is not installed"
    return measured(child(engine, model), lines, expected, installed(engine.lower()))


def written(model: Path, folder: Path, write: Writer) -> Path | str:
    """Write a model for another engine; returns its folder, or why it cannot be written."""
    folder.mkdir()
    try:
        with open_model(model) as file:
            write(foreign_model_of(file), folder)
    except InteropError as error:
        return str(error)
    return folder


def child(engine: str, folder: Path) -> list[str]:
    """Return the command of an engine of Python."""
    return [sys.executable, "-m", "benchmarks.four_engines.run_engine", engine, str(folder)]


def measured(command: list[str], lines: Sequence[str], expected: Sequence[str], size: int) -> dict[str, Any] | str:
    """Run a command with all lines; returns its measurements, or the end of its errors."""
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        return done.stderr.strip()[-300:]
    *answers, last = (json.loads(line) for line in done.stdout.splitlines())
    texts = [answer["text"] for answer in answers]
    words = [(left.split(), right.split()) for left, right in zip(expected, texts, strict=True)]
    same = sum(a == b for left, right in words for a, b in zip(left, right, strict=False))
    return {
        "same sentences": sum(left == right for left, right in zip(expected, texts, strict=True)) / len(lines),
        "same words": same / max(1, sum(max(len(left), len(right)) for left, right in words)),
        "seconds": sum(answer["seconds"] for answer in answers),
        "load seconds": last["load"],
        "memory bytes": last["memory"],
        "installed bytes": size,
    }


def installed(package: str) -> int:
    """Return the bytes of a package, with the libraries that lie beside it."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    libraries = folder.parent / f"{package}.libs"
    return folder_bytes(folder) + (folder_bytes(libraries) if libraries.is_dir() else 0)


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


if __name__ == "__main__":
    main()
