"""The plan: a recipe resolved for a network, with the matrices and schemes of every stage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from pocketmt.compression.activations.estimation import Estimation
from pocketmt.compression.pruning.planning import PlannedPruning
from pocketmt.model_file.matrices.grouped_vectors import vector_group_name
from pocketmt.quantization import Scheme
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.activations.static import StaticActivations
from pocketmt.quantization.frequency_clusters import frequency_clusters
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.recipes.activations import FullQuantization
from pocketmt.recipes.pruning import FeedForwardNodes
from pocketmt.recipes.schema import SEQUENCE_OBJECTIVES, ErrorCompensation, Recipe, Retraining


@dataclass(frozen=True)
class RowGroupAssignment:
    """The schemes that one entry of a recipe gives to its matrices, or to its vectors.

    Attributes:
        names: of the matrices, or of the vectors, in the network's order.
        schemes: one for all rows, or one for each cluster of words, the most frequent words first.
        frequency_ratio: how many times as many words each cluster has as the one before (Chung et al. 2020, algorithm
            1); None for one scheme.
        are_vectors: whether the names are those of vectors. Vectors of one length are grouped: they are the rows of one
            matrix.
    """

    names: tuple[str, ...]
    schemes: tuple[Scheme, ...]
    frequency_ratio: int | None = None
    are_vectors: bool = False

    def row_groups(self, counts: Sequence[int]) -> tuple[RowGroup, ...]:
        """Return the row groups of one of the matrices; `counts`: occurrences of each word, by row."""
        if self.frequency_ratio is None:
            return (RowGroup(self.schemes[0]),)
        by_bits = {scheme.bits: scheme for scheme in self.schemes}
        clusters = frequency_clusters(counts, len(self.schemes), self.frequency_ratio)
        return tuple(RowGroup(by_bits[cluster.bits], cluster.rows) for cluster in clusters)

    def vector_groups(self, lengths: Mapping[str, int]) -> list[tuple[RowGroup]]:
        """Return a row group for the vectors of each length."""
        by_length: dict[int, list[str]] = {}
        for name in self.names:
            by_length.setdefault(lengths[name], []).append(name)
        return [(RowGroup(self.schemes[0], vectors=tuple(names)),) for names in by_length.values()]


def row_groups(
    assignments: Iterable[RowGroupAssignment], weights: Mapping[str, Tensor], counts: Mapping[str, Sequence[int]]
) -> dict[str, tuple[RowGroup, ...]]:
    """Return the row groups of every quantized matrix, and of grouped vectors under the names of the model file.

    Args:
        assignments: in the order of the recipe.
        weights: of the network; after pruning their lengths differ from those that the plan was made for.
        counts: occurrences in the training text of the words that are rows of a matrix, by the matrix's name.
    """
    lengths = {name: len(weight) for name, weight in weights.items()}
    found: dict[str, tuple[RowGroup, ...]] = {}
    vector_groups = 0
    for each in assignments:
        if each.are_vectors:
            for group in each.vector_groups(lengths):
                found[vector_group_name(vector_groups)] = group
                vector_groups += 1
        else:
            found |= {name: each.row_groups(counts.get(name, ())) for name in each.names}
    return found


@dataclass(frozen=True, kw_only=True)
class PlannedStage:
    """One stage with all its matrices known; what earlier stages quantized or pruned is included.

    Attributes:
        name: of the stage.
        assignments: of every quantized matrix and vector, in the order of the recipe.
        retraining: None: the stage does not train.
        compensation: of quantization errors, in place of retraining.
        activations: operations that are quantized within ranges, from this stage or an earlier one.
        estimation: of the ranges, where this stage is the first that quantizes activations.
        input_quantization: of the inputs of quantized matrices, from this stage or an earlier one.
        pruning: of this stage.
        sparse: matrices with zeros that this stage, or an earlier one, made; they stay zero.
    """

    name: str
    assignments: tuple[RowGroupAssignment, ...]
    retraining: Retraining | None
    compensation: ErrorCompensation | None
    activations: FullQuantization | None
    estimation: Estimation | None
    input_quantization: LogarithmicActivations | StaticActivations | None
    pruning: tuple[PlannedPruning, ...]
    sparse: frozenset[str]

    @property
    def matrices(self) -> dict[str, RowGroupAssignment]:
        """The quantized matrices, grouped vectors not among them."""
        return {name: each for each in self.assignments if not each.are_vectors for name in each.names}

    @property
    def vectors(self) -> list[str]:
        """The quantized vectors."""
        return [name for each in self.assignments if each.are_vectors for name in each.names]

    def row_groups(
        self, weights: Mapping[str, Tensor], counts: Mapping[str, Sequence[int]]
    ) -> dict[str, tuple[RowGroup, ...]]:
        """Return the row groups of every quantized matrix and of grouped vectors; arguments as of `row_groups`."""
        return row_groups(self.assignments, weights, counts)

    @property
    def updates(self) -> int:
        """Updates of the stage's retraining."""
        return 0 if self.retraining is None else self.retraining.updates

    @property
    def needs_text(self) -> bool:
        """Whether the stage cannot run without text."""
        return (
            self.retraining is not None
            or self.compensation is not None
            or self.estimation is not None
            or isinstance(self.input_quantization, StaticActivations)
            or any(each.frequency_ratio is not None for each in self.assignments)
            or any(entry.needs_text for entry in self.pruning)
        )

    @property
    def prunes_nodes(self) -> bool:
        """Whether feed-forward nodes are pruned before the stage begins."""
        return any(isinstance(entry.settings, FeedForwardNodes) for entry in self.pruning)

    @property
    def learns_from_translations(self) -> bool:
        """Whether the stage is retrained on the uncompressed model's translations."""
        return self.retraining is not None and self.retraining.objective in SEQUENCE_OBJECTIVES


@dataclass(frozen=True)
class Plan:
    """A recipe resolved for a network: made once, and passed to everything that executes it."""

    recipe: Recipe
    stages: tuple[PlannedStage, ...]

    @property
    def updates(self) -> int:
        """Updates of all stages."""
        return sum(stage.updates for stage in self.stages)

    @property
    def needs_text(self) -> bool:
        """Whether the recipe cannot be executed without text."""
        return any(stage.needs_text for stage in self.stages)

    @property
    def prunes_units(self) -> bool:
        """Whether any stage prunes heads or nodes, so that the network becomes smaller."""
        return any(entry.sublayers for stage in self.stages for entry in stage.pruning)

    @property
    def learns_from_translations(self) -> bool:
        """Whether any stage is retrained on the uncompressed model's translations."""
        return any(stage.learns_from_translations for stage in self.stages)
