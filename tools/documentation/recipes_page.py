"""The page of built-in recipes, generated from their files."""

from typing import Final

from pocketmt.recipes.catalogue import find_recipe, recipe_names
from pocketmt.recipes.schema import Recipe, Retraining
from tools.documentation.tables import table

OPENING: Final = """# Built-in recipes

`pocketmt compress RUN NAME --output FILE` applies one of these; `pocketmt compress --list` prints them. [Compress a
model](../guides/compress.md) says which to choose, [results](../results/schemes.md) what each costs in quality. Updates
are those of retraining. Without retraining, `7bit`, `8bit` and `8bit-static` need seconds; the `-compensated` recipes
need up to a minute for small models and minutes for large ones.
"""

CLOSING: Final = """
The recipes that reproduce tables of papers are in `benchmarks/recipes`; `pocketmt compress` takes the path of one.
"""


def recipes_page() -> str:
    """Return the page in Markdown."""
    rows = []
    for name in recipe_names():
        recipe = find_recipe(name)
        rows.append((f"`{name}`", f"{recipe.description}.", str(_updates(recipe) or "none"), recipe.paper))
    return OPENING + "\n" + table(("name", "what it does", "updates", "from"), rows) + CLOSING


def _updates(recipe: Recipe) -> int:
    trained = [stage.retraining for stage in recipe.stages if isinstance(stage.retraining, Retraining)]
    return sum(retraining.updates for retraining in trained)
