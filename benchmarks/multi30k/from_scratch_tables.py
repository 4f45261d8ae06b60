"""Tables of networks trained from random weights: the recipe of each row, and what the paper reports for it.

These are Table 5 of Prato et al. 2020 (when quantization starts) and the rows of Table 2 of Aji and Heafield 2020 that
are trained from scratch. The papers train larger networks on WMT: compare the order of the rows and the sign of the
differences, not the numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from benchmarks.multi30k.limits import limited
from benchmarks.multi30k.paper_tables import PaperRow
from benchmarks.recipe_files import find_recipe
from pocketmt.recipes.schema import Activations, Recipe, Retraining, StraightThrough

CONTROL_FROM_SCRATCH: Final = "fp32-from-scratch"
OURS_FROM_SCRATCH: Final = "prato/8bit-from-scratch"
AFTER_FROM_SCRATCH: Final = "prato/8bit-after-training-from-scratch"
CONTROL_CONTINUED: Final = "fp32-from-scratch-continued"
LOGARITHMIC_FROM_SCRATCH: Final = "aji/log4-from-scratch"
LOGARITHMIC_CONTINUED: Final = "aji/log4-from-scratch-continued"
LOGARITHMIC_FINE_TUNED: Final = "aji/log4-fine-tuned-after-scratch"
UPDATES_OF_CONTINUATION: Final = 500


@dataclass(frozen=True)
class Continuation:
    """A recipe that starts from the result of an earlier one instead of the run's weights."""

    recipe: str  # whose stages it has, with at most UPDATES_OF_CONTINUATION updates
    earlier: str
    baseline: str  # the recipe that it is compared with
    paper: str = ""


CONTINUATIONS: Final[Mapping[str, Continuation]] = {
    AFTER_FROM_SCRATCH: Continuation(
        "prato/8bit-after-training",
        CONTROL_FROM_SCRATCH,
        CONTROL_FROM_SCRATCH,
        "Prato et al. 2020, Table 5, after training",
    ),
    CONTROL_CONTINUED: Continuation("fp32-continued", CONTROL_FROM_SCRATCH, CONTROL_CONTINUED),
    LOGARITHMIC_CONTINUED: Continuation("aji/log4-error-feedback", LOGARITHMIC_FROM_SCRATCH, CONTROL_CONTINUED),
    LOGARITHMIC_FINE_TUNED: Continuation(
        "aji/log4-error-feedback",
        CONTROL_FROM_SCRATCH,
        CONTROL_CONTINUED,
        "Aji and Heafield 2020, Table 2, fine-tuned, with error feedback",
    ),
}

# English to German; the paper's delays are these shares of its 100,000 updates.
_DELAYS = {0.1: (4.99, 26.63), 0.5: (4.98, 26.84), 0.8: (5.03, 26.41)}
_PRATO_5 = (
    PaperRow("no quantization", CONTROL_FROM_SCRATCH, 26.42, perplexity=4.91),
    PaperRow("after 100 updates", OURS_FROM_SCRATCH, 26.98, perplexity=4.67),
    *(
        PaperRow(f"after {share:.0%} of the updates", f"prato/8bit-delayed-{share:.0%}", bleu, perplexity=perplexity)
        for share, (perplexity, bleu) in _DELAYS.items()
    ),
    PaperRow("after training", AFTER_FROM_SCRATCH, 25.50, perplexity=4.45),
)
# English to German.
_AJI_2 = (
    PaperRow("full precision", CONTROL_FROM_SCRATCH, 35.66, recurrent_bleu=34.28),
    PaperRow("error feedback", LOGARITHMIC_FROM_SCRATCH, 28.54, recurrent_bleu=28.45),
    PaperRow("no error feedback", "aji/log4-from-scratch-without-feedback", 0.05, recurrent_bleu=0.0),
    PaperRow("full precision, continued", CONTROL_CONTINUED, None),
    PaperRow("error feedback, continued", LOGARITHMIC_CONTINUED, None),
    PaperRow(
        "full precision, then fine-tuned with error feedback", LOGARITHMIC_FINE_TUNED, 35.47, recurrent_bleu=34.22
    ),
)
FROM_SCRATCH_ROWS: Final[Mapping[str, tuple[PaperRow, ...]]] = {"prato-table-5": _PRATO_5, "aji-table-2": _AJI_2}


def find_from_scratch_recipe(name: str, most: int | None = None) -> Recipe | None:
    """Return a recipe that this module builds, with at most `most` updates a stage; None for other names."""
    delays = {f"prato/8bit-delayed-{share:.0%}": share for share in _DELAYS}
    if name in delays:
        return _delayed(name, delays[name], limited(find_recipe(OURS_FROM_SCRATCH), most))
    if name in CONTINUATIONS:
        continuation = CONTINUATIONS[name]
        recipe = limited(
            find_recipe(continuation.recipe), min(most or UPDATES_OF_CONTINUATION, UPDATES_OF_CONTINUATION)
        )
        return msgspec.structs.replace(recipe, name=name, paper=continuation.paper)
    return None


def start_from_scratch(recipe: Recipe, name: str) -> Recipe:
    """Return a recipe that quantizes activations, trained from random weights as prato/8bit-from-scratch is."""
    (stage,) = recipe.stages
    (ours,) = find_recipe(OURS_FROM_SCRATCH).stages
    assert isinstance(stage.activations, Activations) and isinstance(ours.activations, Activations)
    assert isinstance(stage.retraining, Retraining) and isinstance(ours.retraining, Retraining)
    activations = msgspec.structs.replace(stage.activations, delay=ours.activations.delay)
    settings = {key: getattr(ours.retraining, key) for key in ("updates", "learning_rate", "validate_every")}
    retraining = msgspec.structs.replace(stage.retraining, **settings)
    return msgspec.structs.replace(
        recipe,
        stages=[msgspec.structs.replace(stage, activations=activations, retraining=retraining)],
        name=name,
        start="random",
    )


def _delayed(name: str, share: float, recipe: Recipe) -> Recipe:
    (stage,) = recipe.stages
    assert isinstance(stage.retraining, StraightThrough)
    activations = Activations(bits=8, delay=round(share * stage.retraining.updates))
    return msgspec.structs.replace(
        recipe,
        stages=[msgspec.structs.replace(stage, activations=activations)],
        name=name,
        paper=f"Prato et al. 2020, Table 5, quantization starts after {share:.0%} of the updates",
        description="As prato/8bit-from-scratch, with quantization delayed",
    )
