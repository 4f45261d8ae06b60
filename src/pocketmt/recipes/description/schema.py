"""A recipe: how a trained model is made small, as typed structs read from TOML. The only place of recipes' defaults.

    name = "log4"
    [[stages]]
    [[stages.quantize]]
    matrices = ["embedding", "encoder.self_attention", "decoder.*"]
    scheme = "logarithmic"
    bits = 4
    [stages.retraining]
    method = "error_feedback"
    updates = 2000
    learning_rate = { rate = 3e-4, schedule = "linear" }

Stages go one after the other. What a stage quantizes stays quantized, and goes on being retrained in later stages by
their methods ([B4]: "in each phase, compressed blocks of previous phases are also targeted").
"""

from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from pocketmt.errors import ConfigurationError
from pocketmt.recipes.description.explanation import explain
from pocketmt.recipes.description.pruning import Pruning, limit_pruning
from pocketmt.recipes.description.strict import Fraction, Name, NotNegative, Positive, PositiveFloat, Strict
from pocketmt.training.configuration import Precision


class Quantize(Strict, frozen=True, kw_only=True):
    """Some matrices, or some vectors, and their scheme."""

    # Sub-layer types (`KINDS` of `description.matrices`) or patterns of full matrix names; each must match something.
    matrices: Annotated[list[Name], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    # In their place "biases", "norms" (both parameters of LayerNorm) or patterns of full names. Vectors of one length
    # are the rows of one matrix, so that granularity "row" means a vector and "matrix" all of the entry of one length.
    vectors: Annotated[list[Name], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    scheme: Name
    bits: Annotated[int, Meta(ge=1, le=8)]
    granularity: Literal["row", "matrix"] | None = None  # None: the scheme's own
    options: dict[str, object] = msgspec.field(default_factory=dict)  # of the scheme
    # The embedding alone: rows fall into clusters of `bits`, .., 1 bits by word frequency, sizes 1 : r : r^2 .. ([B2]).
    frequency_ratio: Positive | None = None

    def __post_init__(self) -> None:
        if (self.matrices is msgspec.UNSET) == (self.vectors is msgspec.UNSET):
            raise ValueError("give `matrices` or `vectors`, one of the two")


class LearningRate(Strict, frozen=True, kw_only=True):
    """Learning rate over a stage's updates (`pocketmt.training.schedule.stage_rate`).

    "inverse_square_root" with `constant_updates` and no warm-up is [B4], eq. 3.
    """

    rate: PositiveFloat
    schedule: Literal["constant", "inverse_square_root", "linear"] = "constant"
    warmup_updates: NotNegative = 0  # linear from 0
    constant_updates: NotNegative = 0  # the last update at the full rate, counted from the stage's first


class _Retraining(Strict, frozen=True, kw_only=True):
    """What every method needs to know; None: as the run was trained."""

    updates: Positive
    learning_rate: LearningRate
    # Distillation: the uncompressed model teaches ([E1]); by its words on the references, by its own translations in
    # their place, or by its words on its own translations.
    objective: Literal[
        "references", "word_distillation", "mixed", "sequence_distillation", "word_and_sequence_distillation"
    ] = "references"
    references_share: Fraction = 0.5  # of the loss, where the objective is mixed
    batch_tokens: Positive | None = None
    label_smoothing: Fraction | None = None
    clip_norm: PositiveFloat | None = None
    dropout_scale: Annotated[float, Meta(ge=0, le=1)] = 1.0  # times the rates that the run was trained with
    # Mixed: products read bfloat16, of weights and of quantized weights, and all else stays float32; what is validated
    # and stored is float32's. For processors with units for it.
    precision: Precision = "float32"
    validate_every: Positive = 500  # updates
    checkpoint_every: Positive = 100  # updates, between validations


class FullPrecision(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="none"):
    """No weight is quantized: the control, which gives the fp32 model the same extra updates."""


class StraightThrough(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="straight_through"):
    """Fake quantization at every update; full-precision weights get the quantized weights' gradient.

    Parameters are refitted (every `refit_every` updates), trained from their fit (centroids: [Z2], BS-Flexible; the
    factors of binary codes), or fixed as fitted ([Z2], BS-Fixed).
    """

    parameters: Literal["refitted", "trained", "fixed"] = "refitted"
    refit_every: Positive = 1


class TrainedParameters(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="trained_parameters"):
    """Codes stay as fitted; the scheme's parameters are trained: a centroid's gradient is its weights' sum ([Z1])."""


class ErrorFeedback(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="error_feedback"):
    """Weights are quantized after every `period` updates; the residual is kept and added before the next ([L3]).

    Parameters are refitted at every `refit_every`-th quantization; 0: fitted once, at the start. The paper refits at
    each (section 3.3); a log scale has many standstills, and jumps between them undo what was learnt.
    """

    period: Positive = 1
    refit_every: NotNegative = 0


class Periodic(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="periodic"):
    """Full-precision weights are trained, and quantized every `period` updates, pNR ([B4]); no residual is kept.

    Parameters are refitted at every `refit_every`-th quantization; 0: fitted once, at the start.
    """

    period: Positive
    refit_every: NotNegative = 1


SEQUENCE_OBJECTIVES: Final = ("sequence_distillation", "word_and_sequence_distillation")
Retraining = FullPrecision | StraightThrough | TrainedParameters | ErrorFeedback | Periodic


class ErrorCompensation(Strict, frozen=True, kw_only=True, tag_field="method", tag="error_compensation"):
    """No retraining: codes are chosen such that a layer's outputs on some sentences change little (GPTQ)."""

    sentences: Positive = 256  # of the training text, drawn by the recipe's seed


DELAY: Final = 100  # "from the start" ([Q5], paper Q, section 5.3)
BATCHES: Final = 300  # "a few hundred steps" (the same)
TRIALS: Final = 20  # paper Q, section 5.1


class Activations(Strict, frozen=True, kw_only=True):
    """Which operations are quantized, and when [Q1-Q5]; `pocketmt.recipes.activations.fully_quantized` names them."""

    bits: Annotated[int, Meta(ge=2, le=8)]
    # "strategy": those of paper Q, section 3.2; "naive": every operation.
    operations: Literal["strategy", "naive"] | Annotated[list[Name], Meta(min_length=1)] = "strategy"
    bucketed: bool | list[Name] = True  # true: wherever the paper has buckets; false: nowhere
    # Patterns of the names of places in the network; operations are quantized in these alone.
    modules: Annotated[list[Name], Meta(min_length=1)] = msgspec.field(default_factory=lambda: ["*"])
    # Operations whose gradient passes where values are clamped; true: all, false: none.
    clamped_gradient: bool | list[Name] = msgspec.field(default_factory=lambda: ["layer_norm_denominator"])
    # With retraining: updates in which ranges are estimated and nothing of this stage is quantized; None: DELAY.
    delay: NotNegative | None = None
    # Without: batches on which ranges are estimated, and how often; the best on the validation text is kept.
    batches: Positive | None = None  # None: BATCHES
    trials: Positive | None = None  # None: TRIALS


class LogarithmicProducts(Strict, frozen=True, kw_only=True, tag_field="scheme", tag="logarithmic"):
    """Activations on a fixed log scale where they come to a product with quantized weights [L5]."""

    bits: Annotated[int, Meta(ge=1, le=4)]
    # S, the largest magnitude; the paper has "fixed predetermined" scales (3.5), and uses 1: "we do not scale" (4.3).
    scale: Annotated[float, Meta(ge=2**-20, le=2**20)] = 1.0


class StaticProducts(Strict, frozen=True, kw_only=True, tag_field="scheme", tag="uniform"):
    """Activations in 8 bits where they come to a product with quantized weights, at scales calibrated beforehand [E6].

    Each product's input has a scale of its own, found when the first stage that quantizes its weights begins.
    """

    bits: Literal[8] = 8
    sentences: Positive = 256  # of the training text, drawn by the recipe's seed


Products = LogarithmicProducts | StaticProducts


class Stage(Strict, frozen=True, kw_only=True):
    """One step: what is pruned, what is quantized from here on, and the retraining, if any."""

    name: str = ""
    prune: list[Pruning] | msgspec.UnsetType = msgspec.UNSET
    quantize: list[Quantize] = msgspec.field(default_factory=list)
    activations: Activations | msgspec.UnsetType = msgspec.UNSET  # unset: as the stage before has them
    products: Products | msgspec.UnsetType = msgspec.UNSET  # the same
    retraining: Retraining | ErrorCompensation | None = None  # None: quantized after training, and left so


class Recipe(Strict, frozen=True, kw_only=True):
    """A whole way from a trained model to a small one."""

    name: Name
    stages: Annotated[list[Stage], Meta(min_length=1)]
    paper: str = ""  # row and table whose result it is
    description: str = ""
    seed: int = 1  # of batches and dropout, and of the weights of a random start
    # "random": fresh weights in place of the run's, trained with what the recipe quantizes ([Q5]; [L4], Table 2).
    start: Literal["trained", "random"] = "trained"


def read_recipe(path: Path) -> Recipe:
    """Read a TOML file; ConfigurationError names file, place and what is allowed there."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Recipe)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {explain(str(error), Recipe)}") from error


def limit_updates(recipe: Recipe, most: int) -> Recipe:
    """Return the recipe with no stage of more than `most` updates, or trials or batches of these: for a trial."""
    stages = []
    for stage in recipe.stages:
        retraining, activations = stage.retraining, stage.activations
        if isinstance(retraining, Retraining) and retraining.updates > most:
            retraining = msgspec.structs.replace(retraining, updates=most)
            if isinstance(activations, Activations):
                delay = DELAY if activations.delay is None else activations.delay
                activations = msgspec.structs.replace(activations, delay=min(delay, most // 2))
        if isinstance(activations, Activations) and retraining is None:
            batches, trials = activations.batches or BATCHES, activations.trials or TRIALS
            activations = msgspec.structs.replace(activations, batches=min(most, batches), trials=min(most, trials))
        if stage.prune is not msgspec.UNSET:
            stage = msgspec.structs.replace(stage, prune=[limit_pruning(entry, most) for entry in stage.prune])
        stages.append(msgspec.structs.replace(stage, retraining=retraining, activations=activations))
    return msgspec.structs.replace(recipe, stages=stages)


def set_precision(recipe: Recipe, precision: Precision) -> Recipe:
    """Return the recipe with all its updates in one precision."""
    stages = [
        msgspec.structs.replace(stage, retraining=msgspec.structs.replace(stage.retraining, precision=precision))
        if isinstance(stage.retraining, Retraining)
        else stage
        for stage in recipe.stages
    ]
    return msgspec.structs.replace(recipe, stages=stages)
