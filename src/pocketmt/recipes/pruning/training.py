"""What pruning does in a stage's retraining: a penalty, or weights that are zero and stay so."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pocketmt.pruning.group_lasso import living_units
from pocketmt.pruning.magnitude import largest, share_at
from pocketmt.pruning.slicing import Cut, at_least_one
from pocketmt.recipes.description.plan import PlannedStage
from pocketmt.recipes.description.pruning import FeedForwardNodes, GroupLasso, Magnitude
from pocketmt.recipes.pruning.planning import PlannedPruning
from pocketmt.recipes.pruning.sublayers import Sublayer


class TrainedPruning:
    """One entry's pruning in one stage; by itself it does nothing."""

    def penalty(self) -> Tensor:
        """Return what is added to the objective, summed over the batch's tokens, in nats: a scalar."""
        return torch.zeros(())

    def after_backward(self) -> None:
        """Change gradients before the optimizer's step."""

    def after_step(self, update: int) -> None:
        """Do what follows an optimizer step, with the stage's update, from 1."""

    def settled(self, update: int) -> bool:
        """Return whether as much is pruned as shall be, so that a validation may be the stage's outcome."""
        return True

    def cuts(self) -> dict[str, Cut]:
        """Return what is left of the tensors of which something goes, once it is settled."""
        return {}

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must hold beside parameters and optimizer."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take what `state` returned."""


class LassoPruning(TrainedPruning):
    """Group lasso on sub-layers; what it has killed goes when the stage ends, and is penalized until then [E5]."""

    def __init__(
        self, settings: GroupLasso, sublayers: Sequence[Sublayer], parameters: Mapping[str, Tensor], updates: int
    ) -> None:
        """Take the network's parameters, and of how many updates the stage is."""
        self.settings = settings
        self.sublayers = sublayers
        self.parameters = parameters
        self.updates = updates

    def penalty(self) -> Tensor:
        """Return lambda times the group lasso of all sub-layers."""
        whole = self.settings.granularity == "heads"
        groups = [each for part in self.sublayers for each in part.connections(self.parameters, whole_units=whole)]
        return self.settings.strength * torch.stack([each.penalty() for each in groups]).sum()

    def settled(self, update: int) -> bool:
        """Only the stage's end is its outcome: before it, groups are on their way."""
        return update >= self.updates

    @torch.no_grad()
    def cuts(self) -> dict[str, Cut]:
        """Return what is left where the dead units are gone; of each sub-layer one unit is left at least."""
        cuts: dict[str, Cut] = {}
        for sublayer in self.sublayers:
            whole = self.settings.granularity == "heads"
            connections = list(sublayer.connections(self.parameters, whole_units=whole))
            living = living_units(connections, self.settings.dead_below)
            importance = torch.stack([each.norms().sum(dim=1) for each in connections]).sum(dim=0)
            cuts |= sublayer.cuts(at_least_one(living, importance), self.parameters)
        return cuts


class ZeroWeights(TrainedPruning):
    """Weights that are zero in some matrices stay so."""

    def __init__(self, matrices: Sequence[str], parameters: Mapping[str, Tensor]) -> None:
        """Take names of matrices, and the network's parameters."""
        self.weights = {name: parameters[name] for name in matrices}
        self.kept = {name: weight.detach() != 0 for name, weight in self.weights.items()}

    def after_backward(self) -> None:
        """Drop the gradients of weights that are gone, which would count in the norm that is clipped."""
        for name, weight in self.weights.items():
            if weight.grad is not None:
                weight.grad.mul_(self.kept[name])

    def after_step(self, update: int) -> None:
        """Undo what the optimizer's momentum did to weights that are gone."""
        for name, weight in self.weights.items():
            weight.detach().mul_(self.kept[name])

    def state(self) -> dict[str, Any]:
        """Return which weights are left."""
        return {"kept": self.kept}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take what `state` returned."""
        self.kept = {name: kept.to(self.kept[name].device) for name, kept in state["kept"].items()}


class MagnitudePruning(ZeroWeights):
    """More and more of the least weights of each matrix become zero [Z3]."""

    def __init__(self, settings: Magnitude, matrices: Sequence[str], parameters: Mapping[str, Tensor]) -> None:
        """Take names of matrices and the network's parameters, and prune the first share."""
        super().__init__(matrices, parameters)
        self.settings = settings
        self._prune(0)

    def after_step(self, update: int) -> None:
        """Prune more where it is time."""
        super().after_step(update)
        if update % self.settings.period == 0 and update <= self.settings.steps * self.settings.period:
            self._prune(update)

    def settled(self, update: int) -> bool:
        """Return whether the last share is reached."""
        return update >= self.settings.steps * self.settings.period

    def _prune(self, update: int) -> None:
        settings = self.settings
        share = share_at(update, settings.from_share, settings.to_share, settings.steps, settings.period)
        for name, weight in self.weights.items():
            self.kept[name] = largest(weight.detach(), share)
            weight.detach().mul_(self.kept[name])


def make_prunings(plan: PlannedStage, parameters: Mapping[str, nn.Parameter]) -> list[TrainedPruning]:
    """Return what a stage prunes while it trains, and what it keeps of earlier stages' pruning."""
    prunings = [
        _make(entry, plan, parameters) for entry in plan.pruning if not isinstance(entry.settings, FeedForwardNodes)
    ]
    own = {name for entry in plan.pruning if isinstance(entry.settings, Magnitude) for name in entry.matrices}
    if held := sorted(plan.sparse - own):
        prunings.append(ZeroWeights(held, parameters))
    return prunings


def _make(entry: PlannedPruning, plan: PlannedStage, parameters: Mapping[str, nn.Parameter]) -> TrainedPruning:
    if isinstance(entry.settings, Magnitude):
        return MagnitudePruning(entry.settings, entry.matrices, parameters)
    assert isinstance(entry.settings, GroupLasso)
    assert plan.retraining is not None
    return LassoPruning(entry.settings, entry.sublayers, parameters, plan.retraining.updates)
