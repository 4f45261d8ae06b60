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


def comparable(recipe: Recipe) -> Recipe:
    """Return the recipe with the best retrained network as its result, never the network that it starts from."""
    return change_retraining(recipe, keep_start=False)


def equal_control(recipe: Recipe, known: Iterable[Recipe] = ()) -> Recipe | None:
    """Return the recipe of the equal control; None if no stage of `recipe` retrains.

    Word-level distillation teaches a network its own probabilities on the references. The uncompressed network has them
    already and would not change, so its control learns from the references, with the dropout of the run.

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
    if retraining.objective == "word_distillation":
        settings |= {"objective": "references", "dropout_scale": 1.0}
    return FullPrecision(**settings)
