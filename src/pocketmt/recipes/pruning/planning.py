"""The pruning of a recipe's stages, resolved for a network; what cannot be is refused here."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.recipes.activations.fully_quantized import FullQuantization
from pocketmt.recipes.description.matrices import kinds_of, matching, matrix_names, select
from pocketmt.recipes.description.pruning import FeedForwardNodes, GroupLasso, Magnitude, Pruning
from pocketmt.recipes.description.schema import FullPrecision, Stage
from pocketmt.recipes.pruning.sublayers import Sublayer, prunable_sublayers

# Its zero is a code; no other scheme has that for certain.
WITH_ZERO = "uniform"


@dataclass(frozen=True)
class PlannedPruning:
    """An entry, with what it is about: whole sub-layers, or matrices where single weights become zero."""

    settings: Pruning
    sublayers: tuple[Sublayer, ...] = ()
    matrices: tuple[str, ...] = ()

    @property
    def needs_text(self) -> bool:
        """Whether nodes are chosen by what they do on some text."""
        settings = self.settings
        return isinstance(settings, FeedForwardNodes) and settings.criterion == "largest_activation"


def plan_pruning(stage: Stage, architecture: Architecture, place: str) -> tuple[PlannedPruning, ...]:
    """Resolve a stage's pruning for a network.

    Raises ConfigurationError, naming the place, where a pattern matches nothing, or not what its method prunes, where
    matrices are in two entries of one method, or retraining is not what a method needs.
    """
    planned: list[PlannedPruning] = []
    for number, settings in enumerate(stage.prune or ()):
        where = f"{place}.prune[{number}]"
        names = matrix_names(architecture)
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
    """Return the sub-layers that matrices are all of; nodes are feed-forward layers' alone."""
    what = "feed-forward layers" if isinstance(settings, FeedForwardNodes) else "attentions or feed-forward layers"
    some = []
    left = set(found)
    for sublayer in prunable_sublayers(architecture):
        if isinstance(settings, FeedForwardNodes) and not sublayer.is_feed_forward:
            continue
        if set(sublayer.matrices) <= set(found):
            some.append(sublayer)
            left -= set(sublayer.matrices)
    for name in found:
        if name in left:
            raise ConfigurationError(
                f"{where}.matrices: {name} is not all of one of the {what}, which this method prunes as a whole: give "
                "a sub-layer type, or a pattern such as 'encoder.layers.0.feed_forward.*'"
            )
    return tuple(some)


def _check_retraining(settings: GroupLasso | Magnitude, stage: Stage, where: str) -> None:
    method = type(settings).__struct_config__.tag
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


def _check_alone(entry: PlannedPruning, others: Sequence[PlannedPruning], where: str) -> None:
    """Raise ConfigurationError unless one entry alone prunes each matrix while training, and all by one method."""
    for other in others:
        if isinstance(other.settings, FeedForwardNodes):
            continue
        if type(other.settings) is not type(entry.settings):
            raise ConfigurationError(f"{where}: group_lasso and magnitude do not go together: give each its own stage")
        for name in entry.matrices:
            if name in other.matrices:
                raise ConfigurationError(f"{where}: {name} is pruned by an entry before: name it in one of them alone")


def check_sizes(
    pruning: Iterable[PlannedPruning], architecture: Architecture, stacked: Collection[str], place: str
) -> None:
    """Raise ConfigurationError where pruning changes the length of a vector that is in a stack of an earlier stage."""
    shapes = architecture.parameter_shapes()
    for entry in pruning:
        for sublayer in entry.sublayers:
            for name in sublayer.biases(shapes):
                if name in stacked:
                    raise ConfigurationError(
                        f"{place}.prune: {name} is quantized by an earlier stage, and would lose elements: prune "
                        "first, and quantize vectors in a later stage"
                    )


def check_activations(pruning: Mapping[str, Iterable[PlannedPruning]], activations: FullQuantization | None) -> None:
    """Raise ConfigurationError where a network whose activations are quantized loses heads, or single ranges.

    Args:
        pruning: of the stages so far, by their places.
        activations: which are quantized; None: none are.
    """
    if activations is None:
        return
    for place, entries in pruning.items():
        for sublayer in (sublayer for entry in entries for sublayer in entry.sublayers):
            if not sublayer.is_feed_forward:
                raise ConfigurationError(
                    f"{place}.prune: {sublayer.name} may lose heads, and fully quantized networks have equally many in "
                    "every layer: prune feed-forward layers alone, or leave [stages.activations] out"
                )
            if "relu_output" in activations.bucketed:
                raise ConfigurationError(
                    f"{place}.prune: relu_output has a range for every node, and nodes of {sublayer.name} may go: "
                    "leave it out of bucketed"
                )


def check_zeros(sparse: Collection[str], schemes: Mapping[str, str], compensated: Collection[str], place: str) -> None:
    """Raise ConfigurationError where zeros that magnitude pruning made would become something else.

    Args:
        sparse: matrices with such zeros.
        schemes: name of a scheme of each quantized matrix.
        compensated: matrices whose codes the stage chooses by error compensation.
        place: of the stage.
    """
    for name in sparse:
        scheme = schemes.get(name)
        if scheme is not None and (scheme != WITH_ZERO or name in compensated):
            what = "error_compensation" if name in compensated else scheme
            raise ConfigurationError(
                f"{place}: weights of {name} were pruned to zero, which {what} does not keep: quantize it by "
                f"{WITH_ZERO}, without error compensation"
            )
