"""Recipes by name: the built-in ones and those of benchmarks/recipes, most of which reproduce a row of a paper's table.

Records keep the names that recipes had when they were measured; recipe_names.json maps them to today's.
"""

import json
from pathlib import Path
from typing import Any, Final

from benchmarks.record_files import read_record, rename
from pocketmt.recipes import catalogue
from pocketmt.recipes.schema import Recipe, read_recipe

RECIPES: Final = Path(__file__).with_name("recipes")
RENAMED: Final = Path(__file__).with_name("recipe_names.json")


def recipe_names() -> list[str]:
    """Return the names of the built-in recipes, then those of benchmarks/recipes, as "aji/log4-error-feedback"."""
    own = (path.relative_to(RECIPES).with_suffix("") for path in RECIPES.rglob("*.toml"))
    return [*catalogue.recipe_names(), *sorted(map(str, own))]


def find_recipe(name: str) -> Recipe:
    """Return the recipe of this name; ConfigurationError if there is none."""
    path = RECIPES / f"{name}.toml"
    return read_recipe(path) if path.exists() else catalogue.find_recipe(name)


def read_renamed_record(path: Path) -> dict[str, Any]:
    """Read a record with today's names; DataError if the file is missing or not a record."""
    return rename(read_record(path), json.loads(RENAMED.read_text(encoding="utf-8")))
