"""Resolution of a stage's pruning for a network; pruning that cannot be executed is refused here."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pocketmt.compression.pruning.sublayers import Sublayer, prunable_sublayers
from pocketmt.errors import ConfigurationError, OtherNetworkError
from pocketmt.model_file.architecture import Architecture
from pocketmt.quantization import Scheme
from pocketmt.quantization.registry import SCHEMES
from pocketmt.recipes.activations import FullQuantization
from pocketmt.recipes.matrices import kinds_of, matching, matrix_names, select
from pocketmt.recipes.pruning import FeedForwardNodes, GroupLasso, Magnitude, Pruning
from pocketmt.recipes.schema import FullPrecision, Stage


@dataclass(frozen=True)
class PlannedPruning:
    """An entry of a recipe with its targets: whole sub-layers, or matrices whose single weights become zero."""

    settings: Pruning
    sublayers: tuple[Sublayer, ...] = ()
    matrices: tuple[str, ...] = ()

    @property
    def needs_text(self) -> bool:
        """Whether nodes are chosen by their activations on some text."""
        settings = self.settings
        return isinstance(settings, FeedForwardNodes) and settings.criterion == "largest_activation"


def plan_pruning(stage: Stage, architecture: Architecture, place: str) -> tuple[PlannedPruning, ...]:
    """Resolve a stage's pruning for a network.

    Raises ConfigurationError, naming the place, where a pattern matches nothing or something that its method cannot
    prune, where two entries of one method name the same matrix, or where the retraining does not suit the method.
    """
    planned: list[PlannedPruning] = []
    for number, settings in enumerate(stage.prune or ()):
        where = f"{place}.prune[{number}]"
        names = matrix_names(architecture)
        if not isinstance(settings, Magnitude) and not prunable_sublayers(architecture):
            raise OtherNetworkError(
                f"{where}: {_method(settings)} removes heads and nodes of Transformers, and this network is not one",
                "choose another recipe, or method 'magnitude'",
            )
        found = select(names, settings.matrices, matching, kinds_of(architecture), f"{where}.matrices")
        if isinstance(settings, Magnitude):
            entry = PlannedPruning(settings, matrices=tuple(found))
        else:
            entry = PlannedPruning(settings, _whole_sublayers(settings, found, architecture, where), tuple(found))
        if not isinstance(settings, FeedForwardNodes):
            _check_retraining(settings, stage, where)
            _check_alone(entry, planned, where)
        planned.append(entry)
    return tuple(planned)


def _whole_sublayers(
    settings: FeedForwardNodes | GroupLasso, found: Sequence[str], architecture: Architecture, where: str
) -> tuple[Sublayer, ...]:
    """Return the sub-layers whose matrices are all named; only feed-forward layers have nodes."""
    what = "feed-forward layers" if isinstance(settings, FeedForwardNodes) else "attentions or feed-forward layers"
    some = []
    left, parts = set(found), set()
    for sublayer in prunable_sublayers(architecture):
        if isinstance(settings, FeedForwardNodes) and not sublayer.is_feed_forward:
            continue
        parts |= set(sublayer.matrices)
        if set(sublayer.matrices) <= set(found):
            some.append(sublayer)
            left -= set(sublayer.matrices)
    for name in found:
        if name not in parts:
            raise ConfigurationError(
                f"{where}.matrices: {name} belongs to none of the {what}, and this method prunes "
                "nothing else: leave it out"
            )
        if name in left:
            raise ConfigurationError(
                f"{where}.matrices: {name} is only a part of one of the {what}, which this method prunes as a whole: "
                "give a sub-layer type, or a pattern such as 'encoder.layers.0.feed_forward.*'"
            )
    return tuple(some)


def _check_retraining(settings: GroupLasso | Magnitude, stage: Stage, where: str) -> None:
    method = _method(settings)
    if not isinstance(stage.retraining, FullPrecision):
        raise ConfigurationError(
            f"{where}: {method} prunes while the stage trains in full precision: give it [stages.retraining] with "
            "method 'none', and quantize in a later stage"
        )
    if isinstance(settings, Magnitude) and settings.steps * settings.period > stage.retraining.updates:
        raise ConfigurationError(
            f"{where}: {settings.steps} steps of {settings.period} updates take more than the stage's "
            f"{stage.retraining.updates}: the last share would never be reached"
        )


def _method(settings: Pruning) -> str:
    return str(type(settings).__struct_config__.tag)


def _check_alone(entry: PlannedPruning, others: Sequence[PlannedPruning], where: str) -> None:
    """Raise ConfigurationError unless each matrix is pruned by one entry while training, and all by one method."""
    for other in others:
        if isinstance(other.settings, FeedForwardNodes):
            continue
        if type(other.settings) is not type(entry.settings):
            raise ConfigurationError(f"{where}: group_lasso and magnitude cannot share a stage: use two stages")
        for name in entry.matrices:
            if name in other.matrices:
                raise ConfigurationError(f"{where}: {name} is already pruned by an earlier entry: name it in only one")


def check_sizes(
    pruning: Iterable[PlannedPruning], architecture: Architecture, quantized: Collection[str], place: str
) -> None:
    """Raise ConfigurationError where pruning would shorten a vector that an earlier stage quantizes."""
    shapes = architecture.parameter_shapes()
    for entry in pruning:
        for sublayer in entry.sublayers:
            for name in sublayer.biases(shapes):
                if name in quantized:
                    raise ConfigurationError(
                        f"{place}.prune: {name} is quantized by an earlier stage, and pruning would shorten it: prune "
                        "first, and quantize vectors in a later stage"
                    )


def check_activations(pruning: Mapping[str, Iterable[PlannedPruning]], activations: FullQuantization | None) -> None:
    """Raise ConfigurationError where a network with quantized activations would lose heads or single ranges.

    Args:
        pruning: of the stages so far, by place.
        activations: that are quantized; None: none are.
    """
    if activations is None:
        return
    for place, entries in pruning.items():
        for sublayer in (sublayer for entry in entries for sublayer in entry.sublayers):
            if not sublayer.is_feed_forward:
                raise ConfigurationError(
                    f"{place}.prune: {sublayer.name} may lose heads, but fully quantized networks have the same "
                    "number in every layer: prune only feed-forward layers, or leave [stages.activations] out"
                )
            if "relu_output" in activations.bucketed:
                raise ConfigurationError(
                    f"{place}.prune: relu_output has a range for every node, and nodes of {sublayer.name} may be "
                    "pruned: leave it out of bucketed"
                )


def check_zeros(
    sparse: Collection[str], schemes: Mapping[str, Scheme], compensated: Collection[str], place: str
) -> None:
    """Raise ConfigurationError where quantization would change zeros that magnitude pruning made.

    Args:
        sparse: the matrices with such zeros.
        schemes: a scheme of each quantized matrix.
        compensated: matrices whose codes the stage chooses by error compensation.
        place: of the stage.
    """
    for name in sparse:
        scheme = schemes.get(name)
        if scheme is not None and (not scheme.keeps_zero or name in compensated):
            what = "error_compensation" if name in compensated else scheme.name
            keeping = " or ".join(each for each, known in SCHEMES.items() if known.keeps_zero)
            raise ConfigurationError(
                f"{place}: weights of {name} were pruned to zero, which {what} does not preserve: quantize it by "
                f"{keeping}, without error compensation"
            )
