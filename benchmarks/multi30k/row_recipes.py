"""The recipes of the papers' rows: those of the library, and contrasts that only a paper's table has."""

from pathlib import Path
from typing import Final

from pocketmt.recipes.description.catalogue import find_recipe
from pocketmt.recipes.description.schema import Recipe, read_recipe

CONTRASTS: Final = Path(__file__).with_name("recipes")


def find_row_recipe(name: str) -> Recipe:
    """Return the recipe of a row; ConfigurationError where there is none of this name."""
    contrast = CONTRASTS / f"{name}.toml"
    return read_recipe(contrast) if contrast.exists() else find_recipe(name)
