"""Sub-layers whose units (heads or feed-forward nodes) can be pruned, and the tensors that hold the units."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from torch import Tensor

from pocketmt.model_file.architecture import Architecture
from pocketmt.pruning.group_lasso import Connections
from pocketmt.pruning.slicing import Cut, elements_of


@dataclass(frozen=True)
class Sublayer:
    """An attention or a feed-forward network of one layer.

    Attributes:
        name: as "encoder.layers.0.feed_forward".
        rows: linear layers whose outputs belong to the units, and how often the sequence of all units occurs in them.
        columns: the linear layer whose inputs belong to the units.
        unit_size: elements of a unit: the size of a head, or 1.
    """

    name: str
    rows: tuple[tuple[str, int], ...]
    columns: str
    unit_size: int

    @property
    def matrices(self) -> tuple[str, ...]:
        """The names of its matrices."""
        return tuple(f"{self.name}.{linear}.weight" for linear in (*dict(self.rows), self.columns))

    @property
    def is_feed_forward(self) -> bool:
        """Whether its units are nodes and not heads."""
        return self.columns == _FEED_FORWARD[1]

    def biases(self, names: Collection[str]) -> list[str]:
        """Return the biases of its units that are among the names."""
        return [name for name in (f"{self.name}.{linear}.bias" for linear, _ in self.rows) if name in names]

    def units(self, weights: Mapping[str, Tensor]) -> int:
        """Return the number of its units."""
        return weights[f"{self.name}.{self.columns}.weight"].shape[1] // self.unit_size

    def connections(self, weights: Mapping[str, Tensor], *, whole_units: bool) -> Iterator[Connections]:
        """Yield the groups of each of its matrices: rows and columns, or the parts that belong to whole units.

        The biases of a unit's rows belong to its groups.
        """
        units = self.units(weights)
        for linear, parts in self.rows:
            size = self.unit_size if whole_units else 1
            weight = weights[f"{self.name}.{linear}.weight"]
            groups = _split(weight, parts, units, size).flatten(3).flatten(1, 2)
            bias = weights.get(f"{self.name}.{linear}.bias")
            yield Connections(groups, None if bias is None else _split(bias, parts, units, size).flatten(1, 2))
        columns = weights[f"{self.name}.{self.columns}.weight"].t()
        columns = columns.reshape(units, self.unit_size, -1)
        yield Connections(columns.flatten(1)[:, None] if whole_units else columns)

    def cuts(self, kept: Tensor, names: Mapping[str, object]) -> dict[str, Cut]:
        """Return what is kept of its tensors that are among the names; `kept`: bool [units]."""
        found: dict[str, Cut] = {}
        for linear, parts in self.rows:
            rows = Cut(0, elements_of(kept, self.unit_size, parts))
            found |= {f"{self.name}.{linear}.{kind}": rows for kind in ("weight", "bias")}
        found[f"{self.name}.{self.columns}.weight"] = Cut(1, elements_of(kept, self.unit_size))
        return {name: cut for name, cut in found.items() if name in names}


def _split(tensor: Tensor, parts: int, units: int, size: int) -> Tensor:
    """Return the outputs of a linear layer as [units, parts, groups in a unit, outputs in a group, ..]."""
    return tensor.reshape(parts, units, -1, size, *tensor.shape[1:]).transpose(0, 1)


_FEED_FORWARD: Final = ((("inner", 1),), "outer")
_SELF_ATTENTION: Final = ((("query_key_value", 3),), "output")
_CROSS_ATTENTION: Final = ((("query", 1), ("key_value", 2)), "output")
# End of a matrix's name -> linear layers of its sub-layer.
_ENDINGS: Final = {
    "feed_forward.outer.weight": _FEED_FORWARD,
    "self_attention.output.weight": _SELF_ATTENTION,
    "cross_attention.output.weight": _CROSS_ATTENTION,
}


# Field of the architecture -> encoder or decoder, and kind of the sub-layers whose units it counts.
_FIELDS: Final = {
    "encoder_heads": ("encoder.", ".self_attention"),
    "encoder_feed_forward": ("encoder.", ".feed_forward"),
    "decoder_heads": ("decoder.", ".self_attention"),
    "decoder_cross_heads": ("decoder.", ".cross_attention"),
    "decoder_feed_forward": ("decoder.", ".feed_forward"),
}


def prunable_sublayers(architecture: Architecture) -> list[Sublayer]:
    """Return all sub-layers whose units can be pruned, in the network's order; only Transformers have any."""
    found: list[Sublayer] = []
    if not architecture.unpruned_sizes():
        return found
    for name in architecture.parameter_shapes():
        for ending, (rows, columns) in _ENDINGS.items():
            if name.endswith(ending):
                size = 1 if columns == _FEED_FORWARD[1] else architecture.head_size
                found.append(Sublayer(name.removesuffix(f".{columns}.weight"), rows, columns, size))
    return found


def architecture_of(architecture: Architecture, weights: Mapping[str, Tensor]) -> Architecture:
    """Return the architecture of a pruned network, by its weights; `architecture`: of the unpruned network."""
    sizes: dict[str, Any] = dict(pruned_sizes(architecture, weights))
    return dataclasses.replace(architecture, **sizes)


def pruned_sizes(architecture: Architecture, weights: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    """Return the fields of the architecture that pruning has changed, each with the sizes of all layers."""
    found: dict[str, tuple[int, ...]] = {}
    sublayers = prunable_sublayers(architecture)
    for field, unpruned in architecture.unpruned_sizes().items():
        stack, kind = _FIELDS[field]
        some = [each for each in sublayers if each.name.startswith(stack) and each.name.endswith(kind)]
        sizes = tuple(each.units(weights) for each in some)
        if any(size != unpruned for size in sizes):
            found[field] = sizes
    return found
