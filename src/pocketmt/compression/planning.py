"""Resolution of a recipe for a network; recipes that cannot be executed are refused here."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from pocketmt.compression.activations.estimation import plan_activations, plan_estimation
from pocketmt.compression.activations.matrix_inputs import plan_input_quantization
from pocketmt.compression.plan import Plan, PlannedStage, RowGroupAssignment
from pocketmt.compression.pruning.planning import (
    PlannedPruning,
    check_activations,
    check_sizes,
    check_zeros,
    plan_pruning,
)
from pocketmt.compression.retraining.factory import check_scheme
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.matrices.grouped_vectors import MAXIMUM_LENGTH
from pocketmt.quantization import Scheme
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.activations.static import StaticActivations
from pocketmt.quantization.registry import allowed_options, scheme_from_options
from pocketmt.recipes.activations import FullQuantization
from pocketmt.recipes.matrices import (
    VECTOR_KINDS,
    kinds_of,
    matching,
    matching_vectors,
    matrix_names,
    select,
    vector_lengths,
)
from pocketmt.recipes.pruning import FeedForwardNodes, Magnitude
from pocketmt.recipes.schema import ErrorCompensation, FullPrecision, Quantize, Recipe, Retraining, Stage


def make_plan(recipe: Recipe, architecture: Architecture) -> Plan:
    """Resolve a recipe for a network.

    Raises ConfigurationError, naming the place, where a pattern matches nothing, a scheme or its options are unknown,
    a matrix or vector is given two schemes, a stage does nothing, a method cannot retrain what is quantized, random
    weights are not trained first, or pruning does not go with what else a stage does.
    """
    if recipe.start == "random":
        _check_random_start(recipe.stages[0])
    planning = _Planning(architecture)
    return Plan(recipe, tuple(planning.stage(stage, index) for index, stage in enumerate(recipe.stages)))


def _check_random_start(stage: Stage) -> None:
    if not isinstance(stage.retraining, Retraining):
        raise ConfigurationError(
            "stages[0]: start is 'random', and untrained weights would be quantized: give this stage "
            "updates in [stages.retraining], or start from the trained model"
        )
    if any(isinstance(entry, FeedForwardNodes) for entry in stage.prune or ()):
        raise ConfigurationError(
            "stages[0].prune: start is 'random', and untrained nodes would be pruned: prune in a later stage"
        )


@dataclass
class _Planning:
    """The state of a network after the stages that have been resolved so far."""

    architecture: Architecture
    assignments: list[RowGroupAssignment] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)  # matrix or vector -> the entry that quantizes it
    pruning: dict[str, tuple[PlannedPruning, ...]] = field(default_factory=dict)  # by place
    sparse: set[str] = field(default_factory=set)
    activations: FullQuantization | None = None
    input_quantization: LogarithmicActivations | StaticActivations | None = None

    def stage(self, stage: Stage, index: int) -> PlannedStage:
        """Resolve the next stage; raises ConfigurationError as `make_plan` says."""
        place = f"stages[{index}]"
        estimation = plan_estimation(stage, place)
        pruning = self._prune(stage, place)
        if not (pruning or stage.quantize or stage.retraining or estimation or stage.matrix_inputs):
            raise ConfigurationError(f"{place}: it neither prunes, quantizes nor retrains: fill or remove it")
        earlier = len(self.assignments)
        for number, entry in enumerate(stage.quantize):
            self.assignments.append(self._assign(entry, f"{place}.quantize[{number}]"))
        self.activations = plan_activations(stage, self.activations, self.architecture, place)
        check_activations(self.pruning, self.activations)
        weights = any(not each.are_vectors for each in self.assignments)
        self.input_quantization = plan_input_quantization(
            stage, self.input_quantization, weights, self.activations is not None, place
        )
        method = stage.retraining
        compensation = method if isinstance(method, ErrorCompensation) else None
        retraining = None if isinstance(method, ErrorCompensation) else method
        self._check_method(stage, retraining, place)
        compensated = {name for each in self.assignments[earlier:] for name in each.names} if compensation else set()
        if self.sparse:
            check_zeros(self.sparse, self._schemes(), compensated, place)
        return PlannedStage(
            name=stage.name or str(index + 1),
            assignments=tuple(self.assignments),
            retraining=retraining,
            compensation=compensation,
            activations=self.activations,
            estimation=estimation,
            input_quantization=self.input_quantization,
            pruning=pruning,
            sparse=frozenset(self.sparse),
        )

    def _prune(self, stage: Stage, place: str) -> tuple[PlannedPruning, ...]:
        pruning = plan_pruning(stage, self.architecture, place)
        grouped = {name for each in self.assignments if each.are_vectors for name in each.names}
        check_sizes(pruning, self.architecture, grouped, place)
        self.pruning[place] = pruning
        for entry in pruning:
            if isinstance(entry.settings, Magnitude):
                self.sparse.update(entry.matrices)
        return pruning

    def _assign(self, entry: Quantize, where: str) -> RowGroupAssignment:
        schemes = entry_schemes(entry, where)
        names = _selected(entry, self.architecture, where)
        for name in names:
            if name in self.places:
                raise ConfigurationError(
                    f"{where}: {name} already has a scheme from {self.places[name]}: name it in only one of them"
                )
            self.places[name] = where
        return RowGroupAssignment(tuple(names), schemes, entry.frequency_ratio, entry.matrices is msgspec.UNSET)

    def _schemes(self) -> dict[str, Scheme]:
        return {name: each.schemes[0] for each in self.assignments for name in each.names}

    def _check_method(self, stage: Stage, retraining: Retraining | None, place: str) -> None:
        """Raise ConfigurationError where a method cannot work with what is quantized."""
        if retraining is None:
            matrices = any(entry.matrices is not msgspec.UNSET for entry in stage.quantize)
            if stage.retraining is not None and not matrices:
                raise ConfigurationError(
                    f"{place}: no matrix is quantized, so there is no error to compensate: add [[stages.quantize]] "
                    "with matrices, or leave out [stages.retraining]"
                )
            return
        where = f"{place}.retraining"
        if isinstance(retraining, FullPrecision) and self.assignments:
            name = self.assignments[0].names[0]
            raise ConfigurationError(
                f"{where}: method 'none' trains in full precision, but {name} is quantized by {self.places[name]}: "
                "choose another method, or leave out [stages.retraining] for quantization after training"
            )
        if not isinstance(retraining, FullPrecision) and not self.assignments:
            raise ConfigurationError(f"{where}: nothing is quantized that it can retrain: choose method 'none'")
        for each in self.assignments:
            for scheme in each.schemes:
                check_scheme(retraining, scheme, f"{where}: {each.names[0]} ({self.places[each.names[0]]})")
        if retraining.precision != "float32" and (self.activations is not None or self.input_quantization is not None):
            raise ConfigurationError(
                f"{where}.precision: {retraining.precision} rounds activations, which are quantized here: "
                "choose float32"
            )


def _selected(entry: Quantize, architecture: Architecture, where: str) -> list[str]:
    """Return the matrices, or the vectors, that an entry names, each once, in the network's order."""
    if entry.matrices is not msgspec.UNSET:
        names, kinds = matrix_names(architecture), kinds_of(architecture)
        found = select(names, entry.matrices, matching, kinds, f"{where}.matrices")
    else:
        assert entry.vectors is not msgspec.UNSET
        lengths = vector_lengths(architecture)
        names = list(lengths)
        matched = select(names, entry.vectors, matching_vectors, VECTOR_KINDS, f"{where}.vectors")
        found = [name for name in matched if lengths[name] <= MAXIMUM_LENGTH]  # A model file holds others in fp32.
        if not found:
            raise ConfigurationError(
                f"{where}.vectors: {matched[0]} has {lengths[matched[0]]} elements, at most {MAXIMUM_LENGTH} can be "
                "quantized: leave it out"
            )
    if entry.frequency_ratio is not None and not set(found) <= {*matching(names, "embedding")}:
        raise ConfigurationError(
            f"{where}.frequency_ratio: only the embedding's rows are words: give other matrices a separate entry"
        )
    return found


def entry_schemes(entry: Quantize, where: str) -> tuple[Scheme, ...]:
    """Return an entry's schemes: one, or one for each cluster of words.

    Raises ConfigurationError, naming `where`, for options that the scheme does not have, or a cluster's bits.
    """
    options = dict(entry.options)
    for reserved in ("bits", "granularity"):
        if reserved in options:
            raise ConfigurationError(f"{where}.options: {reserved} belongs next to `scheme`, not among its options")
    if entry.granularity is not None:
        options["granularity"] = entry.granularity
    try:
        schemes = [scheme_from_options(entry.scheme, bits=entry.bits, **options)]
        if entry.frequency_ratio is not None:
            widths = range(entry.bits - 1, 0, -1)
            _check_widths(entry, widths)
            schemes += [scheme_from_options(entry.scheme, bits=bits, **options) for bits in widths]
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    return tuple(schemes)


def _check_widths(entry: Quantize, widths: Sequence[int]) -> None:
    known = allowed_options(entry.scheme)["bits"] or ()
    missing = [bits for bits in widths if bits not in known]
    if missing:
        raise ConfigurationError(
            f"frequency_ratio needs a scheme that has {', '.join(map(str, (entry.bits, *widths)))} bits, and "
            f"{entry.scheme} does not have {missing[0]}: choose binary, with at most 4 bits, or leave it out"
        )
