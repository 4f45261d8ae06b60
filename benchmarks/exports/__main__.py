"""Translates the test texts with exported models in the runtimes of other toolkits, and compares quality with ours.

    python -m benchmarks.exports --transformer RUN --student RUN

The Transformer (of benchmarks/interop.toml) goes to transformers and CTranslate2, the student (of
benchmarks/four_engines/student.toml) to Marian, bergamot and fxtranslate. Runtimes in 8 bits that need calibrated
activations (bergamot's) get the student compressed by benchmarks/four_engines/8bit-matrix.toml. A runtime that is not
installed has a reason in its row. Writes benchmarks/records/exports.json.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT, corpus
from benchmarks.exports.runtimes import STUDENT, TRANSFORMER, Runtime
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import provenance
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS
from pocketmt.model_file import open_model
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.packing.run import pack_run

RECORD: Final = ROOT / "benchmarks" / "records" / "exports.json"
RECIPE: Final = ROOT / "benchmarks" / "four_engines" / "8bit-matrix.toml"
TESTS: Final = ("test_2016_flickr", "test_2017_flickr")


def main(arguments: Sequence[str]) -> int:
    """Compare, and write the record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transformer", type=Path, required=True, help="run of benchmarks/interop.toml")
    parser.add_argument("--student", type=Path, required=True, help="run of benchmarks/four_engines/student.toml")
    parser.add_argument("--lines", type=int, help="of each test text (default: all)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance(seed=None)
    with tempfile.TemporaryDirectory() as name:
        rows = [
            row
            for role, folder, runtimes in (
                ("transformer", options.transformer, TRANSFORMER),
                ("student", options.student, STUDENT),
            )
            for row in _Exported(role, folder, Path(name) / role, options.lines).rows(runtimes)
        ]
    write_record({"rows": rows, "provenance": origin}, options.output)
    return 0


class _Exported:
    """A trained model, exported to each format once."""

    def __init__(self, role: str, folder: Path, workplace: Path, count: int | None) -> None:
        self._role, self._run, self._workplace = role, folder, workplace
        workplace.mkdir()
        pack_run(folder, "float32", workplace / "float32.pocketmt")
        self._translator = Translator(workplace / "float32.pocketmt", workers=1)
        data = corpus("multi30k")
        self._texts = {
            test: tuple(
                (data / f"{test}.{side}").read_text(encoding="utf-8").splitlines()[:count] for side in ("en", "de")
            )
            for test in TESTS
        }

    def rows(self, runtimes: Sequence[Runtime]) -> Iterator[dict[str, Any]]:
        """Yield a row for each runtime, beam size and test text."""
        ours: dict[tuple[str, int], list[str]] = {}
        for runtime in runtimes:
            folder = self._folder(runtime)
            for beam_size in runtime.beam_sizes:
                for test, (sources, references) in self._texts.items():
                    if (test, beam_size) not in ours:
                        ours[test, beam_size] = self._translator.translate(
                            sources, beam_size=beam_size, split=False, check=False
                        )
                    row = {
                        "model": self._role,
                        "runtime": runtime.name,
                        "format": runtime.format,
                        "precision": runtime.precision,
                        "beam_size": beam_size,
                        "test": test,
                        "lines": len(sources),
                    }
                    try:
                        theirs = runtime.translate(folder, sources, beam_size)
                    except (ConfigurationError, ModuleNotFoundError) as error:
                        row |= {"reason": str(error)}
                    else:
                        row |= _compare(ours[test, beam_size], theirs, references)
                    print(row, flush=True)
                    yield row

    def _folder(self, runtime: Runtime) -> Path:
        folder = self._workplace / runtime.format
        if not folder.exists():
            with open_model(self._file(runtime)) as file:
                write_folder(foreign_model_of(file), FORMATS[runtime.format], folder)
        return folder

    def _file(self, runtime: Runtime) -> Path:
        """Return the file that is exported: full precision, or codes where the format has nothing else."""
        if runtime.format != "bergamot":
            return self._workplace / "float32.pocketmt"
        path = self._workplace / "8bit-matrix.pocketmt"
        if not path.exists():
            command = [
                str(Path(sys.executable).with_name("pocketmt")),
                "compress",
                str(self._run),
                str(RECIPE),
                "-o",
                str(path),
            ]
            subprocess.run(command, check=True)
        return path


def _compare(ours: Sequence[str], theirs: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    left, right = score(ours, references), score(theirs, references)
    return {
        "same_lines": sum(a == b for a, b in zip(ours, theirs, strict=True)),
        "bleu_pocketmt": left.bleu.value,
        "bleu": right.bleu.value,
        "chrf_pocketmt": left.chrf.value,
        "chrf": right.chrf.value,
        "bleu_signature": right.bleu.signature,
        "chrf_signature": right.chrf.signature,
    }


if __name__ == "__main__":
    sys.exit(run(main))
