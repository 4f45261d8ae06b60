"""Pruning while a stage trains: group lasso, magnitude pruning, and zeros that stay zero."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import torch
from torch import Tensor, nn

from pocketmt.compression.pruning.planning import PlannedPruning
from pocketmt.compression.pruning.sublayers import Sublayer
from pocketmt.pruning.group_lasso import living_units
from pocketmt.pruning.magnitude import largest, share_at
from pocketmt.pruning.slicing import Cut, at_least_one
from pocketmt.recipes.pruning import GroupLasso, Magnitude
from pocketmt.training.hooks import Hook


class TrainedPruning(Hook):
    """The pruning of one entry of a recipe in one stage."""

    def settled(self, update: int) -> bool:
        """Return whether everything that the stage prunes is pruned, so that a validation may become its result."""
        return True

    def cuts(self) -> dict[str, Cut]:
        """Return what is kept of the tensors that are pruned, once it is settled."""
        return {}


class LassoPruning(TrainedPruning):
    """Group lasso on sub-layers (Behnke et al. 2021, section 3.1); dead units are removed when the stage ends."""

    def __init__(
        self, settings: GroupLasso, sublayers: Sequence[Sublayer], parameters: Mapping[str, Tensor], updates: int
    ) -> None:
        """Take the network's parameters and the number of the stage's updates."""
        self.settings = settings
        self.sublayers = sublayers
        self.parameters = parameters
        self.updates = updates

    def penalty(self) -> Tensor:
        """Return lambda times the group lasso penalty of all sub-layers."""
        whole = self.settings.granularity == "heads"
        groups = [each for part in self.sublayers for each in part.connections(self.parameters, whole_units=whole)]
        return self.settings.strength * torch.stack([each.penalty() for each in groups]).sum()

    def settled(self, update: int) -> bool:
        """Return whether the stage ends: before, groups are still shrinking."""
        return update >= self.updates

    @torch.no_grad()
    def cuts(self) -> dict[str, Cut]:
        """Return what is kept without the dead units; at least one unit of each sub-layer is kept."""
        cuts: dict[str, Cut] = {}
        for sublayer in self.sublayers:
            whole = self.settings.granularity == "heads"
            connections = list(sublayer.connections(self.parameters, whole_units=whole))
            living = living_units(connections, self.settings.dead_below)
            importance = torch.stack([each.norms().sum(dim=1) for each in connections]).sum(dim=0)
            cuts |= sublayer.cuts(at_least_one(living, importance), self.parameters)
        return cuts


class ZeroWeights(TrainedPruning):
    """Keeps the zeros of some matrices zero."""

    def __init__(self, matrices: Sequence[str], parameters: Mapping[str, Tensor]) -> None:
        """Take the names of the matrices, and the network's parameters."""
        self.weights = {name: parameters[name] for name in matrices}
        self.kept = {name: weight.detach() != 0 for name, weight in self.weights.items()}

    def after_backward(self) -> None:
        """Zero the gradients of pruned weights, which would count in the norm that is clipped."""
        for name, weight in self.weights.items():
            if weight.grad is not None:
                weight.grad.mul_(self.kept[name])

    def after_step(self, update: int) -> None:
        """Undo the optimizer's momentum on pruned weights."""
        for name, weight in self.weights.items():
            weight.detach().mul_(self.kept[name])

    def state(self) -> dict[str, Any]:
        """Return which weights are kept."""
        return {"kept": self.kept}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take what `state` returned."""
        self.kept = {name: kept.to(self.kept[name].device) for name, kept in state["kept"].items()}


class MagnitudePruning(ZeroWeights):
    """Zeroes a growing share of each matrix: iterative magnitude pruning (Cheong and Daniel 2019, section 3.2)."""

    def __init__(self, settings: Magnitude, matrices: Sequence[str], parameters: Mapping[str, Tensor]) -> None:
        """Take the names of the matrices and the network's parameters, and prune the first share."""
        super().__init__(matrices, parameters)
        self.settings = settings
        self._prune(0)

    def after_step(self, update: int) -> None:
        """Prune the next share when it is due."""
        super().after_step(update)
        if update % self.settings.period == 0 and update <= self.settings.steps * self.settings.period:
            self._prune(update)

    def settled(self, update: int) -> bool:
        """Return whether the last share has been pruned."""
        return update >= self.settings.steps * self.settings.period

    def _prune(self, update: int) -> None:
        settings = self.settings
        share = share_at(update, settings.from_share, settings.to_share, settings.steps, settings.period)
        for name, weight in self.weights.items():
            self.kept[name] &= largest(weight.detach(), share)  # Zeros of an earlier stage stay, if there are more.
            weight.detach().mul_(self.kept[name])


def make_prunings(
    entries: Sequence[PlannedPruning], sparse: Set[str], parameters: Mapping[str, nn.Parameter], updates: int
) -> list[TrainedPruning]:
    """Return the pruning of a stage while it trains, and what keeps the zeros of earlier stages.

    Args:
        entries: of the stage.
        sparse: matrices with zeros that are kept.
        parameters: of the network.
        updates: of the stage.
    """
    prunings: list[TrainedPruning] = []
    for entry in entries:
        if isinstance(entry.settings, Magnitude):
            prunings.append(MagnitudePruning(entry.settings, entry.matrices, parameters))
        elif isinstance(entry.settings, GroupLasso):
            prunings.append(LassoPruning(entry.settings, entry.sublayers, parameters, updates))
    own = {name for entry in entries if isinstance(entry.settings, Magnitude) for name in entry.matrices}
    if held := sorted(sparse - own):
        prunings.append(ZeroWeights(held, parameters))
    return prunings
