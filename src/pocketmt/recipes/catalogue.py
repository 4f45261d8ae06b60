"""The built-in recipes, by name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.recipes.schema import Recipe, read_recipe

LIBRARY: Final = Path(__file__).parent / "library"


@dataclass(frozen=True)
class Recommendation:
    """A built-in recipe that suits most models."""

    name: str
    size: str  # Of the model file.
    use: str  # When to use it.


RECOMMENDED: Final = (
    Recommendation(
        "affine4-distilled",
        "1/8 of float32",
        "The first to try: retrained to the quality of the original model",
    ),
    Recommendation("8bit", "1/4 of float32", "Without training and text, at the quality of the original model"),
    Recommendation("affine4-compensated", "1/8 of float32", "Without training, in seconds to minutes over some text"),
    Recommendation(
        "mixed-2-bits-distilled",
        "1/12 to 1/16 of float32",
        "The smallest: give it all its updates, and as much text as possible",
    ),
)

# Built-in recipes that are not for every network, each with one that is, of about the same size.
FOR_EVERY_NETWORK: Final = {
    "8bit-pruned-heads": "8bit",
    "8bit-pruned-nodes": "8bit",
    "mixed-2-bits-distilled": "entropy-2-bits-distilled",
    "mixed-2.6-bits-distilled": "entropy-2.6-bits-distilled",
}


def recipe_names() -> list[str]:
    """Return the names of the built-in recipes, sorted."""
    return sorted(file.stem for file in LIBRARY.glob("*.toml"))


def find_recipe(name_or_path: str) -> Recipe:
    """Read the built-in recipe of this name, or else the recipe file at this path.

    Raises ConfigurationError if it is neither, or not a valid recipe.
    """
    if name_or_path in recipe_names():
        return read_recipe(LIBRARY / f"{name_or_path}.toml")
    path = Path(name_or_path)
    if not path.suffix and not path.exists():
        raise ConfigurationError(
            f"{name_or_path}: neither a file nor a built-in recipe: list these with `pocketmt compress --list`"
        )
    return read_recipe(path)
