"""The tables of papers B, Z, L, and of pruning Q and E: which recipe makes each row here, and what the paper reports.

The papers' figures are of larger models and other text: what can be compared is the order of the rows and the sign of
the differences, not the numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What every other is compared with: the uncompressed model after the same kind of updates.
CONTROL = "fp32-continued"


@dataclass(frozen=True)
class PaperRow:
    """One row of a paper's table; None: the paper does not have it."""

    label: str
    recipe: str
    bleu: float | None
    smaller: float | None = None  # times
    perplexity: float | None = None
    recurrent_bleu: float | None = None  # of an RNN, where the paper has both
    recurrent_smaller: float | None = None


# Table 2, English to German, beam 4; sizes from its MB.
_B2 = (
    PaperRow("full precision", CONTROL, 27.5, 1.0),
    PaperRow("3-bit baseline", "b-3-bit-baseline", 26.9, 10.0),
    PaperRow("2-bit baseline", "b-2-bit-baseline", 24.4, 15.0),
    PaperRow("2-bit embedding", "b-2-bit-embedding", 26.8, 1.35),
    PaperRow("2.5, FP, FP", "b-embedding-algorithm1", 27.6, 1.34),
    PaperRow("1.3, FP, FP", "b-embedding-1.3-bits", 27.0, 1.36),
    PaperRow("1.1, FP, FP", "b-embedding-1.1-bits", 26.9, 1.36),
    PaperRow("2.5, 1.8, FP", "b-two-phases", 27.0, 2.79),
    PaperRow("2.5, 1.8, 3.7", "b4-mixed-2.6-bits", 27.1, 11.8),
    PaperRow("1.3, 1.8, 3.7", "b4-mixed-2.2-bits", 25.9, 13.5),
    PaperRow("1.1, 1.8, 3.7", "b4-mixed-2.1-bits", 26.0, 13.8),
)
# Table 1; its compression counts the quantized layers alone (eq. 3).
_Z1 = (
    PaperRow("baseline", CONTROL, 28.09, 1.0),
    PaperRow("k-means, 8 bit", "z1-codebook-8bit", 27.38, 2.92),
    PaperRow("k-means, 4 bit", "z1-codebook-4bit", 27.65, 5.85),
    PaperRow("k-means, 4 bit, centroids not trained", "z1-codebook-4bit-after-training", None),
    PaperRow("k-means, 2 bit", "z1-codebook-2bit", 24.94, 11.69),
    PaperRow("k-means, 2 bit, centroids not trained", "z1-codebook-2bit-after-training", None),
    PaperRow("k-means, 1 bit", "z1-codebook-1bit", 12.07, 23.37),
    PaperRow("BS-Fixed", "z2-binary-fixed", 11.61, 23.37),
    PaperRow("BS-Flexible", "z2-binary-flexible", 12.11, 23.37),
    PaperRow("k-means, 1 bit, attention alone", "z1-codebook-attention-1bit", 24.96, 10.02),
    PaperRow("BS-Flexible, attention alone", "z2-binary-attention-flexible", 25.54, 10.02),
    PaperRow("pruned, 30% to 50%", "z3-magnitude-50-percent", 26.40, 2.0),
    PaperRow("pruned, 50% to 80%", "z3-magnitude-80-percent", 25.02, 5.0),
)
# Table 8, base, English to German, 8 bit: the paper prunes as many nodes by each method, 13.57 %.
_Q8 = (
    PaperRow("no pruning", "q-8bit", 27.60),
    PaperRow("L1 norm, fixed", "q7-nodes-weight-norm-10-percent", 23.99),
    PaperRow("x_max, fixed", "q7-nodes-largest-activation-10-percent", 27.33),
    PaperRow("x_max, adaptive", "q7-nodes-adaptive", 27.60),
)
# Table 2, 12-1.tiny, WMT20; its student has 12 encoder layers, and is trained on what a teacher wrote.
_E2 = (
    PaperRow("no pruning", CONTROL, 36.1),
    PaperRow("head-lasso pruning", "e5-head-lasso-full-precision", 34.7),
    PaperRow("head-lasso pruning, 8 bit", "e5-head-lasso-not-fine-tuned", 33.9),
    PaperRow("head-lasso pruning, 8 bit, fine-tuned", "e5-head-lasso", 34.1),
    PaperRow("rowcol-lasso pruning", "e5-rowcol-lasso-full-precision", 33.8),
    PaperRow("rowcol-lasso pruning, 8 bit", "e5-rowcol-lasso-not-fine-tuned", 32.9),
    PaperRow("rowcol-lasso pruning, 8 bit, fine-tuned", "e5-rowcol-lasso", 32.9),
)
# Table 3, the same student; sizes from its MB.
_E3 = (
    PaperRow("32 bit", CONTROL, 36.0, 1.0),
    PaperRow("4 bit", "l-log4-error-feedback", 35.0, 7.73),
)
# Transformer, English to German; biases in full precision where they are not named.
_L1 = (
    PaperRow("32-bit floats", CONTROL, 35.66, 1.0),
    PaperRow("unscaled, biases too", "l-log4-biases-unscaled-after-training", 25.20, 8.0),
    PaperRow("scale by the maximum, biases too", "l-log4-biases-maximum-after-training", 28.08, 8.0),
    PaperRow("fitted scale, biases too", "l-log4-biases-after-training", 33.33, 8.0),
    PaperRow("unscaled", "l-log4-unscaled-after-training", 34.16, 7.88),
    PaperRow("scale by the maximum", "l-log4-maximum-after-training", 34.29, 7.88),
    PaperRow("fitted scale", "l-log4-after-training", 34.31, 7.88),
    PaperRow("unscaled, biases too, retrained", "l-log4-biases-unscaled", 34.92, 8.0),
    PaperRow("scale by the maximum, biases too, retrained", "l-log4-biases-maximum", 34.81, 8.0),
    PaperRow("fitted scale, biases too, retrained", "l-log4-biases-error-feedback", 35.26, 8.0),
    PaperRow("unscaled, retrained", "l-log4-unscaled", 35.09, 7.88),
    PaperRow("scale by the maximum, retrained", "l-log4-maximum-scale", 35.25, 7.88),
    PaperRow("fitted scale, retrained and refitted at each update", "l-log4-refitted", 35.47, 7.88),
    PaperRow("fitted scale, retrained, fitted once", "l-log4-error-feedback", None),
)
_L_BASELINE = PaperRow("baseline", CONTROL, 35.66, 1.0, recurrent_bleu=34.28, recurrent_smaller=1.0)
_L2 = (
    _L_BASELINE,
    PaperRow(
        "fine-tuned, error feedback", "l-log4-error-feedback", 35.47, 7.88, recurrent_bleu=34.22, recurrent_smaller=7.90
    ),
    PaperRow(
        "fine-tuned, no error feedback",
        "l-log4-without-feedback",
        34.45,
        7.88,
        recurrent_bleu=33.32,
        recurrent_smaller=7.90,
    ),
)
_L3 = (
    _L_BASELINE,
    PaperRow("4-bit fixed point", "l-fixed-point4-error-feedback", 34.61, recurrent_bleu=34.05),
    PaperRow("4-bit log", "l-log4-error-feedback", 35.47, 7.88, recurrent_bleu=34.22, recurrent_smaller=7.90),
)
_L4 = (
    _L_BASELINE,
    PaperRow("4-bit model", "l-log4-error-feedback", 35.47, 7.88, recurrent_bleu=34.22, recurrent_smaller=7.90),
    PaperRow("+ 4-bit dot product, unscaled", "l-log4-dot-products", 35.05, recurrent_bleu=33.12),
    PaperRow("+ 4-bit dot product, scale 4", "log4-dot-products-scale-4", None),
)
_L6 = (
    PaperRow("32 bit", CONTROL, 35.66, 1.0, recurrent_bleu=34.28, recurrent_smaller=1.0),
    PaperRow("4 bit", "l-log4-error-feedback", 35.47, 7.88, recurrent_bleu=34.22, recurrent_smaller=7.90),
    PaperRow("3 bit", "l-log3-error-feedback", 34.95, 10.45, recurrent_bleu=34.11, recurrent_smaller=10.49),
    PaperRow("2 bit", "l-log2-error-feedback", 33.40, 15.50, recurrent_bleu=32.78, recurrent_smaller=15.59),
    PaperRow("1 bit", "l-log1-error-feedback", 29.43, 30.00, recurrent_bleu=31.71, recurrent_smaller=30.35),
)
PAPER_TABLES: Mapping[str, tuple[PaperRow, ...]] = {
    "b2": _B2,
    "z1": _Z1,
    "q8": _Q8,
    "e2": _E2,
    "e3": _E3,
    "l1": _L1,
    "l2": _L2,
    "l3": _L3,
    "l4": _L4,
    "l6": _L6,
}


def paper_tables(rows: Mapping[str, Mapping[str, Any]], recurrent: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Return each table in the paper's shape: ours and the paper's figures side by side.

    Args:
        rows: what was measured, by recipe.
        recurrent: they are of an RNN: the paper's figures are of its own, and tables without such are left out.

    Returns:
        By the table's name its rows, in the paper's order; those whose recipe was not measured are left out.
    """
    return {
        name: [{**rows[row.recipe], **_paper(row, table[0], recurrent)} for row in table if row.recipe in rows]
        for name, table in PAPER_TABLES.items()
        if not recurrent or any(row.recurrent_bleu is not None for row in table)
    }


def _paper(row: PaperRow, baseline: PaperRow, recurrent: bool) -> dict[str, Any]:
    bleu = row.recurrent_bleu if recurrent else row.bleu
    first = baseline.recurrent_bleu if recurrent else baseline.bleu
    return {
        "label": row.label,
        "paper_bleu": bleu,
        "paper_gain": None if bleu is None or first is None else bleu - first,
        "paper_smaller": row.recurrent_smaller if recurrent else row.smaller,
    }
