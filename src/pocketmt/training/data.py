"""The text of a training run as token ids, and batches of it as tensors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor

from pocketmt.atomic_file import atomic_write
from pocketmt.errors import DataError
from pocketmt.model_file import Architecture
from pocketmt.models.inputs import PADDING, decoder_input, encoder_input, pad
from pocketmt.text.batching import make_batches
from pocketmt.text.cleaning import Cleaning, CleaningReport, clean
from pocketmt.text.corpus import read_pairs
from pocketmt.text.encoded_pairs import EncodedPairs
from pocketmt.text.vocabulary import Vocabularies, Vocabulary, shared_vocabulary
from pocketmt.text.vocabulary_training import train_vocabulary
from pocketmt.training.configuration import Data
from pocketmt.training.given_vocabulary import read_vocabulary, trainable
from pocketmt.training.inputs import TextRecord, read_texts
from pocketmt.training.repetitions import repetitions

Pair = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Batch:
    """A batch on its device, padded at the end of each row."""

    source: Tensor  # Source tokens and eos (`encoder_input`): [B, S], int64.
    target_inputs: Tensor  # What the decoder reads (`decoder_input`): [B, T], int64.
    targets: Tensor  # Target tokens and eos: [B, T], int64.
    target_tokens: int  # Number of targets, without padding.

    def halves(self) -> list["Batch"]:
        """Return the sentences in two batches, or this batch if it has only one."""
        count = len(self.targets)
        return [self] if count == 1 else [self._rows(0, count // 2), self._rows(count // 2, count)]

    def _rows(self, first: int, last: int) -> "Batch":
        targets = self.targets[first:last]
        tokens = int((targets != PADDING).sum())
        return Batch(self.source[first:last], self.target_inputs[first:last], targets, tokens)


class PairEncoder:
    """Turns lines and their translations into token ids; a subclass adds what stands for their languages."""

    def __init__(self, vocabularies: Vocabularies) -> None:
        """Take the vocabularies of the model."""
        self.vocabularies = vocabularies

    @property
    def forced(self) -> tuple[int, ...]:
        """What every translation begins with, and no text shows: the piece of its language, if the model has one."""
        return ()

    def pairs(self, texts: Iterable[tuple[str, str]]) -> Iterator[Pair]:
        """Yield pairs of lines as pairs of token ids; those of a line without text are empty."""
        source, target = self.vocabularies.source.encode, self.vocabularies.target.encode
        return ((source(line), target(translation)) for line, translation in texts)


@dataclass(frozen=True)
class Corpus:
    """The text of a run."""

    vocabularies: Vocabularies
    training: Sequence[Pair]
    validation_sources: list[list[int]]
    validation_references: list[str]
    validation: list[Pair]
    left_out: dict[str, int]  # Number of training pairs that were removed, by reason.
    texts: tuple[TextRecord, ...] = ()  # Records of the files that were read; empty for translations by a model.
    forced: tuple[int, ...] = ()  # As of the `PairEncoder`.


def load_corpus(data: Data, vocabulary_file: Path) -> Corpus:
    """Read and encode the text of a run, which `read_texts` has read before.

    The vocabulary is that of `vocabulary_file`. If that file is missing, it is written: with the vocabulary that `data`
    names, or with one that is learnt from the training text.

    Raises:
        DataError: a file cannot be read, the two sides have unequal numbers of lines, cleaning leaves no pair, no
            validation pair has text on both sides, or no vocabulary can be learnt.
        ModelFileError: `data` names a damaged model file as its vocabulary.
    """
    if not vocabulary_file.exists():
        if data.vocabulary is not None:
            vocabulary = read_vocabulary(Path(data.vocabulary))
        else:
            lines = (line for pair in _training_texts(data) for line in pair)
            vocabulary = train_vocabulary(lines, data.vocabulary_size, data.segmentation)
        with atomic_write(vocabulary_file) as stream:
            stream.write(vocabulary.model)
    return _encode(data, PairEncoder(shared_vocabulary(Vocabulary.from_file(vocabulary_file))))


def corpus_for(data: Data, encoder: PairEncoder) -> Corpus:
    """Read the text of a run, and encode it for a model.

    Raises as `read_texts` and `load_corpus` do.
    """
    texts = read_texts(data)
    return replace(_encode(data, encoder), texts=texts)


def _training_texts(data: Data) -> Iterator[tuple[str, str]]:
    """Read the training text, which may be larger than memory as text."""
    for source, target in data.training_files:
        yield from read_pairs(source, target, data.languages)


def _encode(data: Data, encoder: PairEncoder) -> Corpus:
    vocabularies = encoder.vocabularies
    # Validation text is small: an error in it is found before the training text is encoded.
    validation_texts = list(read_pairs(*data.validation_files, data.languages))
    validation = list(encoder.pairs(validation_texts))
    scored = [pair for pair in validation if pair[0] and pair[1]]
    if not scored:
        raise DataError(f"{data.validation_source}: no pair of the validation text has text on both sides")
    report = CleaningReport()
    texts = clean_pairs(_training_texts(data), make_cleaning(data), vocabularies, report)
    training = EncodedPairs(short_pairs(encoder.pairs(repetitions(texts, data)), data.maximum_length))
    if not training:
        file = data.training_files[0][0]
        raise DataError(f"no pair of {file} is left after cleaning ({report}): check the files and the limits")
    return Corpus(
        vocabularies=vocabularies,
        training=training,
        validation_sources=[source for source, _ in validation],
        validation_references=[target for _, target in validation_texts],
        validation=scored,
        left_out={reason.value: count for reason, count in report.removed.items() if count},
        forced=encoder.forced,
    )


def check_teacher(name: str, vocabularies: Vocabularies, architecture: Architecture) -> None:
    """Raise DataError if no network can be trained by a teacher's probabilities, for its vocabulary or its sources."""
    instead = "choose the objective 'references', and train on the teacher's translations (`pocketmt distill`)"
    if not trainable(vocabularies):
        raise DataError(f"the vocabulary of the teacher {name} cannot be used to train a network: {instead}")
    if not architecture.append_source_eos:
        raise DataError(
            f"the teacher {name} reads sources without the piece for their end, unlike a student: {instead}"
        )


def make_cleaning(data: Data) -> Cleaning:
    """Return the rules by which a configuration removes training pairs."""
    return Cleaning(
        maximum_length=data.maximum_length,
        maximum_ratio=data.maximum_ratio,
        remove_identical=data.remove_identical,
        remove_duplicates=data.remove_duplicates,
    )


def clean_pairs(
    texts: Iterable[tuple[str, str]],
    cleaning: Cleaning,
    vocabularies: Vocabularies,
    report: CleaningReport | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield the pairs that are suitable for training, and count them in a report; lengths are in pieces."""
    return clean(texts, cleaning, report or CleaningReport(), vocabularies.source.encode, vocabularies.target.encode)


def short_pairs(pairs: Iterable[Pair], maximum_length: int) -> Iterator[Pair]:
    """Yield the pairs that are not too long: copies in capitals take more pieces."""
    return (pair for pair in pairs if max(map(len, pair)) <= maximum_length)


def batches(
    pairs: Sequence[Pair], architecture: Architecture, token_budget: int, seed: int, device: str
) -> Iterator[Batch]:
    """Yield every pair once, in batches and an order that are drawn from `seed`; a pair over the budget is alone."""
    lengths = [(len(source) + 1, len(target) + 1) for source, target in pairs]
    for indices in make_batches(lengths, token_budget, seed, longer_alone=True):
        yield make_batch([pairs[index] for index in indices], architecture, device)


def make_batch(pairs: Sequence[Pair], architecture: Architecture, device: str) -> Batch:
    """Return a padded batch of pairs of token ids."""
    return Batch(
        source=pad([encoder_input(architecture, source) for source, _ in pairs], device),
        target_inputs=pad([decoder_input(architecture, target) for _, target in pairs], device),
        targets=pad([[*target, architecture.eos_id] for _, target in pairs], device),
        target_tokens=sum(len(target) + 1 for _, target in pairs),
    )
