"""Tables of the papers: which recipe reproduces each row, and what the paper reports.

They are from Chung et al. 2020, Cheong and Daniel 2019 and Aji and Heafield 2020, with the pruning tables of Prato et
al. 2020 and Behnke et al. 2021. The papers' figures are of larger models and other text: compare the order of the rows
and the sign of the differences, not the numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

UNCOMPRESSED = "float32"
# The uncompressed model after further updates: the baseline of the papers' tables.
CONTROL = "fp32-continued"


@dataclass(frozen=True)
class PaperRow:
    """One row of a paper's table; None: not in the paper."""

    label: str
    recipe: str
    bleu: float | None
    smaller: float | None = None  # how many times
    perplexity: float | None = None
    recurrent_bleu: float | None = None  # of an RNN, if the paper has both
    recurrent_smaller: float | None = None


# Table 2, English to German, beam 4; sizes from its MB.
_CHUNG_2 = (
    PaperRow("full precision", CONTROL, 27.5, 1.0),
    PaperRow("3-bit baseline", "chung/3-bit-baseline", 26.9, 10.0),
    PaperRow("2-bit baseline", "chung/2-bit-baseline", 24.4, 15.0),
    PaperRow("2-bit embedding", "chung/2-bit-embedding", 26.8, 1.35),
    PaperRow("2.5, FP, FP", "chung/embedding-2.5-bits", 27.6, 1.34),
    PaperRow("1.7, FP, FP", "chung/embedding-1.7-bits", None),  # r = 2, in Figure 3 alone
    PaperRow("1.3, FP, FP", "chung/embedding-1.3-bits", 27.0, 1.36),
    PaperRow("1.1, FP, FP", "chung/embedding-1.1-bits", 26.9, 1.36),
    PaperRow("2.5, 1.8, FP", "chung/two-phases", 27.0, 2.79),
    PaperRow("2.5, 1.8, 3.7", "chung/mixed-2.6-bits", 27.1, 11.8),
    PaperRow("2.5, 1.8, 3.7, encoder by our sensitivities", "chung/mixed-2.6-bits-own-order", None),
    PaperRow("1.3, 1.8, 3.7", "chung/mixed-2.2-bits", 25.9, 13.5),
    PaperRow("1.1, 1.8, 3.7", "chung/mixed-2.1-bits", 26.0, 13.8),
)
# Appendix A.4, periods of the 2-bit baseline; the paper says which diverge, and gives no figures but those of Table 2.
_CHUNG_A4 = (
    PaperRow("full precision", CONTROL, 27.5),
    *(PaperRow(f"every {period}", f"chung/2-bit-baseline-period-{period}", None) for period in (10, 100, 1000)),
    PaperRow("every 2000", "chung/2-bit-baseline", 24.4),
)
# Table 1; its compression counts the quantized layers alone (eq. 3).
_CHEONG_1 = (
    PaperRow("baseline", CONTROL, 28.09, 1.0),
    PaperRow("k-means, 8 bit", "cheong/codebook-8bit", 27.38, 2.92),
    PaperRow("k-means, 4 bit", "cheong/codebook-4bit", 27.65, 5.85),
    PaperRow("k-means, 4 bit, centroids not trained", "cheong/codebook-4bit-after-training", None),
    PaperRow("k-means, 2 bit", "cheong/codebook-2bit", 24.94, 11.69),
    PaperRow("k-means, 2 bit, centroids not trained", "cheong/codebook-2bit-after-training", None),
    PaperRow("k-means, 1 bit", "cheong/codebook-1bit", 12.07, 23.37),
    PaperRow("BS-Fixed", "cheong/binarization-fixed", 11.61, 23.37),
    PaperRow("BS-Flexible", "cheong/binarization-flexible", 12.11, 23.37),
    PaperRow("k-means, 1 bit, attention alone", "cheong/codebook-attention-1bit", 24.96, 10.02),
    PaperRow("BS-Flexible, attention alone", "cheong/binarization-attention-flexible", 25.54, 10.02),
    PaperRow("pruned, 30% to 50%", "cheong/magnitude-50-percent", 26.40, 2.0),
    PaperRow("pruned, 50% to 80%", "cheong/magnitude-80-percent", 25.02, 5.0),
    PaperRow("pruned, 50% to 90%", "cheong/magnitude-90-percent", 9.21, 10.0),
)
# Table 2, base, English to German: the rows that a file can hold.
_PRATO_2 = (
    PaperRow("32 bit", CONTROL, 26.42, 1.0),
    PaperRow("the method, 8 bit", "prato/8bit", 26.98, 3.95),
    PaperRow("the method, 6 bit", "prato/6bit", 26.98, 5.25),
    PaperRow("the method, 4 bit", "prato/4bit", 18.32, 7.81),
)
# Table 8, base, English to German, 8 bit: the paper prunes as many nodes by each method, 13.57 %.
_PRATO_8 = (
    PaperRow("no pruning", "prato/8bit", 27.60),
    PaperRow("L1 norm, fixed", "prato/nodes-weight-norm-10-percent", 23.99),
    PaperRow("x_max, fixed", "prato/nodes-largest-activation-10-percent", 27.33),
    PaperRow("x_max, adaptive", "8bit-pruned-nodes", 27.60),
)
# Table 2, 12-1.tiny, WMT20; its student has 12 encoder layers, and is trained on what a teacher wrote.
_BEHNKE_2 = (
    PaperRow("no pruning", CONTROL, 36.1),
    PaperRow("head-lasso pruning", "behnke/head-lasso-full-precision", 34.7),
    PaperRow("head-lasso pruning, 8 bit", "behnke/head-lasso-not-fine-tuned", 33.9),
    PaperRow("head-lasso pruning, 8 bit, fine-tuned", "8bit-pruned-heads", 34.1),
    PaperRow("rowcol-lasso pruning", "behnke/rowcol-lasso-full-precision", 33.8),
    PaperRow("rowcol-lasso pruning, 8 bit", "behnke/rowcol-lasso-not-fine-tuned", 32.9),
    PaperRow("rowcol-lasso pruning, 8 bit, fine-tuned", "behnke/rowcol-lasso", 32.9),
)
# Table 3, the same student; sizes from its MB.
_BEHNKE_3 = (
    PaperRow("32 bit", CONTROL, 36.0, 1.0),
    PaperRow("4 bit", "aji/log4-error-feedback", 35.0, 7.73),
    PaperRow("4 bit, the paper's rate and warm-up", "behnke/log4-fine-tuned", 35.0, 7.73),
)
# Transformer, English to German; biases in full precision unless named.
_AJI_1 = (
    PaperRow("32-bit floats", CONTROL, 35.66, 1.0),
    PaperRow("unscaled, biases too", "aji/log4-biases/unscaled-after-training", 25.20, 8.0),
    PaperRow("scale by the maximum, biases too", "aji/log4-biases/maximum-after-training", 28.08, 8.0),
    PaperRow("fitted scale, biases too", "aji/log4-biases/after-training", 33.33, 8.0),
    PaperRow("unscaled", "aji/log4-unscaled-after-training", 34.16, 7.88),
    PaperRow("scale by the maximum", "aji/log4-maximum-after-training", 34.29, 7.88),
    PaperRow("fitted scale", "aji/log4-after-training", 34.31, 7.88),
    PaperRow("unscaled, biases too, retrained", "aji/log4-biases/unscaled", 34.92, 8.0),
    PaperRow("scale by the maximum, biases too, retrained", "aji/log4-biases/maximum-scale", 34.81, 8.0),
    PaperRow("fitted scale, biases too, retrained", "aji/log4-biases/error-feedback", 35.26, 8.0),
    PaperRow("unscaled, retrained", "aji/log4-unscaled", 35.09, 7.88),
    PaperRow("scale by the maximum, retrained", "aji/log4-maximum-scale", 35.25, 7.88),
    PaperRow("fitted scale, retrained and refitted at each update", "aji/log4-refitted", 35.47, 7.88),
    PaperRow("fitted scale, retrained, fitted once", "aji/log4-error-feedback", None),
)
_AJI_BASELINE = PaperRow("baseline", CONTROL, 35.66, 1.0, recurrent_bleu=34.28, recurrent_smaller=1.0)
_AJI_2 = (
    _AJI_BASELINE,
    PaperRow(
        "fine-tuned, error feedback",
        "aji/log4-error-feedback",
        35.47,
        7.88,
        recurrent_bleu=34.22,
        recurrent_smaller=7.90,
    ),
    PaperRow(
        "fine-tuned, no error feedback",
        "aji/log4-without-feedback",
        34.45,
        7.88,
        recurrent_bleu=33.32,
        recurrent_smaller=7.90,
    ),
)
_AJI_3 = (
    _AJI_BASELINE,
    PaperRow("4-bit fixed point", "aji/fixed-point4-error-feedback", 34.61, recurrent_bleu=34.05),
    PaperRow("4-bit log", "aji/log4-error-feedback", 35.47, 7.88, recurrent_bleu=34.22, recurrent_smaller=7.90),
)
_AJI_4 = (
    _AJI_BASELINE,
    PaperRow("4-bit model", "aji/log4-error-feedback", 35.47, 7.88, recurrent_bleu=34.22, recurrent_smaller=7.90),
    PaperRow("+ 4-bit dot product, unscaled", "aji/log4-dot-products", 35.05, recurrent_bleu=33.12),
    PaperRow("+ 4-bit dot product, scale 4", "aji/log4-dot-products-scale-4", None),
)
_AJI_6 = (
    PaperRow("32 bit", CONTROL, 35.66, 1.0, recurrent_bleu=34.28, recurrent_smaller=1.0),
    PaperRow("4 bit", "aji/log4-error-feedback", 35.47, 7.88, recurrent_bleu=34.22, recurrent_smaller=7.90),
    PaperRow("3 bit", "aji/log3-error-feedback", 34.95, 10.45, recurrent_bleu=34.11, recurrent_smaller=10.49),
    PaperRow("2 bit", "aji/log2-error-feedback", 33.40, 15.50, recurrent_bleu=32.78, recurrent_smaller=15.59),
    PaperRow("1 bit", "aji/log1-error-feedback", 29.43, 30.00, recurrent_bleu=31.71, recurrent_smaller=30.35),
)
PAPER_TABLES: Mapping[str, tuple[PaperRow, ...]] = {
    "chung-table-2": _CHUNG_2,
    "chung-appendix-a4": _CHUNG_A4,
    "cheong-table-1": _CHEONG_1,
    "prato-table-2": _PRATO_2,
    "prato-table-8": _PRATO_8,
    "behnke-table-2": _BEHNKE_2,
    "behnke-table-3": _BEHNKE_3,
    "aji-table-1": _AJI_1,
    "aji-table-2": _AJI_2,
    "aji-table-3": _AJI_3,
    "aji-table-4": _AJI_4,
    "aji-table-6": _AJI_6,
}


def paper_tables(rows: Mapping[str, Mapping[str, Any]], recurrent: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Return each table in the paper's layout: our figures and the paper's side by side.

    Args:
        rows: recipe -> its measurement.
        recurrent: whether they are of an RNN; then the paper's figures are, too, and tables without them are left out.

    Returns:
        Table -> its rows in the paper's order, without those whose recipe was not measured. The uncompressed model is
        the baseline if it was not trained further.
    """
    if CONTROL not in rows and UNCOMPRESSED in rows:
        rows = {**rows, CONTROL: rows[UNCOMPRESSED]}
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
