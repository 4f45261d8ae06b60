"""Table 1 of Chung et al. 2020 on Multi30k: each part of a model at 4, 3, 2 and 1 bits, without retraining, on `val`.

    python -m benchmarks.multi30k.sensitivity build/multi30k/seed2

Writes benchmarks/records/multi30k/sensitivity.json, with a row for each part and the paper's BLEU.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.record_files import write_record
from pocketmt.compression.choosing.sensitivity import Sensitivity, measure_sensitivity
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.sensitivity import sensitivity_table
from pocketmt.training.trained_model import read_trained_model

# English to German, `base`, newstest2013, greedy; BLEU at 4, 3, 2 and 1 bits. In full precision: 25.4.
PAPER: Mapping[str, tuple[float, float, float, float]] = {
    "embedding": (22.9, 22.4, 19.0, 1.0),
    "encoder": (24.6, 24.0, 20.6, 1.3),
    "encoder.self_attention": (25.3, 24.8, 23.7, 13.6),
    "encoder.feed_forward": (24.9, 24.8, 23.1, 4.3),
    "decoder": (24.7, 23.6, 11.1, 0.1),
    "decoder.self_attention": (25.2, 25.1, 24.8, 17.8),
    "decoder.cross_attention": (25.1, 24.7, 20.6, 2.0),
    "decoder.feed_forward": (25.0, 24.9, 24.4, 17.6),
}
PAPER_WHOLE = 25.4


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a folder written by `pocketmt train`")
    parser.add_argument("--sentences", type=int, help="number of lines of `val` (default: all)")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "benchmarks" / "records" / "multi30k" / "sensitivity.json",
        help="the record",
    )
    options = parser.parse_args(arguments)
    origin = provenance()
    model = read_trained_model(options.run)
    found = measure_sensitivity(model, "binary", {"method": "greedy"}, sentences=options.sentences)
    record = {"rows": table(found), "whole": {"bleu": found.bleu, "loss": found.loss}, "model": model.digest}
    write_record({**record, "provenance": origin}, options.output)
    print(sensitivity_table(found))
    return 0


def table(found: Sensitivity) -> list[dict[str, Any]]:
    """Return a row for each part: BLEU and loss at each bit width, the average change in BLEU, the paper's figures."""
    rows = []
    for part, paper in PAPER.items():
        scores = {score.bits: score for score in found.scores if score.part == part}
        row: dict[str, Any] = {"part": part, "weights": scores[4].weights}
        for bits, paper_bleu in zip((4, 3, 2, 1), paper, strict=True):
            row[f"bleu{bits}"], row[f"loss{bits}"] = scores[bits].bleu, scores[bits].loss
            row[f"paper{bits}"] = paper_bleu
        row["degradation"] = found.degradation(part)
        row["paper_degradation"] = sum(paper) / len(paper) - PAPER_WHOLE
        rows.append(row)
    return rows


if __name__ == "__main__":
    sys.exit(run(main))
