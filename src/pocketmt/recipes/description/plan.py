"""A recipe resolved against a network: each stage's matrices and schemes; what cannot be is refused here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    vector_lengths,
)
from pocketmt.recipes.description.schema import ErrorCompensation, FullPrecision, Quantize, Recipe, Retraining
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


def make_plan(recipe: Recipe, architecture: Architecture) -> list[PlannedStage]:
    """Resolve a recipe for a network.

    Raises ConfigurationError, naming the place, where a pattern matches nothing, a scheme or its options are unknown,
    a matrix or vector is given two schemes, a stage does nothing, a method cannot retrain what is quantized, or random
    weights are not trained first.
    """
    if recipe.start == "random" and not isinstance(recipe.stages[0].retraining, Retraining):
        raise ConfigurationError(
            "stages[0]: start is 'random', and weights that nothing has trained would be quantized: give this stage "
            "updates in [stages.retraining], or start from the trained model"
        )
    matrices: dict[str, Division] = {}
    places: dict[str, str] = {}
    activations: FullQuantization | None = None
    products: LogarithmicActivations | StaticActivations | None = None
    plan = []
    for index, stage in enumerate(recipe.stages):
        place = f"stages[{index}]"
        estimation = plan_estimation(stage, place)
        if not (stage.quantize or stage.retraining or estimation or stage.products):
            raise ConfigurationError(f"{place}: it neither quantizes nor retrains: give it one of both, or remove it")
        for number, entry in enumerate(stage.quantize):
            where = f"{place}.quantize[{number}]"
            division = make_division(entry, where)
            selected = _selected(entry, architecture, where)
            for name in selected:
                if name in places:
                    raise ConfigurationError(
                        f"{where}: {name} has its scheme from {places[name]} already: name it in one of them alone"
                    )
                places[name] = where
            stacks = sum(bool(each.vectors) for each in matrices.values())
            divided = _divided(selected, division, architecture, stacks)
            matrices |= divided
            places |= dict.fromkeys(divided, where)
        activations = plan_activations(stage, activations, architecture, place)
        weights = any(not division.vectors for division in matrices.values())
        products = plan_products(stage, products, weights, activations is not None, place)
        method, name = stage.retraining, stage.name or str(index + 1)
        if isinstance(method, ErrorCompensation):
            if not stage.quantize:
                raise ConfigurationError(f"{place}: nothing is quantized whose errors it could compensate")
            plan.append(PlannedStage(name, dict(matrices), None, method, products=products))
            continue
        if method is not None:
            _check_method(method, matrices, places, f"{place}.retraining")
        plan.append(PlannedStage(name, dict(matrices), method, None, activations, estimation, products))
    return plan


def _selected(entry: Quantize, architecture: Architecture, where: str) -> list[str]:
    """Return the matrices, or the vectors, that an entry names, each once, in the network's order."""
    if entry.vectors is msgspec.UNSET:
        key, what, kinds, patterns, match = "matrices", "matrix", kinds_of(architecture), entry.matrices, matching
        names = matrix_names(architecture)
    else:
        key, what, kinds, patterns, match = "vectors", "vector", list(VECTOR_KINDS), entry.vectors, matching_vectors
        names = list(vector_lengths(architecture))
    assert patterns is not msgspec.UNSET
    found: set[str] = set()
    for pattern in patterns:
        matched = match(names, pattern)
        if not matched:
            raise ConfigurationError(
                f"{where}.{key}: {pattern!r:.120} matches no {what} of the network: give one of {', '.join(kinds)}, "
                f"or a pattern of names such as {names[-1]!r}"
            )
        found.update(matched)
    if entry.frequency_ratio is not None and found != {EMBEDDING}:
        raise ConfigurationError(
            f"{where}.frequency_ratio: only the embedding's rows are words: give other matrices an entry of their own"
        )
    return [name for name in names if name in found]


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
