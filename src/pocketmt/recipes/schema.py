"""The schema of recipes, typed structs read from TOML, with all defaults. A recipe describes how a model is compressed.

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

Stages run in order. Matrices that a stage quantizes stay quantized, and later stages retrain them by their own methods
("in each phase, compressed blocks of previous phases are also targeted", Chung et al. 2020, section 4.1).
"""

from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from pocketmt.errors import ConfigurationError
from pocketmt.recipes.constrained_types import Fraction, Name, NotNegative, Positive, PositiveFloat, Strict
from pocketmt.recipes.pruning import Pruning, limit_pruning
from pocketmt.toml_file import read_toml
from pocketmt.training.configuration import Precision, Seed

EQUAL_WEIGHT: Final = 0.5  # of the cross-entropy and the divergence


class Quantize(Strict, frozen=True, kw_only=True):
    """Some matrices, or some vectors, and their scheme."""

    # Sub-layer types or patterns of full names.
    matrices: Annotated[list[Name], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    # "biases", "norms" or patterns of full names, instead of matrices. Vectors of one length are quantized as the rows
    # of one matrix: granularity "row" is a vector, "matrix" all vectors of one length in this entry.
    vectors: Annotated[list[Name], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    scheme: Name  # Name of a quantization scheme.
    bits: Annotated[int, Meta(ge=1, le=8)]  # Width of a code.
    granularity: Literal["row", "matrix"] | None = None  # Weights that share a scale; None: the scheme's default.
    options: dict[str, object] = msgspec.field(default_factory=dict)  # Further settings of the scheme.
    # Of the embedding: rows are divided by word frequency into clusters of `bits`, .., 1 bits and of sizes 1 : r : r^2
    # .. with this r (Chung et al. 2020, Algorithm 1).
    frequency_ratio: Positive | None = None

    def __post_init__(self) -> None:
        if (self.matrices is msgspec.UNSET) == (self.vectors is msgspec.UNSET):
            raise ValueError("give `matrices` or `vectors`, one of the two")
        if self.frequency_ratio is not None and self.bits == 1:
            raise ValueError("`frequency_ratio` has no effect with 1 bit, of which there is one cluster: leave it out")


class LearningRate(Strict, frozen=True, kw_only=True):
    """Learning rate over a stage's updates (`pocketmt.training.schedule.stage_rate`).

    "inverse_square_root" with `constant_updates` and no warm-up is Chung et al. 2020, eq. 3.
    """

    rate: PositiveFloat  # The highest rate.
    schedule: Literal["constant", "inverse_square_root", "linear"] = "constant"  # How the rate falls after the warm-up.
    warmup_updates: NotNegative = 0  # First updates, over which the rate rises linearly from 0.
    constant_updates: NotNegative = 0  # Number of the last update at the full rate, from the start of the stage.


class _Retraining(Strict, frozen=True, kw_only=True):
    """Settings of every retraining method; None: as the run was trained."""

    updates: Positive  # Updates of this stage.
    learning_rate: LearningRate  # Its rate and schedule.
    # What the model learns from: the references, or the uncompressed model (Kim and Rush 2016): its probabilities on
    # the references, its translations, or its probabilities on these.
    objective: Literal[
        "references", "word_distillation", "mixed", "sequence_distillation", "word_and_sequence_distillation"
    ] = "references"
    cross_entropy_weight: Fraction = EQUAL_WEIGHT  # Share of the cross-entropy in the loss of the objective "mixed".
    batch_tokens: Positive | None = None  # Replaces that of the run.
    label_smoothing: Fraction | None = None  # Replaces that of the run.
    clip_norm: PositiveFloat | None = None  # Replaces that of the run.
    dropout_scale: Annotated[float, Meta(ge=0, le=1)] = 1.0  # Factor of the run's dropout rates.
    # Mixed: operands of matrix products are rounded to bfloat16; weights, validation and results stay float32. Only
    # faster on processors with bfloat16 units.
    precision: Precision = "float32"
    validate_every: Positive = 500  # Updates between validations.
    checkpoint_every: Positive = 100  # Updates between checkpoints; one follows every validation, too.
    # If true, the stage may return its initial network, or the one with which quantization of activations begins, when
    # no later validation is better. If false, only when training diverges before the next validation.
    keep_start: bool = True


class FullPrecision(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="none"):
    """Train without quantization: the control, with the same number of extra updates."""


class StraightThrough(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="straight_through"):
    """Fake quantization at every update; full-precision weights get the gradient of the quantized weights.

    Parameters are refitted every `refit_every` updates, trained from their fit, or fixed as fitted. BS-Flexible trains
    and BS-Fixed fixes them (Cheong and Daniel 2019, section 3.1.2).
    """

    parameters: Literal["refitted", "trained", "fixed"] = "refitted"  # What happens to scales, levels and factors.
    refit_every: Positive = 1  # Updates between fits of refitted parameters.


class TrainedParameters(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="trained_parameters"):
    """Train the parameters of the scheme with fixed codes (Cheong and Daniel 2019, section 3.1.1)."""


class ErrorFeedback(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="error_feedback"):
    """Quantize weights after every `period` updates; the residual is kept, and added before the next quantization.

    Source: Aji and Heafield 2020, section 3.3. Parameters are refitted at every `refit_every`-th quantization; 0:
    fitted once, at the start. The paper refits at each. The fit of a log scale has many fixed points, and jumps between
    them undo what was learnt.
    """

    period: Positive = 1  # Updates between quantizations.
    refit_every: NotNegative = 0  # Quantizations between fits of the parameters; 0: fitted once, at the start.


class Periodic(_Retraining, frozen=True, kw_only=True, tag_field="method", tag="periodic"):
    """Quantize weights every `period` updates (pNR in Chung et al. 2020, section 4.1) without keeping the residual.

    Parameters are refitted as for `ErrorFeedback`.
    """

    period: Positive  # Updates between quantizations.
    refit_every: NotNegative = 1  # Quantizations between fits of the parameters; 0: fitted once, at the start.


SEQUENCE_OBJECTIVES: Final = ("sequence_distillation", "word_and_sequence_distillation")
Retraining = FullPrecision | StraightThrough | TrainedParameters | ErrorFeedback | Periodic


class ErrorCompensation(Strict, frozen=True, kw_only=True, tag_field="method", tag="error_compensation"):
    """No retraining: choose codes that change the layer's outputs little (Frantar et al. 2023, GPTQ)."""

    sentences: Positive = 256  # Sentences of the training text, drawn by the recipe's seed.


# Prato et al. 2020, sections 5.1 and 5.3.
DELAY: Final = 100  # updates: the paper's training with quantization "from scratch"
BATCHES: Final = 300  # "a few hundred steps"
TRIALS: Final = 20


class Activations(Strict, frozen=True, kw_only=True):
    """Activations quantized within trained ranges (Prato et al. 2020); see `pocketmt.recipes.activations`."""

    bits: Annotated[int, Meta(ge=2, le=8)]  # Width of a code.
    # The operations that are quantized. "strategy": those of section 3.2; "naive": all; or a list of names.
    operations: Literal["strategy", "naive"] | Annotated[list[Name], Meta(min_length=1)] = "strategy"
    # Operations with a range for each element. true: those of section 3.3; false: none.
    bucketed: bool | list[Name] = True
    # Patterns of the names of modules; operations elsewhere are not quantized.
    modules: Annotated[list[Name], Meta(min_length=1)] = msgspec.field(default_factory=lambda: ["*"])
    # Operations with a gradient for clamped values; true: all, false: none.
    clamped_gradient: bool | list[Name] = msgspec.field(default_factory=lambda: ["layer_norm_denominator"])
    # With retraining: updates that estimate ranges before this stage quantizes anything; None: 100.
    delay: NotNegative | None = None
    batches: Positive | None = None  # Without retraining: batches of a trial that estimates ranges; None: 300.
    trials: Positive | None = None  # Without retraining: trials, of which the best by validation is kept; None: 20.


class LogarithmicInputs(Strict, frozen=True, kw_only=True, tag_field="scheme", tag="logarithmic"):
    """Inputs of quantized matrices on a fixed log scale (Aji and Heafield 2020, section 3.5)."""

    bits: Annotated[int, Meta(ge=1, le=4)]  # Width of a code: a sign and a power of two.
    # The largest magnitude; 1 in the paper, which does not scale activations (section 4.3).
    scale: Annotated[float, Meta(ge=2**-20, le=2**20)] = 1.0
    # Whether attention's own products are quantized, too; a model file cannot hold that.
    attention: bool = False


class StaticInputs(Strict, frozen=True, kw_only=True, tag_field="scheme", tag="static"):
    """Inputs of quantized matrices in 8 bits at calibrated scales (Behnke et al. 2021, section 3.2).

    The inputs of each matrix have one scale, calibrated when the first stage that quantizes the matrix begins.
    """

    bits: Literal[8] = 8  # Width of a code.
    sentences: Positive = 256  # Sentences of the training text for calibration, drawn by the recipe's seed.


MatrixInputs = LogarithmicInputs | StaticInputs


class Stage(Strict, frozen=True, kw_only=True):
    """One step of a recipe: pruning, quantization and retraining, each optional."""

    name: str = ""  # Name for the log.
    prune: list[Pruning] | msgspec.UnsetType = msgspec.UNSET  # Parts to remove from the network.
    quantize: list[Quantize] = msgspec.field(default_factory=list)  # Matrices and vectors, with their schemes.
    # Quantized operations of a Transformer; not set: as in the stage before.
    activations: Activations | msgspec.UnsetType = msgspec.UNSET
    # Quantized inputs of quantized matrices; not set: as in the stage before.
    matrix_inputs: MatrixInputs | msgspec.UnsetType = msgspec.UNSET
    retraining: Retraining | ErrorCompensation | None = None  # How the stage trains; None: it does not.


class Recipe(Strict, frozen=True, kw_only=True):
    """A description of how a trained model is compressed."""

    name: Name  # Name of the recipe.
    stages: Annotated[list[Stage], Meta(min_length=1)]  # Its stages, in order.
    paper: str = ""  # The paper's section, or the table and row that it reproduces.
    description: str = ""  # What the recipe does, for `pocketmt compress --list`.
    seed: Seed = 1  # Of batches and dropout, and of the weights of a random start.
    # "random": train from random weights instead of the run's (Prato et al. 2020, section 5.3; Aji and Heafield 2020,
    # Table 2).
    start: Literal["trained", "random"] = "trained"


def read_recipe(path: Path) -> Recipe:
    """Read a TOML file; ConfigurationError names the file, the place and the allowed values."""
    recipe: Recipe = read_toml(path, Recipe)
    for index, stage in enumerate(recipe.stages):
        unused = _unused_setting(stage.retraining) if isinstance(stage.retraining, Retraining) else None
        if unused is not None:
            raise ConfigurationError(f"{path}: stages[{index}].retraining: {unused}")
    return recipe


def _unused_setting(retraining: Retraining) -> str | None:
    """Return a sentence about a setting that would have no effect; None if there is none."""
    rate, updates = retraining.learning_rate, retraining.updates
    if retraining.cross_entropy_weight != EQUAL_WEIGHT and retraining.objective != "mixed":
        return f"cross_entropy_weight has no effect with the objective {retraining.objective!r}: choose 'mixed'"
    if retraining.label_smoothing is not None and retraining.objective.startswith("word"):
        return f"label_smoothing has no effect with the objective {retraining.objective!r}: leave it out"
    if isinstance(retraining, StraightThrough) and retraining.refit_every > 1 and retraining.parameters != "refitted":
        return f"refit_every has no effect with {retraining.parameters} parameters: choose 'refitted', or leave it out"
    if isinstance(retraining, ErrorFeedback | Periodic) and retraining.period > updates:
        return f"period ({retraining.period}) is larger than updates ({updates}), so nothing would be quantized"
    if rate.schedule == "constant" and rate.constant_updates:
        return (
            "learning_rate.constant_updates has no effect with the schedule 'constant', which keeps the full rate: "
            "leave it out, or choose another schedule"
        )
    if rate.schedule == "linear":
        for name in ("warmup_updates", "constant_updates"):
            if getattr(rate, name) >= updates:
                return f"learning_rate.{name} ({getattr(rate, name)}) leaves none of {updates} updates for the decay"
    return None


def extendable_updates(recipe: Recipe) -> int | None:
    """Return the updates of the last stage if a run of the recipe can continue with more of them; None if not.

    A stage cannot that prunes, or whose learning rate falls linearly: both depend on the number of updates.
    """
    stage = recipe.stages[-1]
    retraining = stage.retraining
    if not isinstance(retraining, Retraining) or stage.prune or retraining.learning_rate.schedule == "linear":
        return None
    return retraining.updates


def recipe_without_changeable_settings(recipe: Recipe) -> Recipe:
    """Return a recipe with fixed values of what may change when its run is continued, such as its description."""
    stages = []
    for number, stage in enumerate(recipe.stages, 1):
        retraining = stage.retraining
        if isinstance(retraining, Retraining):
            retraining = msgspec.structs.replace(retraining, checkpoint_every=1)
            if number == len(recipe.stages) and extendable_updates(recipe) is not None:
                retraining = msgspec.structs.replace(retraining, updates=1)
        stages.append(msgspec.structs.replace(stage, retraining=retraining))
    return msgspec.structs.replace(recipe, stages=stages, paper="", description="")


def limit_updates(recipe: Recipe, most: int) -> Recipe:
    """Return the recipe with at most `most` updates, trials and batches of a trial in each stage, for a quick run."""
    stages = []
    for stage in recipe.stages:
        retraining, activations = stage.retraining, stage.activations
        if isinstance(retraining, Retraining) and retraining.updates > most:
            retraining = _limit_retraining(retraining, most)
            if isinstance(activations, Activations):
                delay = DELAY if activations.delay is None else activations.delay
                activations = msgspec.structs.replace(activations, delay=min(delay, most // 2))
        if isinstance(activations, Activations) and retraining is None:
            batches, trials = activations.batches or BATCHES, activations.trials or TRIALS
            activations = msgspec.structs.replace(activations, batches=min(most, batches), trials=min(most, trials))
        if stage.prune is not msgspec.UNSET:
            updates = stage.retraining.updates if isinstance(stage.retraining, Retraining) else 0
            stage = msgspec.structs.replace(stage, prune=[limit_pruning(entry, updates, most) for entry in stage.prune])
        stages.append(msgspec.structs.replace(stage, retraining=retraining, activations=activations))
    return msgspec.structs.replace(recipe, stages=stages)


def _limit_retraining(retraining: Retraining, most: int) -> Retraining:
    """Return settings with `most` updates; what does not fit into them keeps its share."""
    updates, rate = retraining.updates, retraining.learning_rate
    fitted = {
        name: value * most // updates
        for name in ("warmup_updates", "constant_updates")
        if (value := getattr(rate, name)) >= most
    }
    limited = msgspec.structs.replace(retraining, updates=most, learning_rate=msgspec.structs.replace(rate, **fitted))
    # A period that fits is what a recipe is about: with another one, its results would be other ones.
    if isinstance(limited, ErrorFeedback | Periodic) and limited.period > most:
        return msgspec.structs.replace(limited, period=max(1, limited.period * most // updates))
    return limited


def change_retraining(recipe: Recipe, **settings: object) -> Recipe:
    """Return the recipe with these settings in every stage that retrains, such as `precision`."""
    stages = []
    for stage in recipe.stages:
        retraining = stage.retraining
        if isinstance(retraining, Retraining):
            retraining = msgspec.structs.replace(retraining, **settings)
        stages.append(msgspec.structs.replace(stage, retraining=retraining))
    return msgspec.structs.replace(recipe, stages=stages)
