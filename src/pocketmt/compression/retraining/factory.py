"""The trainer of a matrix for the retraining method of a recipe."""

from collections.abc import Mapping, Sequence

from torch import nn

from pocketmt.compression.retraining.error_feedback import RequantizationTrainer
from pocketmt.compression.retraining.fixed_codes import FixedCodesTrainer
from pocketmt.compression.retraining.grouped_vectors import GroupedVectorsTrainer
from pocketmt.compression.retraining.straight_through import StraightThroughTrainer
from pocketmt.compression.retraining.trainer import MatrixTrainer
from pocketmt.errors import ConfigurationError
from pocketmt.quantization import Scheme
from pocketmt.quantization.registry import SCHEMES
from pocketmt.quantization.row_groups import QuantizedMatrix, RowGroup, grouped_rows, on_device
from pocketmt.recipes.schema import ErrorFeedback, Periodic, Retraining, StraightThrough, TrainedParameters


def parameter_trainer(
    retraining: Retraining | None,
    name: str,
    groups: Sequence[RowGroup],
    parameters: Mapping[str, nn.Parameter],
    start: QuantizedMatrix | None,
) -> MatrixTrainer:
    """Return the trainer of a matrix, or of grouped vectors, of a network with these parameters."""
    if not groups[0].vectors:
        return make_trainer(retraining, groups, parameters[name], start)
    vectors = [parameters[vector] for vector in groups[0].vectors]
    inner = make_trainer(retraining, groups, nn.Parameter(grouped_rows(parameters, groups)), start)
    return GroupedVectorsTrainer(inner, vectors)


def make_trainer(
    retraining: Retraining | None,
    groups: Sequence[RowGroup],
    weight: nn.Parameter,
    start: QuantizedMatrix | None = None,
) -> MatrixTrainer:
    """Return the trainer of one matrix; `start` holds codes and parameters from an earlier stage."""
    start = None if start is None else on_device(start, weight.device)
    if isinstance(retraining, StraightThrough):
        return StraightThroughTrainer(groups, weight, retraining, start)
    if isinstance(retraining, TrainedParameters):
        return FixedCodesTrainer(groups, weight, start)
    if isinstance(retraining, ErrorFeedback | Periodic):
        return RequantizationTrainer(groups, weight, retraining, start)
    return MatrixTrainer(groups, weight, start)


def check_scheme(retraining: Retraining, scheme: Scheme, where: str) -> None:
    """Raise ConfigurationError, naming `where`, if a method trains parameters and those of a scheme are not learnable.

    The message lists the schemes with learnable parameters.
    """
    trains = isinstance(retraining, TrainedParameters) or (
        isinstance(retraining, StraightThrough) and retraining.parameters == "trained"
    )
    if trains and not scheme.learnable:
        learnable = ", ".join(name for name, each in SCHEMES.items() if each.learnable)
        raise ConfigurationError(
            f"{where}: the scheme {scheme.name} has no parameters to train: choose {learnable}, or another method"
        )
