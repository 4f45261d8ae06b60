"""Quality of 7 bits (the recipe 7bit) compared with 8 bits, on the models of the repository.

    python -m benchmarks.seven_bits

The models are files of 8 bits, whose weights 7 bits round a second time. Beam 4; the p-values are of a paired
bootstrap. Writes benchmarks/records/seven-bits.json. Some five minutes.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT, corpus
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.engine import Translator
from pocketmt.engine.bundled import bundled_models
from pocketmt.evaluation.quality import compare
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column
from pocketmt.recipes.catalogue import find_recipe

RECORD: Final = ROOT / "benchmarks" / "records" / "seven-bits.json"
BEAM_SIZE: Final = 4
COLUMNS: Final = (
    "model",
    "text",
    "lines:,",
    "BLEU_baseline:.2f=BLEU, 8 bits",
    "BLEU:.2f=BLEU, 7 bits",
    "BLEU_gain:+.2f=gain",
    "BLEU_p:.3f=p",
    "chrF_baseline:.2f=chrF, 8 bits",
    "chrF:.2f=chrF, 7 bits",
    "chrF_gain:+.2f=gain ",
    "chrF_p:.3f=p ",
)


@dataclass(frozen=True)
class Text:
    """A test text: the names of its source and of its references."""

    name: str
    source: str
    references: tuple[str, ...]


CAPTIONS: Final = tuple(
    Text(name, f"multi30k/{name}.en", (f"multi30k/{name}.de",)) for name in ("test_2016_flickr", "test_2017_flickr")
)
EVERYDAY: Final = (Text("Tatoeba", "tatoeba/test.en", tuple(f"tatoeba/test.de{number}" for number in range(4))),)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, help="the first lines of each text alone (default: all)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance(seed=None)
    models = (
        ("captions-en-de-8bit", bundled_models()["captions-en-de-8bit"], CAPTIONS),
        ("examples/demo/teacher", ROOT / "examples" / "demo" / "teacher.pocketmt", EVERYDAY),
    )
    rows = [row for name, model, texts in models for row in measured(name, model, texts, options.lines)]
    write_record({"rows": rows, "beam_size": BEAM_SIZE, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def measured(name: str, model: Path, texts: Sequence[Text], lines: int | None) -> list[dict[str, Any]]:
    """Return a row for each text."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.pocketmt"
        compress_run(CompressionTask(run=model, folder=Path(folder) / "work"), find_recipe("7bit"), small)
        translators = [Translator(each) for each in (model, small)]
        return [{"model": name, **_scores(translators, text, lines)} for text in texts]


def _scores(translators: Sequence[Translator], text: Text, lines: int | None) -> dict[str, Any]:
    source, *references = (_read(name)[:lines] for name in (text.source, *text.references))
    baseline, system = (each.translate(source, beam_size=BEAM_SIZE, split=False, check=False) for each in translators)
    found: dict[str, Any] = {"text": text.name, "lines": len(source)}
    for each in compare(baseline, system, *references):
        found |= {f"{each.name}_baseline": each.baseline, each.name: each.system}
        found |= {f"{each.name}_gain": each.gain, f"{each.name}_p": each.p_value}
        found[f"{each.name}_signature"] = each.signature
    return found | {"same_lines": sum(left == right for left, right in zip(baseline, system, strict=True))}


def _read(name: str) -> list[str]:
    folder, _, file = name.partition("/")
    return (corpus(folder) / file).read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    sys.exit(run(main))
