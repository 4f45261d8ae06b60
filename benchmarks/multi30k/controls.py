"""Equal controls: the uncompressed model, trained for exactly the updates of a recipe, at its rates, on its text.

Without them a row that was retrained would be compared with a model that saw less text, or other rates.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec

from pocketmt.recipes.schema import FullPrecision, Recipe, Retraining, Stage, change_retraining

_SETTINGS: Final = FullPrecision.__struct_fields__
PREFIX: Final = "control/"
# The objective with the same text that does not need the uncompressed network's probabilities.
_WITHOUT_PROBABILITIES: Final = {
    "word_distillation": "references",
    "word_and_sequence_distillation": "sequence_distillation",
}


def comparable(recipe: Recipe) -> Recipe:
    """Return the recipe with the best retrained network as its result, even if it is worse than the one before.

    Where retraining diverges before its first validation, the network before is the result, and the best update is 0.
    """
    return change_retraining(recipe, keep_start=False)


def equal_control(recipe: Recipe, known: Iterable[Recipe] = ()) -> Recipe | None:
    """Return the recipe of the equal control; None if no stage of `recipe` retrains.

    Word-level distillation teaches a network the uncompressed one's probabilities on the references or translations.
    The uncompressed network has them already and would not change, so its control learns from the references or
    translations themselves, with the dropout of the run.

    Recipes with the same retraining have the same control: one of `known` if it does the same, the recipe itself not
    excluded, or a new one, whose name has a digest of its stages.
    """
    trained = [stage.retraining for stage in recipe.stages if isinstance(stage.retraining, Retraining)]
    if not trained:
        return None
    stages = [Stage(retraining=_in_full_precision(retraining)) for retraining in trained]
    for each in known:
        if (each.stages, each.start, each.seed) == (stages, recipe.start, recipe.seed):
            return each
    digest = hashlib.sha256(msgspec.json.encode([stages, recipe.start, recipe.seed])).hexdigest()[:8]
    updates = "+".join(str(retraining.updates) for retraining in trained)
    return Recipe(
        name=f"{PREFIX}{updates}-{digest}",
        description=f"The uncompressed model after {updates} updates, as the recipes that it is compared with",
        stages=stages,
        seed=recipe.seed,
        start=recipe.start,
    )


def _in_full_precision(retraining: Retraining) -> FullPrecision:
    settings = {name: getattr(retraining, name) for name in _SETTINGS}
    if (objective := _WITHOUT_PROBABILITIES.get(retraining.objective)) is not None:
        settings |= {"objective": objective, "dropout_scale": 1.0}
    return FullPrecision(**settings)
