"""Tables 2 to 4 of Prato et al. 2020, 3 and 4 of Aji and Heafield 2020: the recipes of the rows, the papers' figures.

Table 3 quantizes one operation at a time; its recipes are built from others. The paper trains `base` for 100,000
updates on WMT14, and Tables 3 and 4 are of English to French: compare the order of the rows and the sign of the
differences, not the numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from benchmarks.multi30k.from_scratch_tables import (
    CONTROL_FROM_SCRATCH,
    FROM_SCRATCH_ROWS,
    OURS_FROM_SCRATCH,
    find_from_scratch_recipe,
    start_from_scratch,
)
from benchmarks.multi30k.limits import limited
from benchmarks.multi30k.paper_tables import CONTROL, PaperRow
from benchmarks.recipe_files import find_recipe
from pocketmt.recipes.activations import STRATEGY
from pocketmt.recipes.schema import Activations, Recipe

Figures = tuple[float, float]  # the paper's perplexity and BLEU


@dataclass(frozen=True)
class SingleOperation:
    """One row of Table 3: an operation that alone is quantized, to 8 bits, with one range and with buckets."""

    module: str
    operation: str
    name: str  # of the operation in a recipe
    modules: tuple[str, ...]
    paper: Figures
    paper_buckets: Figures | None  # None: buckets are not possible

    def recipe(self, buckets: bool) -> str:
        """Return the name of the recipe."""
        module = self.module.lower().replace(" ", "-")
        return f"prato/alone-{module}-{self.name.replace('_', '-')}" + ("-buckets" if buckets else "")

    def recipes(self) -> list[str]:
        """Return the names of both recipes, or of the one that is possible."""
        return [self.recipe(buckets) for buckets in (False, True) if not buckets or self.paper_buckets is not None]


# English to German.
_PRATO_2 = (
    PaperRow("32 bit", CONTROL, 26.42, perplexity=4.91),
    PaperRow("default approach, 8 bit", "prato/8bit-naive", 0.21, perplexity=74.04),
    PaperRow("after training, 8 bit", "prato/8bit-after-training", 26.44, perplexity=4.97),
    PaperRow("the method, 8 bit", "prato/8bit", 26.98, perplexity=4.67),
    PaperRow("after training, 6 bit", "prato/6bit-after-training", 24.84, perplexity=6.00),
    PaperRow("the method, 6 bit", "prato/6bit", 26.98, perplexity=5.09),
    PaperRow("the method, 4 bit", "prato/4bit", 18.32, perplexity=11.96),
)
_ATTENTION = ("*attention_norm.*",)
_FEED_FORWARD = ("*[dr][_.]norm.*",)  # feed_forward_norm, and the final encoder.norm and decoder.norm
_ANYWHERE = ("*",)
_PRATO_3 = (
    SingleOperation("Encoder", "input", "embedding_sum", ("encoder.*",), (3.20, 38.61), (3.20, 39.08)),
    SingleOperation("Decoder", "input", "embedding_sum", ("decoder.*",), (3.20, 39.35), (3.20, 39.36)),
    SingleOperation("Attention", "queries, keys, values", "query_key_value", _ANYWHERE, (3.21, 39.06), (3.21, 39.29)),
    SingleOperation("Attention", "LayerNorm output", "layer_norm_output", _ATTENTION, (3.21, 39.09), (3.20, 38.78)),
    SingleOperation("Attention", "softmax numerator", "softmax_numerator", _ANYWHERE, (3.20, 39.32), (3.21, 39.01)),
    SingleOperation("Attention", "softmax denominator", "softmax_denominator", _ANYWHERE, (3.21, 39.35), (3.21, 39.11)),
    SingleOperation("Attention", "softmax output", "softmax_output", _ANYWHERE, (3.22, 39.41), (3.22, 38.87)),
    SingleOperation("Attention", "output", "attention_output", _ANYWHERE, (3.21, 38.73), (3.21, 39.02)),
    SingleOperation("Feed-forward", "ReLU output", "relu_output", _ANYWHERE, (3.21, 39.43), (3.22, 38.93)),
    SingleOperation("Feed-forward", "output", "feed_forward_output", _ANYWHERE, (3.54, 38.03), (3.20, 39.27)),
    SingleOperation(
        "Feed-forward", "LayerNorm output", "layer_norm_output", _FEED_FORWARD, (3.21, 38.67), (3.21, 39.04)
    ),
    SingleOperation("LayerNorm", "numerator", "layer_norm_numerator", _ANYWHERE, (3.53, 37.75), (3.21, 38.86)),
    SingleOperation("LayerNorm", "denominator", "layer_norm_denominator", _ANYWHERE, (1748, 0), None),
    SingleOperation("LayerNorm", "quotient", "layer_norm_quotient", _ANYWHERE, (3.22, 38.97), (3.21, 39.02)),
)
_PRATO_4 = (
    PaperRow("32 bit", CONTROL, 38.36, perplexity=3.23),
    PaperRow("the method, 8 bit", "prato/8bit", 38.55, perplexity=3.23),
    PaperRow("no buckets", "prato/8bit-without-buckets", 36.49, perplexity=3.58),
    PaperRow("no gradient clipping", "prato/8bit-without-gradient-clipping", 0, perplexity=2549.30),
    PaperRow("LayerNorm denominator in full precision", "prato/8bit-without-denominator", 37.97, perplexity=3.20),
    PaperRow("weights alone", "prato/8bit-weights-only", 37.94, perplexity=3.19),
)
_FROM_SCRATCH: Final = "-from-scratch"  # Ends the names of recipes that are built by `start_from_scratch`.
# What the paper finds to fail. It trains from random weights; the tables above start from trained networks. The paper's
# figures are of English to French.
_PRATO_FAILURES = (
    PaperRow("32 bit", CONTROL_FROM_SCRATCH, 38.36, perplexity=3.23),
    PaperRow("the method", OURS_FROM_SCRATCH, 38.55, perplexity=3.23),
    *(
        PaperRow(label, name + _FROM_SCRATCH, bleu, perplexity=perplexity)
        for label, name, perplexity, bleu in (
            ("default approach", "prato/8bit-naive", None, 0),
            ("no gradient clipping", "prato/8bit-without-gradient-clipping", 2549.30, 0),
            ("no buckets", "prato/8bit-without-buckets", 3.58, 36.49),
            ("LayerNorm denominator alone", "prato/alone-layernorm-layer-norm-denominator", 1748, 0),
            ("LayerNorm numerator alone", "prato/alone-layernorm-layer-norm-numerator", 3.53, 37.75),
            ("the same with buckets", "prato/alone-layernorm-layer-norm-numerator-buckets", 3.21, 38.86),
        )
    ),
)
# English to German. Sizes count parameters alone, as the paper's do.
_AJI_3 = (
    PaperRow("4-bit fixed point", "aji/fixed-point4-error-feedback", 34.61, smaller=7.88),
    PaperRow("4-bit log", "aji/log4-error-feedback", 35.47, smaller=7.88),
)
# English to German. Attention's own products are quantized, too, as in the paper; a model file cannot hold that.
_AJI_4 = (
    PaperRow("4-bit model", "aji/log4-error-feedback", 35.47),
    PaperRow("+ 4-bit dot product, unscaled", "aji/log4-every-dot-product", 35.05),
    PaperRow("+ 4-bit dot product, scale 4", "aji/log4-every-dot-product-scale-4", None),
)
PAPER_ROWS: Final[Mapping[str, tuple[PaperRow, ...]]] = {
    "prato-table-2": _PRATO_2,
    "prato-table-4": _PRATO_4,
    "prato-failures-from-scratch": _PRATO_FAILURES,
    "aji-table-3": _AJI_3,
    "aji-table-4": _AJI_4,
    **FROM_SCRATCH_ROWS,
}
TABLES: Final = (
    *("prato-table-2", "prato-table-3", "prato-table-4", "prato-failures-from-scratch", "aji-table-3", "aji-table-4"),
    *FROM_SCRATCH_ROWS,
)


def table_recipes(table: str) -> list[str]:
    """Return the names of a table's recipes, each after those that it starts from or is compared with."""
    if table == "prato-table-3":
        return [CONTROL, *(name for row in _PRATO_3 for name in row.recipes())]
    return [row.recipe for row in PAPER_ROWS[table]]


def find_table_recipe(name: str, most: int | None = None) -> Recipe:
    """Return a recipe of the tables, read from a file or built from others, with at most `most` updates a stage."""
    return find_from_scratch_recipe(name, most) or limited(_find(name), most)


def _find(name: str) -> Recipe:
    if name in {row.recipe for row in _PRATO_FAILURES} - {CONTROL_FROM_SCRATCH, OURS_FROM_SCRATCH}:
        return start_from_scratch(_find(name.removesuffix(_FROM_SCRATCH)), name)
    alone = {row.recipe(buckets): (row, buckets) for row in _PRATO_3 for buckets in (False, True)}
    if name in alone:
        return _alone(name, *alone[name])
    if name == "prato/8bit-without-denominator":
        operations = [operation for operation in STRATEGY if operation != "layer_norm_denominator"]
        recipe = _with_activations(find_recipe("prato/8bit"), Activations(bits=8, operations=operations))
        return msgspec.structs.replace(
            recipe,
            name=name,
            paper="Prato et al. 2020, Table 4, no LayerNorm denominator quantization",
            description="As prato/8bit, with the denominator of LayerNorm in full precision",
        )
    return find_recipe(name)


def _alone(name: str, row: SingleOperation, buckets: bool) -> Recipe:
    """Return the control with one operation quantized; weights and all other operations stay in full precision."""
    activations = Activations(
        bits=8, operations=[row.name], bucketed=[row.name] if buckets else False, modules=list(row.modules)
    )
    return msgspec.structs.replace(
        _with_activations(find_recipe(CONTROL), activations),
        name=name,
        paper=f"Prato et al. 2020, Table 3, {row.module}, {row.operation}",
        description=f"8 bits in one operation only, {'with' if buckets else 'without'} buckets",
    )


def _with_activations(recipe: Recipe, activations: Activations) -> Recipe:
    (stage,) = recipe.stages
    return msgspec.structs.replace(recipe, stages=[msgspec.structs.replace(stage, activations=activations)])


def tables(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return each table in the paper's layout, our figures and the paper's, without rows that were not measured.

    Args:
        rows: recipe -> its measurement.

    Returns:
        Table -> its rows; a row of Table 3 has its two measurements under "one_range" and "buckets".
    """
    found: dict[str, list[dict[str, Any]]] = {
        name: [
            {
                "label": row.label,
                **rows[row.recipe],
                "paper_perplexity": row.perplexity,
                "paper_bleu": row.bleu,
                "paper_smaller": row.smaller,
                "paper_recurrent_bleu": row.recurrent_bleu,
            }
            for row in table
            if row.recipe in rows
        ]
        for name, table in PAPER_ROWS.items()
    }
    found["prato-table-3"] = [
        {
            "module": row.module,
            "operation": row.operation,
            "one_range": {**rows[row.recipe(False)], **_figures(row.paper)},
            "buckets": {**_measured(rows, row, rows[row.recipe(False)]), **_figures(row.paper_buckets)},
        }
        for row in _PRATO_3
        if row.recipe(False) in rows
    ]
    return found


def _measured(rows: Mapping[str, Mapping[str, Any]], row: SingleOperation, like: Mapping[str, Any]) -> dict[str, Any]:
    """Return the measurement with buckets; if there is none, `like` with None for every figure."""
    if row.recipe(True) in rows:
        return dict(rows[row.recipe(True)])
    return {key: _emptied(value) for key, value in like.items()}


def _emptied(value: Any) -> Any:
    return {key: _emptied(inner) for key, inner in value.items()} if isinstance(value, Mapping) else None


def _figures(paper: Figures | None) -> dict[str, float | None]:
    return {"paper_perplexity": paper[0] if paper else None, "paper_bleu": paper[1] if paper else None}
