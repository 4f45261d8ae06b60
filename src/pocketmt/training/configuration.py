"""Configuration of a training run, read from TOML; training defaults are defined only here."""

import math
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.models.presets import LSTMS, OPTIONS, PRESETS, preset
from pocketmt.text.corpus import both_sides, is_plain
from pocketmt.text.languages import check_language
from pocketmt.text.vocabulary_training import Segmentation
from pocketmt.toml_file import absolute_path, read_toml

Positive = Annotated[int, Meta(ge=1)]
Seed = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]  # What PyTorch's generator accepts.
Fraction = Annotated[float, Meta(ge=0, lt=1)]
PositiveFloat = Annotated[float, Meta(gt=0)]
Precision = Literal["float32", "bfloat16-mixed"]
LEARNT_SIZE: Final = 6000  # Of a vocabulary, in pieces.
LEARNT_SEGMENTATION: Final[Segmentation] = "bpe"
Files = str | Annotated[list[str], Meta(min_length=1)]


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parallel text, one sentence per line. Relative paths start at the folder of the configuration file.

    In a path, `${NAME}` stands for an environment variable, and `${NAME:-default}` has a default.

    A TSV, JSONL or TMX file holds both sides; name it as the source alone. Training text may consist of several files,
    such as authentic and synthetic text; both sides then have the same number of files.
    """

    source_language: str  # Code of the source language, such as "en"; stored in model files.
    target_language: str  # Code of the target language.
    training_source: Files  # Source side of the training text: one file, or a list.
    validation_source: str  # Source side of held-out text, by which the best weights are chosen.
    training_target: Files | None = None  # Target side, line by line; as many files as on the source side.
    validation_target: str | None = None  # Target side of the held-out text.
    # What a line of the text is. Text for a model of sentences is later split into sentences; see docs/sentences.md.
    unit: Literal["sentence", "line", "document"] = "sentence"
    # A SentencePiece file, the folder of a run or a model file; None: a vocabulary is learnt from the training text.
    vocabulary: str | None = None
    vocabulary_size: Annotated[int, Meta(ge=8, le=1_000_000)] = LEARNT_SIZE  # Size of a learnt vocabulary.
    # How a learnt vocabulary divides words; Firefox's engines need unigram.
    segmentation: Segmentation = LEARNT_SEGMENTATION
    maximum_length: Positive = 200  # Pieces on each side; longer pairs are removed.
    # Largest ratio of the two lengths in pieces; the longer one may have 5 more.
    maximum_ratio: Annotated[float, Meta(ge=1)] = 4.0
    remove_identical: bool = False  # Whether pairs with the same text on both sides are removed.
    remove_duplicates: bool = False  # Whether pairs that have occurred before are removed.
    # Share of the pairs that are trained on a second time, without the punctuation mark at the end of both sides.
    repeat_without_punctuation: Fraction = 0.0
    # The same with the source in lower case; half of these pairs also lose their punctuation mark.
    repeat_in_lower_case: Fraction = 0.0
    repeat_in_capitals: Fraction = 0.0  # The same with both sides in capitals.

    @property
    def training_files(self) -> list[tuple[Path, Path]]:
        """Source and target file of each part of the training text.

        Raises ConfigurationError if one side has more files, and as `both_sides` does.
        """
        sources = self.training_sources
        if self.training_target is None:
            return [both_sides(source, None) for source in sources]
        targets = _file_list(self.training_target)
        if len(sources) != len(targets):
            raise ConfigurationError(
                f"training_source names {len(sources)} files, training_target {len(targets)}: name the same number"
            )
        return [both_sides(source, target) for source, target in zip(sources, targets, strict=True)]

    @property
    def training_sources(self) -> list[Path]:
        """Source file of each part of the training text."""
        return _file_list(self.training_source)

    @property
    def plain_training_text(self) -> bool:
        """Whether the training text has no target side, as only the student of a pipeline may."""
        return self.training_target is None and all(is_plain(path) for path in self.training_sources)

    @property
    def plain_validation_text(self) -> bool:
        """Whether the validation text has no target side, as only the student of a pipeline may."""
        return self.validation_target is None and is_plain(Path(self.validation_source))

    @property
    def validation_files(self) -> tuple[Path, Path]:
        """Source and target file of the validation text; raises ConfigurationError as `both_sides` does."""
        target = None if self.validation_target is None else Path(self.validation_target)
        return both_sides(Path(self.validation_source), target)

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target language."""
        return self.source_language, self.target_language


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sizes and dropout rates of the network. Sizes that are given replace those of the preset."""

    preset: str = "tiny"  # Name of an architecture, whose sizes the next keys replace.
    encoder_layers: Positive | None = None  # Number of encoder layers.
    decoder_layers: Positive | None = None  # Number of decoder layers.
    model_dimension: Positive | None = None  # Size of embeddings and of the residual stream.
    feed_forward_dimension: Positive | None = None  # Nodes of each feed-forward layer.
    recurrent_dimension: Positive | None = None  # State size of LSTM layers.
    attention_heads: Positive | None = None  # Heads of each attention.
    attention_dimension: Positive | None = None  # Number of heads times head size.
    attention_bias: bool | None = None  # Whether the matrices of attention have biases.
    # Self-attention, the simpler recurrent unit of fast students (SSRU; Kim et al. 2019) or average attention (Zhang et
    # al. 2018).
    decoder_autoregression: Literal["self_attention", "ssru", "average_attention"] | None = None
    tied_decoder_layers: bool | None = None  # Whether all decoder layers share their weights.
    norm: Literal["post", "pre"] = "post"  # Layer normalization after or before each sub-layer.
    # Activation of feed-forward layers; relu if it is not given.
    activation: Literal["relu", "swish", "gelu", "gelu_tanh", "gelu_sigmoid"] | None = None
    # Position encodings; interleaved if it is not given, concatenated_inclusive is Marian's.
    positions: Literal["interleaved", "concatenated", "concatenated_inclusive"] | None = None
    normalization_epsilon: PositiveFloat | None = None  # Of layer normalization; 1e-5 if it is not given.
    embeddings: Literal["shared", "separate"] | None = None  # Whether source and target pieces have one embedding.
    output_projection: Literal["tied", "untied"] | None = None  # Whether the target's embedding is the output matrix.
    output_bias: bool | None = None  # Whether the output projection has a bias.
    # What the decoder reads first: a special piece, or a vector of zeros, as in Marian; bos if it is not given.
    first_decoder_input: Literal["bos", "eos", "pad", "zero"] | None = None
    dropout: Fraction = 0.3  # Dropout rate of embeddings and of the outputs of sub-layers.
    attention_dropout: Fraction = 0.0  # Dropout rate of attention weights.
    feed_forward_dropout: Fraction = 0.0  # Dropout rate between the two layers of a feed-forward network.

    def architecture(self, vocabulary_size: int) -> Architecture:
        """Return the architecture of the network; ConfigurationError if its sizes do not fit together."""
        names = dict.fromkeys((*(name for sizes in PRESETS.values() for name in sizes), *OPTIONS))
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        found = preset(self.preset, vocabulary_size, self.norm, **given)
        if self.feed_forward_dropout > 0 and "feed_forward_dimension" not in PRESETS[self.preset]:
            raise ConfigurationError(f"the model preset '{self.preset}' has no feed_forward_dropout: leave it out")
        return found


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Optimization by Adam: inverse square root schedule with final decay, label smoothing and early stopping."""

    seed: Seed = 1  # Of the initial weights, dropout and the order of batches.
    batch_tokens: Positive = 2048  # Pieces of a batch, padding included, on the longer side.
    learning_rate: PositiveFloat = 3e-3  # The peak, at the end of the warm-up.
    warmup_updates: Positive = 1000  # First updates, over which the rate rises linearly from 0.
    # Last of `maximum_updates`, over which the rate falls linearly to 0; none of them if `patience` ends the run first.
    # A finished run that gets more updates returns to the full rate.
    decay_updates: Annotated[int, Meta(ge=0)] = 0
    # What the model learns from: the target side of the training text, the teacher's probabilities of all pieces at
    # each position (Kim and Rush 2016, section 3.1), or both.
    objective: Literal["references", "word_distillation", "mixed"] = "references"
    cross_entropy_weight: Fraction = 0.5  # Weight in the "mixed" objective; the divergence has the rest.
    teacher: str | None = None  # A run or a model file with this vocabulary, unless the objective is "references".
    label_smoothing: Fraction = 0.1  # Probability that is spread evenly over all pieces (Szegedy et al. 2016).
    clip_norm: PositiveFloat = 1.0  # Largest L2 norm of all gradients together; larger ones are scaled down.
    maximum_updates: Positive = 20_000  # Training stops after this number of updates.
    validate_every: Positive = 500  # Updates between validations.
    checkpoint_every: Positive = 100  # Updates between checkpoints; one follows every validation, too.
    averaged_checkpoints: Positive = 8  # Number of last validations whose weights are averaged.
    # Validations without a better BLEU, or an equal one with a lower loss, before training stops. BLEU counts
    # characters instead of words in scripts without spaces, and where a line has fewer than four words on average.
    patience: Positive = 10
    threads: Annotated[int, Meta(ge=0)] = 0  # PyTorch threads of each process; 0: PyTorch's default.
    # Batches of an update, a multiple of `devices`, which share them; one each if it is not given. With it, a run can
    # resume on another number of devices.
    batches_per_update: Positive | None = None
    # Number of processors or GPUs; torchrun's processes replace it.
    devices: Positive = 1
    # "auto" takes a GPU if PyTorch finds one; "cuda" is one of NVIDIA, "gpu" any.
    accelerator: Literal["auto", "cpu", "gpu", "cuda"] = "auto"
    # Mixed: matrix products read bfloat16 and everything else stays float32. About twice as fast on processors with
    # bfloat16 units.
    precision: Precision = "float32"
    # Whether the layers of a Transformer are compiled by PyTorch, which takes about a minute and is meant for GPUs.
    compiled: bool = False


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Configuration of a training run."""

    data: Data  # Text and vocabulary.
    model: Model = Model()  # Sizes of the network.
    training: Training = Training()  # Optimization.


# Settings of the text that are paths of files.
_PATHS: Final = ("training_source", "training_target", "validation_source", "validation_target", "vocabulary")
# Settings of training that may change during a run: when it ends, and how it is computed.
CHANGEABLE: Final = ("maximum_updates", "patience", "checkpoint_every", "threads", "accelerator", "compiled", "devices")


def without_changeable_settings(configuration: Configuration) -> Configuration:
    """Return a configuration in which the settings that may change during a run are reset to their defaults."""
    defaults = {name: getattr(Training(), name) for name in CHANGEABLE}
    defaults["batches_per_update"] = configuration.training.batches_per_update or configuration.training.devices
    return msgspec.structs.replace(configuration, training=msgspec.structs.replace(configuration.training, **defaults))


def without_locations(configuration: Configuration) -> Configuration:
    """Return a configuration with an empty path for each file that it reads, wherever the file is."""
    data, teacher = configuration.data, configuration.training.teacher
    return msgspec.structs.replace(
        configuration,
        data=msgspec.structs.replace(data, **{name: _unlocated(getattr(data, name)) for name in _PATHS}),
        training=msgspec.structs.replace(configuration.training, teacher=_unlocated(teacher)),
    )


def _unlocated(files: Files | None) -> Files | None:
    if isinstance(files, list):
        return [""] * len(files)
    return None if files is None else ""


def read_configuration(path: Path, *, plain_text: bool = False) -> Configuration:
    """Read a TOML file and make its paths absolute.

    Args:
        path: the file.
        plain_text: whether text may have no target side.

    Raises:
        ConfigurationError: naming the file, the key and what is allowed.
    """
    configuration: Configuration = read_toml(path, Configuration)
    check_data = partial(_check_data, plain_text=plain_text)
    for table, check in (("model", _check_model), ("data", check_data), ("training", _check_training)):
        try:
            check(configuration)
        except ConfigurationError as error:
            raise ConfigurationError(f"{path}: {table}: {error}") from error
    folder = path.parent.resolve()
    return msgspec.structs.replace(
        configuration,
        data=msgspec.structs.replace(configuration.data, **_absolute(configuration.data, _PATHS, folder)),
        training=msgspec.structs.replace(
            configuration.training, **_absolute(configuration.training, ("teacher",), folder)
        ),
    )


def _check_model(configuration: Configuration) -> None:
    configuration.model.architecture(configuration.data.vocabulary_size)


def _check_data(configuration: Configuration, plain_text: bool) -> None:
    for language in configuration.data.languages:
        check_language(language)
    data = configuration.data
    assert (plain_text and data.plain_training_text) or data.training_files
    assert (plain_text and data.plain_validation_text) or data.validation_files
    _check_finite(data, "maximum_ratio")
    _check_copies(data)
    for name, default in (("vocabulary_size", LEARNT_SIZE), ("segmentation", LEARNT_SEGMENTATION)):
        if data.vocabulary is not None and getattr(data, name) != default:
            raise ConfigurationError(f"{name} has no effect on a vocabulary that is given: leave one of the two out")


def _check_copies(data: Data) -> None:
    """Raise ConfigurationError if training text is listed twice, which gives it more weight, but copies are removed."""
    files = [(path, path) for path in data.training_sources] if data.plain_training_text else data.training_files
    copies = [pair for pair in files if files.count(pair) > 1]
    if data.remove_duplicates and copies:
        raise ConfigurationError(
            f"{copies[0][0]} is listed more than once, but remove_duplicates removes the copies: list it once, or "
            "leave out remove_duplicates"
        )


def _check_training(configuration: Configuration) -> None:
    training = configuration.training
    _check_finite(training, "learning_rate", "clip_norm")
    if training.objective != "references" and training.teacher is None:
        raise ConfigurationError(
            f"the objective {training.objective!r} needs a teacher: name the folder of a run or a model file"
        )
    if training.warmup_updates + training.decay_updates > training.maximum_updates and training.decay_updates:
        raise ConfigurationError(
            f"warmup_updates ({training.warmup_updates}) and decay_updates ({training.decay_updates}) add up to more "
            f"than maximum_updates ({training.maximum_updates}): lower one of them"
        )
    if training.compiled and configuration.model.preset in LSTMS:
        raise ConfigurationError(
            f"`compiled` has no effect on the model preset '{configuration.model.preset}': leave it out"
        )
    if training.objective != "mixed" and training.cross_entropy_weight != Training().cross_entropy_weight:
        raise ConfigurationError(
            f"cross_entropy_weight has no effect with the objective {training.objective!r}: choose 'mixed', or leave "
            "it out"
        )
    if training.objective == "word_distillation" and training.label_smoothing != Training().label_smoothing:
        raise ConfigurationError("label_smoothing has no effect with the objective 'word_distillation': leave it out")
    if training.objective == "references" and training.teacher is not None:
        raise ConfigurationError(
            "a teacher is named, but the objective does not use it: choose word_distillation or mixed"
        )


def _check_finite(settings: Data | Training, *names: str) -> None:
    """Raise ConfigurationError for a number that the JSON of a run's folder cannot hold."""
    for name in names:
        if not math.isfinite(getattr(settings, name)):
            raise ConfigurationError(f"{name} is {getattr(settings, name)}: give a finite number")


def _file_list(files: Files) -> list[Path]:
    return [Path(file) for file in (files if isinstance(files, list) else [files])]


def _absolute(settings: msgspec.Struct, names: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """Return the named settings that are paths or lists of paths; relative paths start at a folder."""
    found = {name: getattr(settings, name) for name in names}
    return {
        name: [absolute_path(each, folder) for each in value]
        if isinstance(value, list)
        else absolute_path(value, folder)
        for name, value in found.items()
        if value is not None
    }
