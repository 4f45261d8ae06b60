"""Limits of the updates of a benchmark's recipes: one for all, or `NAME=UPDATES` for some."""

from collections.abc import Iterable

from pocketmt.errors import ConfigurationError
from pocketmt.recipes.schema import Recipe, limit_updates


def limits_of(arguments: Iterable[str], limit: int | None) -> dict[str, int | None]:
    """Return the largest number of updates a stage for each name; None: no limit.

    Args:
        arguments: `NAME`, for which `limit` applies, or `NAME=UPDATES`.
        limit: the default limit.

    Raises:
        ConfigurationError: UPDATES is not a positive whole number.
    """
    return dict(_limited(argument, limit) for argument in arguments)


def limited(recipe: Recipe, most: int | None) -> Recipe:
    """Return the recipe with at most `most` updates a stage; None: unchanged."""
    return recipe if most is None else limit_updates(recipe, most)


def _limited(argument: str, limit: int | None) -> tuple[str, int | None]:
    name, equals, updates = argument.partition("=")
    if equals and not (updates.isdecimal() and int(updates) > 0):
        raise ConfigurationError(f"{argument}: give updates as a whole number from 1, as in '{name}=500'")
    return name, int(updates) if equals else limit
