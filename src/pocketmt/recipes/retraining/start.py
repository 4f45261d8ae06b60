"""What a stage starts from: what the one before left, without the feed-forward nodes that go first [Q7]."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from pocketmt.models.networks import make_network
from pocketmt.pruning.slicing import Cut
from pocketmt.recipes.description.plan import PlannedStage
from pocketmt.recipes.description.pruning import NODE_BATCHES, FeedForwardNodes
from pocketmt.recipes.description.schema import Recipe
from pocketmt.recipes.pruning.nodes import node_cuts, node_maxima
from pocketmt.recipes.pruning.planning import PlannedPruning
from pocketmt.recipes.retraining.networks import quantizing_network
from pocketmt.recipes.retraining.outcome import Outcome, decoded_weights, load_outcome
from pocketmt.recipes.retraining.setting import Setting, best_file, piece_counts, row_groups
from pocketmt.recipes.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup
from pocketmt.training.steps import endless_batches


def stage_start(setting: Setting, recipe: Recipe, stage: int) -> Outcome:
    """Return what a stage starts from, before it prunes: the last stage's outcome, the run's or random weights."""
    if stage > 0:
        return load_outcome(best_file(setting.folder, stage - 1))
    if recipe.start == "trained":
        return Outcome(setting.model.weights, {}, {})
    torch.manual_seed(recipe.seed)
    return Outcome(make_network(setting.model.architecture).state_dict(), {}, {})


def without_nodes(setting: Setting, plan: PlannedStage, start: Outcome, stage: int) -> Outcome:
    """Return what a stage starts from, without the nodes that go; kept in a file, so that they are chosen once.

    Args:
        setting: of the compression.
        plan: the stage's, for the sizes of `start`.
        start: as `stage_start` returns.
        stage: its number, from 0.
    """
    entries = [entry for entry in plan.pruning if isinstance(entry.settings, FeedForwardNodes)]
    if not entries:
        return start
    file = _pruned_file(setting.folder, stage)
    if setting.fabric.is_global_zero and not file.exists():
        groups = row_groups(plan, piece_counts(setting.texts.corpus, setting.model.architecture.vocabulary_size))
        for number, entry in enumerate(entries):
            start = cut_outcome(start, groups, _cuts(setting, plan, entry, start, groups, 1_009 * stage + number))
        start.save(file)
    setting.fabric.barrier()
    return load_outcome(file)


def cut_outcome(outcome: Outcome, groups: Mapping[str, tuple[RowGroup, ...]], cuts: Mapping[str, Cut]) -> Outcome:
    """Return an outcome without what goes; codes are sliced as they are, nothing is quantized anew.

    Args:
        outcome: weights, and codes of those that are quantized.
        groups: of every quantized matrix.
        cuts: name -> what is left; of a matrix that is quantized, in one row group.
    """
    weights = {name: cuts[name].of(weight) if name in cuts else weight for name, weight in outcome.weights.items()}
    quantized = {
        name: _cut_matrix(groups[name], matrix, cuts[name]) if name in cuts else matrix
        for name, matrix in outcome.quantized.items()
    }
    return Outcome(weights, quantized, outcome.scores, outcome.ranges)


def _cut_matrix(groups: tuple[RowGroup, ...], quantized: QuantizedMatrix, cut: Cut) -> QuantizedMatrix:
    """Return a matrix without rows or columns: codes begin with rows and end with columns, parameters are of rows."""
    ((group,), (matrix,)) = (groups, quantized)
    codes = cut.of(matrix.codes) if cut.dimension == 0 else matrix.codes.index_select(-1, cut.index)
    parameters = matrix.parameters
    if cut.dimension == 0 and group.scheme.granularity == "row":
        parameters = {name: cut.of(parameter) for name, parameter in parameters.items()}
    return [QuantizedGroup(codes, parameters)]


def _cuts(
    setting: Setting,
    plan: PlannedStage,
    entry: PlannedPruning,
    start: Outcome,
    groups: Mapping[str, tuple[RowGroup, ...]],
    draw: int,
) -> dict[str, Cut]:
    settings = entry.settings
    assert isinstance(settings, FeedForwardNodes)
    weights = decoded_weights(start.weights, start.quantized, dict(groups))
    maxima: dict[str, Tensor] = {}
    if settings.criterion == "largest_activation":
        assert setting.texts.corpus is not None
        network = quantizing_network(setting.model.architecture, plan, {**weights, **start.ranges})
        tokens = setting.settings.training.batch_tokens
        seed = setting.seed * 1_000_003 + draw
        batches = endless_batches(setting.fabric, setting.texts.corpus.training, tokens, seed)
        some = islice(batches, settings.batches or NODE_BATCHES)
        found = node_maxima(network.to(setting.fabric.device), entry.sublayers, some)
        maxima = {name: each.cpu() for name, each in found.items()}
    return node_cuts(settings, entry.sublayers, {name: each.cpu() for name, each in weights.items()}, maxima)


def _pruned_file(folder: Path, stage: int) -> Path:
    return folder / f"start.{stage}.pt"
