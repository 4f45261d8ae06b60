"""A recipe resolved against a network: each stage's matrices and schemes; what cannot be is refused here."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import msgspec

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.vectors import stack_name
from pocketmt.quantization import Scheme
from pocketmt.quantization.frequency_clusters import frequency_clusters
from pocketmt.quantization.log_activations import LogarithmicActivations
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.static_activations import StaticActivations
from pocketmt.recipes.activations.estimation import Estimation, plan_activations, plan_estimation
from pocketmt.recipes.activations.fully_quantized import FullQuantization
from pocketmt.recipes.activations.products import plan_products
from pocketmt.recipes.description.matrices import (
    VECTOR_KINDS,
    kinds_of,
    matching,
    matching_vectors,
    matrix_names,
    select,
    vector_lengths,
)
from pocketmt.recipes.description.pruning import FeedForwardNodes, Magnitude
from pocketmt.recipes.description.schema import (
    ErrorCompensation,
    FullPrecision,
    Quantize,
    Recipe,
    Retraining,
    Stage,
)
from pocketmt.recipes.pruning.planning import (
    PlannedPruning,
    check_activations,
    check_sizes,
    check_zeros,
    plan_pruning,
)
from pocketmt.recipes.retraining.methods import check_scheme
from pocketmt.recipes.row_groups import RowGroup

EMBEDDING = "embedding.weight"


@dataclass(frozen=True)
class Division:
    """How a matrix is divided into row groups: one scheme for all rows, or one a cluster of words, most frequent first.

    The number of words in each cluster is `ratio` times that of the one before ([B2], algorithm 1). Of a stack,
    `vectors` are the rows.
    """

    schemes: tuple[Scheme, ...]
    ratio: int | None = None
    vectors: tuple[str, ...] = ()

    def groups(self, counts: Sequence[int]) -> tuple[RowGroup, ...]:
        """Return the row groups; `counts` says how often each word occurs, by row, where there is a ratio."""
        if self.ratio is None:
            return (RowGroup(self.schemes[0], vectors=self.vectors),)
        by_bits = {scheme.bits: scheme for scheme in self.schemes}
        clusters = frequency_clusters(counts, len(self.schemes), self.ratio)
        return tuple(RowGroup(by_bits[cluster.bits], cluster.rows) for cluster in clusters)


@dataclass(frozen=True)
class PlannedStage:
    """A stage whose every matrix is known, stacks of vectors among them; what earlier stages quantized is in too."""

    name: str
    matrices: dict[str, Division]
    retraining: Retraining | None
    compensation: ErrorCompensation | None = None
    activations: FullQuantization | None = None  # of this stage, or of an earlier one
    estimation: Estimation | None = None  # where this stage is the first that quantizes activations
    products: LogarithmicActivations | StaticActivations | None = None  # of this stage, or of an earlier one
    pruning: tuple[PlannedPruning, ...] = ()  # of this stage
    sparse: frozenset[str] = frozenset()  # matrices with zeros that this stage, or an earlier one, makes and keeps


def make_plan(recipe: Recipe, architecture: Architecture) -> list[PlannedStage]:
    """Resolve a recipe for a network; after pruning, for what it left: names are the same, lengths of vectors are not.

    Raises ConfigurationError, naming the place, where a pattern matches nothing, a scheme or its options are unknown,
    a matrix or vector is given two schemes, a stage does nothing, a method cannot retrain what is quantized, random
    weights are not trained first, or pruning does not go with what else a stage does.
    """
    if recipe.start == "random":
        _check_random_start(recipe.stages[0])
    planning = _Planning(architecture)
    return [planning.stage(stage, index) for index, stage in enumerate(recipe.stages)]


def _check_random_start(stage: Stage) -> None:
    if not isinstance(stage.retraining, Retraining):
        raise ConfigurationError(
            "stages[0]: start is 'random', and weights that nothing has trained would be quantized: give this stage "
            "updates in [stages.retraining], or start from the trained model"
        )
    if any(isinstance(entry, FeedForwardNodes) for entry in stage.prune or ()):
        raise ConfigurationError(
            "stages[0].prune: start is 'random', and nodes that nothing has trained would go: prune in a later stage"
        )


@dataclass
class _Planning:
    """What the stages so far make of a network."""

    architecture: Architecture
    matrices: dict[str, Division] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)  # matrix or vector -> which entry quantizes it
    pruning: dict[str, tuple[PlannedPruning, ...]] = field(default_factory=dict)  # by place
    sparse: set[str] = field(default_factory=set)
    activations: FullQuantization | None = None
    products: LogarithmicActivations | StaticActivations | None = None

    def stage(self, stage: Stage, index: int) -> PlannedStage:
        """Resolve the next stage; raises ConfigurationError as `make_plan` says."""
        place, name = f"stages[{index}]", stage.name or str(index + 1)
        estimation = plan_estimation(stage, place)
        pruning = self._prune(stage, place)
        if not (pruning or stage.quantize or stage.retraining or estimation or stage.products):
            raise ConfigurationError(f"{place}: it neither prunes, quantizes nor retrains: let it, or remove it")
        before = set(self.matrices)
        for number, entry in enumerate(stage.quantize):
            self._quantize(entry, f"{place}.quantize[{number}]")
        self.activations = plan_activations(stage, self.activations, self.architecture, place)
        check_activations(self.pruning, self.activations)
        weights = any(not division.vectors for division in self.matrices.values())
        self.products = plan_products(stage, self.products, weights, self.activations is not None, place)
        method, compensation = stage.retraining, None
        if isinstance(method, ErrorCompensation):
            if not stage.quantize:
                raise ConfigurationError(f"{place}: nothing is quantized whose errors it could compensate")
            method, compensation = None, method
        elif method is not None:
            _check_method(method, self.matrices, self.places, f"{place}.retraining")
            if method.precision != "float32" and (self.activations is not None or self.products is not None):
                raise ConfigurationError(
                    f"{place}.retraining.precision: {method.precision} rounds activations, which are quantized here: "
                    "choose float32"
                )
        compensated = self.matrices.keys() - before if compensation is not None else ()
        check_zeros(self.sparse, self._schemes(), compensated, place)
        return PlannedStage(
            name,
            dict(self.matrices),
            method,
            compensation,
            self.activations,
            estimation,
            self.products,
            pruning,
            frozenset(self.sparse),
        )

    def _prune(self, stage: Stage, place: str) -> tuple[PlannedPruning, ...]:
        pruning = plan_pruning(stage, self.architecture, place)
        stacked = {vector for division in self.matrices.values() for vector in division.vectors}
        check_sizes(pruning, self.architecture, stacked, place)
        self.pruning[place] = pruning
        for entry in pruning:
            if isinstance(entry.settings, Magnitude):
                self.sparse.update(entry.matrices)
        return pruning

    def _quantize(self, entry: Quantize, where: str) -> None:
        division = make_division(entry, where)
        selected = _selected(entry, self.architecture, where)
        for name in selected:
            if name in self.places:
                raise ConfigurationError(
                    f"{where}: {name} has its scheme from {self.places[name]} already: name it in one of them alone"
                )
            self.places[name] = where
        stacks = sum(bool(each.vectors) for each in self.matrices.values())
        divided = _divided(selected, division, self.architecture, stacks)
        self.matrices |= divided
        self.places |= dict.fromkeys(divided, where)

    def _schemes(self) -> dict[str, str]:
        return {name: division.schemes[0].name for name, division in self.matrices.items()}


def _selected(entry: Quantize, architecture: Architecture, where: str) -> list[str]:
    """Return the matrices, or the vectors, that an entry names, each once, in the network's order."""
    if entry.matrices is not msgspec.UNSET:
        names, kinds = matrix_names(architecture), kinds_of(architecture)
        found = select(names, entry.matrices, matching, kinds, f"{where}.matrices")
    else:
        assert entry.vectors is not msgspec.UNSET
        names = list(vector_lengths(architecture))
        found = select(names, entry.vectors, matching_vectors, VECTOR_KINDS, f"{where}.vectors")
    if entry.frequency_ratio is not None and found != [EMBEDDING]:
        raise ConfigurationError(
            f"{where}.frequency_ratio: only the embedding's rows are words: give other matrices an entry of their own"
        )
    return found


def _divided(selected: list[str], division: Division, architecture: Architecture, stacks: int) -> dict[str, Division]:
    """Return the division of each matrix, or of each stack of vectors of one length, where `stacks` are there already.

    Stacks are named as the model file names them.
    """
    lengths = vector_lengths(architecture)
    if selected[0] not in lengths:
        return dict.fromkeys(selected, division)
    by_length: dict[int, list[str]] = {}
    for name in selected:
        by_length.setdefault(lengths[name], []).append(name)
    return {
        stack_name(stacks + index): replace(division, vectors=tuple(names))
        for index, names in enumerate(by_length.values())
    }


def make_division(entry: Quantize, where: str) -> Division:
    """Return how an entry divides its matrices; ConfigurationError, naming `where`, for what its scheme has not."""
    options = dict(entry.options)
    for reserved in ("bits", "granularity"):
        if reserved in options:
            raise ConfigurationError(f"{where}.options: {reserved} belongs beside `scheme`, not among its options")
    if entry.granularity is not None:
        options["granularity"] = entry.granularity
    widths = [entry.bits] if entry.frequency_ratio is None else range(entry.bits, 0, -1)
    try:
        schemes = tuple(scheme_from_options(entry.scheme, bits=bits, **options) for bits in widths)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    return Division(schemes, entry.frequency_ratio)


def _check_method(retraining: Retraining, matrices: dict[str, Division], places: dict[str, str], where: str) -> None:
    if isinstance(retraining, FullPrecision) and matrices:
        name = next(iter(matrices))
        raise ConfigurationError(
            f"{where}: method 'none' trains in full precision, but {name} is quantized by {places[name]}: "
            "choose another method, or leave out [stages.retraining] for quantization after training"
        )
    if not isinstance(retraining, FullPrecision) and not matrices:
        raise ConfigurationError(f"{where}: nothing is quantized that it could retrain: choose method 'none'")
    for name, division in matrices.items():
        for scheme in division.schemes:
            check_scheme(retraining, scheme, f"{where}: {name} ({places[name]})")
