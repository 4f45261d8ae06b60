"""Sensitivity of layers to quantization, as a table in the layout of Chung et al. 2020, Table 1, and as a figure."""

from pathlib import Path
from typing import Any

from pocketmt.atomic_file import atomic_write
from pocketmt.compression.choosing.sensitivity import Sensitivity
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file.report import bleu_title


def sensitivity_table(sensitivity: Sensitivity) -> str:
    """Return BLEU and the validation loss of each part at each number of bits, and the average loss of BLEU."""
    widths = sorted({score.bits for score in sensitivity.scores}, reverse=True)
    rows: list[dict[str, Any]] = []
    for part in dict.fromkeys(score.part for score in sensitivity.scores):
        scores = {score.bits: score for score in sensitivity.scores if score.part == part}
        row: dict[str, Any] = {"part": part, "weights": scores[widths[0]].weights}
        for bits in widths:
            row |= {f"bleu{bits}": scores[bits].bleu, f"loss{bits}": scores[bits].loss}
        rows.append(row | {"degradation": sensitivity.degradation(part)})
    rate = sensitivity.options.get("rate")
    named = {bits: f"{bits} bit" if rate is None else f"rate {rate} of {bits} bit" for bits in widths}
    columns = [
        *map(Column.parse, ("part", "weights")),
        *(Column(f"bleu{bits}", f"BLEU, {named[bits]}", ".1f") for bits in widths),
        Column("degradation", "average", "+.1f"),
        *(Column(f"loss{bits}", f"loss, {named[bits]}", ".3f") for bits in widths),
    ]
    bleu = f"{bleu_title(sensitivity.bleu_tokenization)} {sensitivity.bleu:.1f}"
    whole = f"in full precision: {bleu}, loss {sensitivity.loss:.3f} nats a token"
    return f"{plain_table(rows, columns)}\n{whole}; {sensitivity.sentences:,} sentences, scheme {sensitivity.scheme}"


def draw_sensitivity(sensitivity: Sensitivity, path: Path) -> None:
    """Draw BLEU over bits, one line for each part, into a file; its suffix gives the format (.png, .svg, .pdf)."""
    from matplotlib.figure import Figure  # takes a second to import

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for index, part in enumerate(dict.fromkeys(score.part for score in sensitivity.scores)):
        scores = sorted((score.bits, score.bleu) for score in sensitivity.scores if score.part == part)
        style = "-" if "." in part or part == "embedding" else "--"
        axes.plot(*zip(*scores, strict=True), style, marker="o", color=f"C{index}", label=part)
    axes.axhline(sensitivity.bleu, color="black", linewidth=0.8, linestyle=":", label="full precision")
    axes.set_xticks(sorted({score.bits for score in sensitivity.scores}))
    axes.set_xlabel("bits of a weight of this part")
    axes.set_ylabel(f"validation {bleu_title(sensitivity.bleu_tokenization)}, greedy search")
    figure.legend(frameon=False, fontsize="small", loc="outside right upper")  # where no line is
    with atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix.removeprefix("."))
