"""What a training run is told, as typed structs read from TOML. The only place of training defaults."""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.models.presets import PRESETS, preset

Positive = Annotated[int, Meta(ge=1)]
Fraction = Annotated[float, Meta(ge=0, lt=1)]
PositiveFloat = Annotated[float, Meta(gt=0)]
Precision = Literal["float32", "bfloat16-mixed"]
Files = str | Annotated[list[str], Meta(min_length=1)]


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parallel text, one sentence a line; a relative path starts at the configuration file's folder.

    Training text may be of several files a side, real and synthetic, as many on one side as on the other.
    """

    source_language: str
    target_language: str
    training_source: Files
    training_target: Files
    validation_source: str
    validation_target: str
    vocabulary: str | None = None  # of a file, a run's folder or a model file; None: learnt from the training text
    vocabulary_size: Annotated[int, Meta(ge=8, le=1_000_000)] = 6000  # of one that is learnt
    maximum_length: Positive = 200  # pieces on either side; longer pairs are left out
    maximum_ratio: Annotated[float, Meta(ge=1)] = 4.0  # of the two sides' pieces
    remove_identical: bool = False  # pairs with the same text on both sides
    remove_duplicates: bool = False

    @property
    def training_files(self) -> list[tuple[Path, Path]]:
        """Source and target of each part of the training text; ConfigurationError where a side has more files."""
        sides = [each if isinstance(each, list) else [each] for each in (self.training_source, self.training_target)]
        if len(sides[0]) != len(sides[1]):
            raise ConfigurationError(
                f"training_source names {len(sides[0])} files, training_target {len(sides[1])}: name as many"
            )
        return [(Path(source), Path(target)) for source, target in zip(*sides, strict=True)]


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The network's size and its dropout rates; sizes that are given take the place of the preset's."""

    preset: str = "tiny"  # a name of `pocketmt.models.presets.PRESETS`
    encoder_layers: Positive | None = None
    decoder_layers: Positive | None = None
    model_dimension: Positive | None = None
    feed_forward_dimension: Positive | None = None
    recurrent_dimension: Positive | None = None  # of LSTMs
    attention_heads: Positive | None = None
    attention_dimension: Positive | None = None  # heads times the size of a head
    attention_bias: bool | None = None
    decoder_autoregression: Literal["self_attention", "ssru"] | None = None
    tied_decoder_layers: bool | None = None
    norm: Literal["post", "pre"] = "post"
    dropout: Fraction = 0.3
    attention_dropout: Fraction = 0.0
    feed_forward_dropout: Fraction = 0.0

    def architecture(self, vocabulary_size: int) -> Architecture:
        """Return the network's sizes; ConfigurationError where they do not fit together."""
        names = {name: None for sizes in PRESETS.values() for name in sizes}
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        found = preset(self.preset, vocabulary_size, self.norm, **given)
        if self.feed_forward_dropout > 0 and "feed_forward_dimension" not in PRESETS[self.preset]:
            raise ConfigurationError(f"the model preset '{self.preset}' has no feed_forward_dropout: leave it out")
        return found


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Optimisation: Adam (0.9, 0.98), inverse square root and cool-down, label smoothing, early stopping, averaging."""

    seed: int = 1
    batch_tokens: Positive = 2048
    learning_rate: PositiveFloat = 3e-3  # at the end of the warm-up
    warmup_updates: Positive = 1000
    cooldown_updates: Annotated[int, Meta(ge=0)] = 0  # the last so many of maximum_updates: the rate falls to 0
    # Distillation [E1]: the words of the training text's target side, or the probabilities that a teacher gives to all
    # words in their places, or both.
    objective: Literal["references", "word_distillation", "mixed"] = "references"
    references_share: Fraction = 0.5  # of the loss, where the objective is mixed
    teacher: str | None = None  # a run's folder or a model file, of the same vocabulary; what the others need
    label_smoothing: Fraction = 0.1
    clip_norm: PositiveFloat = 1.0
    maximum_updates: Positive = 20_000
    validate_every: Positive = 500  # updates
    checkpoint_every: Positive = 100  # updates, between validations
    averaged_checkpoints: Positive = 8  # the last so many validations' weights
    patience: Positive = 10  # validations without a better BLEU
    threads: Annotated[int, Meta(ge=0)] = 0  # of PyTorch in each process; 0: as many as PyTorch chooses
    devices: Positive = 1
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    # Mixed: products read bfloat16 and all else stays float32; for processors with units for it, about twice as fast.
    precision: Precision = "float32"


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A training run."""

    data: Data
    model: Model = Model()
    training: Training = Training()


def read_configuration(path: Path) -> Configuration:
    """Read a TOML file, its data paths made absolute; ConfigurationError names file, key and what is allowed."""
    try:
        configuration = msgspec.toml.decode(path.read_bytes(), type=Configuration)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    for place, check in (("model", _check_model), ("data", _check_data), ("training", _check_training)):
        try:
            check(configuration)
        except ConfigurationError as error:
            raise ConfigurationError(f"{path}: {place}: {error}") from error
    folder = path.parent.resolve()
    names = ("training_source", "training_target", "validation_source", "validation_target", "vocabulary")
    return msgspec.structs.replace(
        configuration,
        data=msgspec.structs.replace(configuration.data, **_absolute(configuration.data, names, folder)),
        training=msgspec.structs.replace(
            configuration.training, **_absolute(configuration.training, ("teacher",), folder)
        ),
    )


def _check_model(configuration: Configuration) -> None:
    configuration.model.architecture(configuration.data.vocabulary_size)


def _check_data(configuration: Configuration) -> None:
    assert configuration.data.training_files


def _check_training(configuration: Configuration) -> None:
    training = configuration.training
    if training.objective != "references" and training.teacher is None:
        raise ConfigurationError(
            f"the objective {training.objective!r} needs a teacher: name a run's folder or a model file"
        )
    if training.warmup_updates + training.cooldown_updates > training.maximum_updates and training.cooldown_updates:
        raise ConfigurationError(
            f"warmup_updates and cooldown_updates are {training.warmup_updates} and {training.cooldown_updates}, "
            f"more than the {training.maximum_updates} of maximum_updates: lower one of them"
        )
    if training.objective == "references" and training.teacher is not None:
        raise ConfigurationError("a teacher is named, but no objective learns from it: word_distillation or mixed do")


def _absolute(settings: msgspec.Struct, names: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """Return those of the named settings that are paths, or lists of them, with relative ones starting at a folder."""
    found = {name: getattr(settings, name) for name in names}
    return {
        name: [str(folder / each) for each in value] if isinstance(value, list) else str(folder / value)
        for name, value in found.items()
        if value is not None
    }
