"""Tables of what is trained from random weights: the recipe of each row, and what the paper reports for it.

Paper Q's Table 5, when quantization starts, and what paper L's Table 2 does not fine-tune. The papers train larger
networks on WMT: what can be compared is the order of the rows and the sign of the differences, not the numbers.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from benchmarks.multi30k.limits import limited
from benchmarks.multi30k.paper_tables import PaperRow
from pocketmt.recipes.description.catalogue import find_recipe
from pocketmt.recipes.description.schema import Activations, Recipe, StraightThrough

CONTROL_FROM_SCRATCH: Final = "fp32-from-scratch"
OURS_FROM_SCRATCH: Final = "q-8bit-from-scratch"
AFTER_FROM_SCRATCH: Final = "q-post-training-8bit-from-scratch"
# Recipes that go on from what another makes, rather than from the run's own weights.
GOES_ON_FROM: Final[Mapping[str, str]] = {AFTER_FROM_SCRATCH: CONTROL_FROM_SCRATCH}

# English to German; the paper's delays are these shares of its 100,000 updates.
_DELAYS = {0.1: (4.99, 26.63), 0.5: (4.98, 26.84), 0.8: (5.03, 26.41)}
_Q5 = (
    PaperRow("no quantization", CONTROL_FROM_SCRATCH, 26.42, perplexity=4.91),
    PaperRow("after 100 updates", OURS_FROM_SCRATCH, 26.98, perplexity=4.67),
    *(
        PaperRow(f"after {share:.0%} of the updates", f"q-8bit-delayed-{share:.0%}", bleu, perplexity=perplexity)
        for share, (perplexity, bleu) in _DELAYS.items()
    ),
    PaperRow("after training", AFTER_FROM_SCRATCH, 25.50, perplexity=4.45),
)
# English to German.
_L2 = (
    PaperRow("full precision", CONTROL_FROM_SCRATCH, 35.66, recurrent_bleu=34.28),
    PaperRow("error feedback", "l-log4-from-scratch", 28.54, recurrent_bleu=28.45),
    PaperRow("no error feedback", "l-log4-from-scratch-without-feedback", 0.05, recurrent_bleu=0.0),
)
FROM_SCRATCH_ROWS: Final[Mapping[str, tuple[PaperRow, ...]]] = {"q5": _Q5, "l2": _L2}


def find_from_scratch_recipe(name: str, most: int | None = None) -> Recipe | None:
    """Return a recipe that these tables make, with stages of at most so many updates; None: it is none of them."""
    delays = {f"q-8bit-delayed-{share:.0%}": share for share in _DELAYS}
    if name in delays:
        return _delayed(name, delays[name], limited(find_recipe(OURS_FROM_SCRATCH), most))
    if name in GOES_ON_FROM:
        recipe = limited(find_recipe("q-post-training-8bit"), most)
        return msgspec.structs.replace(recipe, name=name, paper="Q5: Table 5, after training")
    return None


def _delayed(name: str, share: float, recipe: Recipe) -> Recipe:
    (stage,) = recipe.stages
    assert isinstance(stage.retraining, StraightThrough)
    activations = Activations(bits=8, delay=round(share * stage.retraining.updates))
    return msgspec.structs.replace(
        recipe,
        stages=[msgspec.structs.replace(stage, activations=activations)],
        name=name,
        paper=f"Q5: Table 5, quantization starts after {share:.0%} of the updates",
        description="As q-8bit-from-scratch, with quantization delayed",
    )
