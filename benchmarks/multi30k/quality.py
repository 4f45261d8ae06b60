"""Packs trained models in several schemes, and scores them on Multi30k in the engine and in the PyTorch reference.

    python -m benchmarks.multi30k.quality build/multi30k/seed1 build/multi30k/seed2

Each argument is a folder written by `pocketmt train`, to which the model files are added. Writes
benchmarks/records/multi30k/quality.json.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.data import TESTS, VALIDATION, lines
from benchmarks.multi30k.parity import agreement, by_pytorch
from benchmarks.multi30k.texts import MULTI30K, Texts
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import Quality, compare, score
from pocketmt.evaluation.records import provenance
from pocketmt.packing.reference.network import load_reference
from pocketmt.packing.run import pack_run
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.training.checkpoints import load_weights

SCHEMES = ("float32", "uniform8", "logarithmic4")
BEAM = 4


@dataclass(frozen=True)
class Translations:
    """Translations of all sets with a model file, in the engine and in PyTorch."""

    scheme: str
    file_bytes: int
    engine: dict[str, list[str]]  # beam 4
    engine_greedy: dict[str, list[str]]
    reference: dict[str, list[str]]  # in PyTorch, beam 4
    reference_greedy: dict[str, list[str]]


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="folders written by `pocketmt train`")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "records" / "multi30k" / "quality.json")
    options = parser.parse_args(arguments)
    origin = provenance()
    rows: list[dict[str, Any]] = []
    parity: list[dict[str, Any]] = []
    training: list[dict[str, Any]] = []
    for folder in options.folders:
        _, metadata = load_weights(folder / "model.safetensors")
        training.append(metadata["training"])
        seed = int(metadata["training"]["seed"])
        found = [translations(folder, scheme) for scheme in SCHEMES]
        for each in found:
            rows += quality_rows(each, found[0], seed)
            parity += parity_rows(each, seed)
    record = {"rows": rows, "parity": parity, "training": training, "provenance": origin}
    write_record(record, options.output)
    for row in rows:
        print(row)
    for row in parity:
        print(row)
    return 0


def translations(folder: Path, scheme: str) -> Translations:
    """Pack a trained model in a scheme, and translate all sets in the engine and in PyTorch."""
    path = folder / f"{scheme}.pocketmt"
    size = pack_run(folder, scheme, path, licence=MULTI30K.licence, description=MULTI30K.description)
    sources = {name: lines(name, "en") for name in (VALIDATION, *TESTS)}
    translator = Translator(path)
    model = load_reference(path)
    vocabulary = Vocabulary.from_file(folder / "vocabulary.model")

    return Translations(
        scheme=scheme,
        file_bytes=size,
        engine={
            name: translator.translate(texts, beam_size=BEAM, split=False, check=False)
            for name, texts in sources.items()
        },
        engine_greedy={
            name: translator.translate(texts, beam_size=1, split=False, check=False) for name, texts in sources.items()
        },
        reference={name: by_pytorch(model, vocabulary, texts, BEAM) for name, texts in sources.items()},
        reference_greedy={name: by_pytorch(model, vocabulary, texts, 1) for name, texts in sources.items()},
    )


def quality_rows(found: Translations, uncompressed: Translations, seed: int) -> list[dict[str, Any]]:
    """Return scores on each set, and of the pooled test sets compared with the float32 file, for both runners."""
    rows = []
    for runner, outputs, baseline in (
        ("engine", found.engine, uncompressed.engine),
        ("PyTorch", found.reference, uncompressed.reference),
    ):
        row: dict[str, Any] = {
            "seed": seed,
            "scheme": found.scheme,
            "runner": runner,
            "file_bytes": found.file_bytes,
            "times_smaller": uncompressed.file_bytes / found.file_bytes,
        }
        for name in (VALIDATION, *TESTS):
            row[name] = score_entry(score(outputs[name], lines(name, "de")))
        references = [line for name in TESTS for line in lines(name, "de")]
        pooled = [line for name in TESTS for line in outputs[name]]
        pooled_baseline = [line for name in TESTS for line in baseline[name]]
        row["tests"] = score_entry(score(pooled, references))
        if found.scheme != uncompressed.scheme:
            differences = compare(pooled_baseline, pooled, references)
            row["against_float32"] = {each.name: {"gain": each.gain, "p_value": each.p_value} for each in differences}
        else:
            row["against_float32"] = {name: {"gain": None, "p_value": None} for name in ("BLEU", "chrF")}
        rows.append(row)
    return rows


def translate_sets(path: Path, sets: Sequence[str], texts: Texts) -> dict[str, list[str]]:
    """Return the translations of some sets of a corpus by a model file, set -> lines, with beam 4."""
    translator = Translator(path)
    return {
        name: translator.translate(texts.source_lines(name), beam_size=BEAM, split=False, check=False) for name in sets
    }


def score_entry(quality: Quality) -> dict[str, Any]:
    """Return the scores of a set for the record, with their signatures."""
    return {
        "bleu": quality.bleu.value,
        "bleu_lowercased": quality.bleu_lowercased.value,
        "chrf": quality.chrf.value,
        "lines": quality.lines,
        "signatures": [quality.bleu.signature, quality.bleu_lowercased.signature, quality.chrf.signature],
    }


def parity_rows(found: Translations, seed: int) -> list[dict[str, Any]]:
    """Return the agreement of the engine with PyTorch on each test set."""
    rows = []
    for search, engine, reference in (
        ("greedy", found.engine_greedy, found.reference_greedy),
        ("beam 4", found.engine, found.reference),
    ):
        for name in TESTS:
            row = {"seed": seed, "scheme": found.scheme, "search": search, "set": name}
            rows.append({**row, **agreement(engine[name], reference[name], [lines(name, "de")])})
    return rows


if __name__ == "__main__":
    sys.exit(run(main))
