"""Schemes and bits chosen for a size, or for a loss that is tolerated, from what each part of a network bears."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pocketmt.errors import ConfigurationError


@dataclass(frozen=True)
class Choice:
    """One way to store one part of a network.

    Attributes:
        name: in words, unique within the part.
        size: bytes of the part in the file.
        damage: what the validation loss rises by where this part alone is stored so, nats a token.
    """

    name: str
    size: int
    damage: float


@dataclass(frozen=True)
class Allocation:
    """A choice for every part; `damage` takes it that damages add up."""

    choices: dict[str, Choice]
    size: int
    damage: float


def least_damage(parts: Mapping[str, Sequence[Choice]], size: int) -> Allocation:
    """Return the allocation of least damage that takes at most `size` bytes.

    Raises ConfigurationError where even the smallest takes more, and says how much.
    """
    frontier = pareto_frontier(parts)
    fitting = [each for each in frontier if each.size <= size]
    if not fitting:
        raise ConfigurationError(f"{size:,} bytes are too few: the matrices take {frontier[0].size:,} at the least")
    return fitting[-1]


def least_size(parts: Mapping[str, Sequence[Choice]], damage: float) -> Allocation:
    """Return the smallest allocation whose damage is at most `damage`, nats a token.

    Raises ConfigurationError where every allocation does more, and says how much.
    """
    frontier = pareto_frontier(parts)
    tolerable = [each for each in frontier if each.damage <= damage]
    if not tolerable:
        least = frontier[-1].damage
        raise ConfigurationError(f"a loss of {damage:g} nats a token cannot be kept: the least is {least:.4f}")
    return tolerable[0]


def pareto_frontier(parts: Mapping[str, Sequence[Choice]]) -> list[Allocation]:
    """Return every allocation than which none is both smaller and better, from the smallest to the best.

    Exact: parts are added one after the other, and what is dominated among the first few parts stays so whatever the
    others are.

    Raises ConfigurationError where a part has no choice.
    """
    frontier = [Allocation({}, 0, 0.0)]
    for part, choices in parts.items():
        if not choices:
            raise ConfigurationError(f"{part}: there is no way to store it among the choices")
        grown = [
            Allocation({**each.choices, part: choice}, each.size + choice.size, each.damage + choice.damage)
            for each in frontier
            for choice in choices
        ]
        grown.sort(key=lambda each: (each.size, each.damage))
        frontier = []
        for candidate in grown:
            if not frontier or candidate.damage < frontier[-1].damage:
                frontier.append(candidate)
    return frontier
