"""The recipes that come along, by name."""

from pathlib import Path
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.recipes.description.schema import Recipe, read_recipe

LIBRARY: Final = Path(__file__).parents[1] / "library"


def recipe_names() -> list[str]:
    """Return the names of the recipes that come along, sorted."""
    return sorted(file.stem for file in LIBRARY.glob("*.toml"))


def find_recipe(name_or_path: str) -> Recipe:
    """Read the recipe that comes along under a name, or else the one in a file.

    Raises ConfigurationError where it is neither, or is not a recipe.
    """
    if name_or_path in recipe_names():
        return read_recipe(LIBRARY / f"{name_or_path}.toml")
    path = Path(name_or_path)
    if not path.suffix and not path.exists():
        raise ConfigurationError(
            f"{name_or_path}: neither a file nor a recipe that comes along: `pocketmt compress --list` names those"
        )
    return read_recipe(path)
