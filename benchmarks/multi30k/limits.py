"""How long a benchmark's recipes train at most: one limit for all, or `NAME=UPDATES` for some."""

from collections.abc import Iterable

from pocketmt.errors import ConfigurationError
from pocketmt.recipes.description.schema import Recipe, limit_updates


def limits_of(arguments: Iterable[str], limit: int | None) -> dict[str, int | None]:
    """Return the most updates of each name's stages, None where there is no limit.

    Args:
        arguments: `NAME`, which has the limit of all, or `NAME=UPDATES`.
        limit: of those that have none of their own.

    Raises:
        ConfigurationError: behind "=" stands no whole number from 1.
    """
    return dict(_limited(argument, limit) for argument in arguments)


def limited(recipe: Recipe, most: int | None) -> Recipe:
    """Return the recipe with stages of at most so many updates; None: as it is."""
    return recipe if most is None else limit_updates(recipe, most)


def _limited(argument: str, limit: int | None) -> tuple[str, int | None]:
    name, equals, updates = argument.partition("=")
    if equals and not (updates.isdecimal() and int(updates) > 0):
        raise ConfigurationError(f"{argument}: give updates as a whole number from 1, as in '{name}=500'")
    return name, int(updates) if equals else limit
