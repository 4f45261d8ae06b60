"""The uncompressed model's translations as text to retrain on: sequence-level distillation (Kim and Rush 2016) [E1]."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.engine import Translator
from pocketmt.errors import DataError
from pocketmt.recipes.any_model import start_engine
from pocketmt.recipes.trained_model import TrainedModel
from pocketmt.text.cleaning import Cleaning
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.training.data import Corpus, Pair, clean_pairs, encode_pairs, make_cleaning
from pocketmt.training.translations import TextPair, translate_text

BEAM_SIZE: Final = 4
# Without validation text, a tenth of the plain text, at most so many lines, is held out in its place.
MOST_HELD_OUT: Final = 1_000
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Taught:
    """Sentences and the uncompressed model's translations of them, as piece ids."""

    training: list[Pair]
    validation: list[Pair]


class Teacher:
    """The uncompressed model, translating by the engine; each text is translated once for a compression."""

    def __init__(self, model: TrainedModel, folder: Path, progress: Progress) -> None:
        """Keep translations in `folder`; `progress` is told how many lines of a text are translated, of how many."""
        self.model = model
        self.folder = folder
        self.progress = progress
        self.vocabulary = Vocabulary.from_file(model.vocabulary_file)
        data = None if model.configuration is None else model.configuration.data
        unfiltered = Cleaning(remove_identical=False, remove_duplicates=False)
        self.cleaning = unfiltered if data is None else make_cleaning(data)
        self._translator: Translator | None = None

    def texts(self, text: Path, name: str) -> list[TextPair]:
        """Return the lines of a text that are good for training, with their translations, kept under a name.

        Raises DataError where there are none, and as `translate_text` does.
        """
        identity: dict[str, str | int] = {"model": self.model.digest, "beam_size": BEAM_SIZE}
        pairs = translate_text(text, self.folder / name, self._translate, identity, self.progress)
        kept = list(clean_pairs(pairs, self.cleaning, self.vocabulary))
        if not kept:
            raise DataError(f"{text}: it has no line that the model translates in a way that can be learnt from")
        return kept

    def pairs(self, text: Path, name: str) -> list[Pair]:
        """Return the same as piece ids."""
        return encode_pairs(self.texts(text, name), self.vocabulary)

    def _translate(self, lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        if self._translator is None:
            configuration = self.model.configuration
            threads = 0 if configuration is None else configuration.training.threads
            workers = threads or len(os.sched_getaffinity(0))
            self._translator = start_engine(self.model, self.folder / "teacher.pocketmt", workers)
        return self._translator.translate(lines, beam_size=BEAM_SIZE)


def teach(teacher: Teacher, source_text: Path | None) -> Taught:
    """Translate the source sides of the text of the model's configuration, and plain source text, if any, too.

    Raises as `Teacher.texts` does.
    """
    assert teacher.model.configuration is not None
    data = teacher.model.configuration.data
    training: list[Pair] = []
    for number, (source, _) in enumerate(data.training_files):
        training += teacher.pairs(source, f"training-{number}" if number else "training")
    if source_text is not None:
        training += teacher.pairs(source_text, "source-text")
    return Taught(training, teacher.pairs(Path(data.validation_source), "validation"))


def corpus_of_plain_text(teacher: Teacher, source_text: Path) -> Corpus:
    """Return plain source text and its translations in the place of parallel text: a part, spread evenly, is held out.

    Raises DataError where there are less than two lines to use, and as `Teacher.texts` does.
    """
    texts = teacher.texts(source_text, "source-text")
    if len(texts) < 2:
        raise DataError(f"{source_text}: two lines are the least, one to learn from and one to validate by")
    count = max(1, min(MOST_HELD_OUT, len(texts) // 10))
    held_out = {index * len(texts) // count for index in range(count)}
    pairs = encode_pairs(texts, teacher.vocabulary)
    validation = [pairs[index] for index in sorted(held_out)]
    return Corpus(
        vocabulary=teacher.vocabulary,
        training=[pair for index, pair in enumerate(pairs) if index not in held_out],
        validation_sources=[source for source, _ in validation],
        validation_references=[texts[index][1] for index in sorted(held_out)],
        validation=validation,
        left_out={},
    )
