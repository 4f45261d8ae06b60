"""The best allocation of bits to the parts of a network: for a size, or for a tolerated increase of the loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pocketmt.errors import ConfigurationError


@dataclass(frozen=True)
class Choice:
    """One way to store one part of a network.

    Attributes:
        name: unique within the part.
        size: of the part in the file, in bytes.
        loss_increase: how much the validation loss rises where only this part is stored in this way, in nats a token.
    """

    name: str
    size: int
    loss_increase: float


@dataclass(frozen=True)
class Allocation:
    """A choice for every part; its loss increase is the sum of those of the parts."""

    choices: dict[str, Choice]
    size: int
    loss_increase: float


def least_loss_increase(parts: Mapping[str, Sequence[Choice]], size: int) -> Allocation:
    """Return the allocation with the smallest increase of the loss that takes at most `size` bytes.

    Raises ConfigurationError, with the smallest size, if even that is larger.
    """
    frontier = pareto_frontier(parts)
    fitting = [each for each in frontier if each.size <= size]
    if not fitting:
        raise ConfigurationError(f"{size:,} bytes are too few: the matrices need at least {frontier[0].size:,}")
    return fitting[-1]


def least_size(parts: Mapping[str, Sequence[Choice]], loss_increase: float) -> Allocation:
    """Return the smallest allocation that raises the loss by at most `loss_increase`, in nats a token.

    Raises ConfigurationError, with the smallest increase, if even that is larger.
    """
    frontier = pareto_frontier(parts)
    tolerable = [each for each in frontier if each.loss_increase <= loss_increase]
    if not tolerable:
        least = frontier[-1].loss_increase
        raise ConfigurationError(
            f"an increase of at most {loss_increase:g} nats a token is impossible: the smallest is {least:.4f}"
        )
    return tolerable[0]


def pareto_frontier(parts: Mapping[str, Sequence[Choice]]) -> list[Allocation]:
    """Return every allocation that no other beats in both size and loss, from the smallest to the best.

    Exact: parts are added one after the other, and an allocation of the first parts that is dominated stays dominated.

    Raises ConfigurationError if a part has no choice.
    """
    frontier = [Allocation({}, 0, 0.0)]
    for part, choices in parts.items():
        if not choices:
            raise ConfigurationError(f"{part}: no way to store it is among the choices")
        grown = [
            Allocation(
                {**each.choices, part: choice}, each.size + choice.size, each.loss_increase + choice.loss_increase
            )
            for each in frontier
            for choice in choices
        ]
        grown.sort(key=lambda each: (each.size, each.loss_increase))
        frontier = []
        for candidate in grown:
            if not frontier or candidate.loss_increase < frontier[-1].loss_increase:
                frontier.append(candidate)
    return frontier
