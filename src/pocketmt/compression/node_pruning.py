"""Pruning of feed-forward nodes before a stage begins (Prato et al. 2020, appendix B)."""

import dataclasses
from collections.abc import Mapping
from itertools import islice

from torch import Tensor

from pocketmt.compression.networks import quantizing_network
from pocketmt.compression.plan import PlannedStage
from pocketmt.compression.pruning.nodes import node_cuts, node_maxima
from pocketmt.compression.pruning.planning import PlannedPruning
from pocketmt.compression.pruning.sublayers import architecture_of
from pocketmt.compression.stage_context import StageContext
from pocketmt.compression.stage_result import StageResult, load_result
from pocketmt.pruning.slicing import Cut
from pocketmt.quantization.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup, decoded_weights
from pocketmt.recipes.pruning import NODE_BATCHES, FeedForwardNodes
from pocketmt.training.steps import endless_batches


def prune_nodes(context: StageContext, plan: PlannedStage, start: StageResult, stage: int) -> StageResult:
    """Return what a stage starts from without the nodes that it prunes; kept in a file, so that they are chosen once.

    Args:
        context: of the compression.
        plan: of the stage, which prunes nodes.
        start: the result of the stage before.
        stage: its number, from 0.
    """
    entries = [entry for entry in plan.pruning if isinstance(entry.settings, FeedForwardNodes)]
    file = context.folder / f"start.{stage}.pt"
    if context.fabric.is_global_zero and not file.exists():
        groups = plan.row_groups(start.weights, context.counts)
        for number, entry in enumerate(entries):
            start = cut_result(start, groups, _cuts(context, plan, entry, start, groups, 1_009 * stage + number))
        start.save(file)
    context.fabric.barrier()
    return load_result(file)


def cut_result(result: StageResult, groups: Mapping[str, tuple[RowGroup, ...]], cuts: Mapping[str, Cut]) -> StageResult:
    """Return a result without the rows and columns that are cut; codes are sliced, nothing is quantized again.

    Args:
        result: weights, and codes of quantized matrices.
        groups: of every quantized matrix.
        cuts: name -> what is left; a quantized matrix among them has one row group.
    """
    weights = {name: cuts[name].of(weight) if name in cuts else weight for name, weight in result.weights.items()}
    quantized = {
        name: _cut_matrix(groups[name], matrix, cuts[name]) if name in cuts else matrix
        for name, matrix in result.quantized.items()
    }
    return dataclasses.replace(result, weights=weights, quantized=quantized)


def _cut_matrix(groups: tuple[RowGroup, ...], quantized: QuantizedMatrix, cut: Cut) -> QuantizedMatrix:
    """Return a matrix without rows or columns: codes begin with rows and end with columns, parameters are of rows."""
    ((group,), (matrix,)) = (groups, quantized)
    codes = cut.of(matrix.codes) if cut.dimension == 0 else matrix.codes.index_select(-1, cut.index)
    parameters = matrix.parameters
    if cut.dimension == 0 and group.scheme.granularity == "row":
        parameters = {name: cut.of(parameter) for name, parameter in parameters.items()}
    return [QuantizedGroup(codes, parameters)]


def _cuts(
    context: StageContext,
    plan: PlannedStage,
    entry: PlannedPruning,
    start: StageResult,
    groups: Mapping[str, tuple[RowGroup, ...]],
    draw: int,
) -> dict[str, Cut]:
    settings = entry.settings
    assert isinstance(settings, FeedForwardNodes)
    weights = decoded_weights(start.weights, start.quantized, groups)
    maxima: dict[str, Tensor] = {}
    if settings.criterion == "largest_activation":
        assert context.texts.corpus is not None
        architecture = architecture_of(context.architecture, weights)
        network = quantizing_network(architecture, plan, {**weights, **start.ranges})
        tokens = context.defaults.training.batch_tokens
        seed = context.seed * 1_000_003 + draw
        batches = endless_batches(context.fabric, architecture, context.texts.corpus.training, tokens, seed)
        some = islice(batches, settings.batches or NODE_BATCHES)
        found = node_maxima(network.to(context.fabric.device), entry.sublayers, some)
        maxima = {name: each.cpu() for name, each in found.items()}
    return node_cuts(settings, entry.sublayers, {name: each.cpu() for name, each in weights.items()}, maxima)
