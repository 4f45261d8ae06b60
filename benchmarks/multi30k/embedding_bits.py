"""Figure 3 of Chung et al. 2020 on Multi30k: the embedding alone in binary codes, without retraining, BLEU on `val`.

    python -m benchmarks.multi30k.embedding_bits build/multi30k/captions

Bits are even, or by word frequency with b = 4 and several r (Algorithm 1). Writes
benchmarks/records/multi30k/embedding-bits.json, with a row for each setting, fewest bits first.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.data import VALIDATION, lines
from benchmarks.multi30k.quality import BEAM, score_entry
from benchmarks.record_files import write_record
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import open_model
from pocketmt.model_file.report import inspect_model
from pocketmt.recipes.schema import Quantize, Recipe, Stage
from pocketmt.training.trained_model import read_trained_model

CLUSTERS: Final = 4  # b, which the paper uses everywhere
RATIOS: Final = (1, 2, 4, 8)
COLUMNS: Final = ("bits:.2f", "setting", "val.bleu:.2f=val BLEU", "perplexity:.2f=val perplexity")


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a folder written by `pocketmt train`")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "benchmarks" / "records" / "multi30k" / "embedding-bits.json"
    )
    options = parser.parse_args(arguments)
    origin = provenance()
    settings: list[tuple[str, int, int | None]] = [(f"r = {ratio}", CLUSTERS, ratio) for ratio in RATIOS]
    settings += [(f"even {bits} bits", bits, None) for bits in range(1, CLUSTERS + 1)]
    with tempfile.TemporaryDirectory() as temporary:
        rows = [_row(options.run, Path(temporary), *setting) for setting in settings]
    rows.sort(key=lambda row: row["bits"])
    write_record({"rows": rows, "model": read_trained_model(options.run).digest, "provenance": origin}, options.output)
    print(plain_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def embedding_recipe(setting: str, bits: int, ratio: int | None) -> Recipe:
    """Return the recipe that quantizes the embedding alone, by greedy codes as in the paper."""
    entry = Quantize(
        matrices=["embedding"], scheme="binary", bits=bits, options={"method": "greedy"}, frequency_ratio=ratio
    )
    return Recipe(name=setting, stages=[Stage(quantize=[entry])])


def _row(run: Path, folder: Path, setting: str, bits: int, ratio: int | None) -> dict[str, Any]:
    path = folder / "model.pocketmt"
    compress_run(CompressionTask(run=run, folder=folder / setting), embedding_recipe(setting, bits, ratio), path)
    (matrix,) = (each for each in inspect_model(path).matrices if each.name == "embedding.weight")
    outputs = Translator(path).translate(lines(VALIDATION, "en"), beam_size=BEAM, split=False, check=False)
    with open_model(path) as file:
        loss: Any = file.manifest["training"]
    return {
        "setting": setting,
        "bits": matrix.code_bits,
        "bits_with_factors": matrix.bits,
        "perplexity": math.exp(loss["compression"]["loss"]),
        VALIDATION: score_entry(score(outputs, lines(VALIDATION, "de"))),
    }


if __name__ == "__main__":
    sys.exit(run(main))
