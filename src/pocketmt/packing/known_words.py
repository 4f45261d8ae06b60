"""The known words of model files: learnt from parallel text, and added to a file."""

import os
from pathlib import Path
from typing import Final, NamedTuple

from pocketmt.errors import DataError
from pocketmt.model_file import ModelFile, open_model
from pocketmt.model_file.known_words import KNOWN_WORDS, stored_known_words
from pocketmt.model_file.writer import write_model
from pocketmt.packing.stored_tensors import other_tensors
from pocketmt.text.corpus import read_pairs
from pocketmt.text.known_words import count_words
from pocketmt.text.word_filter import WordFilter

FEWEST_WORDS: Final = 100
LEAST_LATIN: Final = 0.5  # of the words of translations, in which names are copied


class LearntWords(NamedTuple):
    """The words that parallel text translates, in lower case, and the number of words that it copies."""

    words: WordFilter
    translated: int
    copied: int


def learn_known_words(model: Path, source: Path, target: Path) -> LearntWords:
    """Learn the words that parallel text translates, in the languages of a model.

    Raises:
        DataError: the model has several languages, text cannot be read, its lines are not parallel, it has too few
            words, or its translations are not in Latin letters.
        ModelFileError: the model file cannot be read.
    """
    with open_model(model) as file:
        languages = _languages(model, file)
    counts = count_words(read_pairs(source, target, languages))
    if counts.copied + len(counts.translated) < FEWEST_WORDS:
        raise DataError(
            f"{source}: has {counts.copied + len(counts.translated):,} different words, fewer than {FEWEST_WORDS:,}: "
            "all others would count as names. Give more text, such as the training text of the model"
        )
    if counts.latin < LEAST_LATIN:
        raise DataError(
            f"{target}: {1 - counts.latin:.0%} of its words are not in Latin letters: in this language, names are "
            "written in other letters, so a model file has no use for known words"
        )
    return LearntWords(WordFilter.of(counts.translated), len(counts.translated), counts.copied)


def held_known_words(model: Path, of: Path) -> WordFilter:
    """Return the known words of a model file.

    Args:
        model: the model file.
        of: another model file, which must have the same languages.

    Raises:
        DataError: the file has no known words, or the languages differ or are several.
        ModelFileError: a file is not a model file, or is damaged.
    """
    with open_model(model) as file, open_model(of) as other:
        if (found := file.known_words()) is None:
            raise DataError(f"{model}: has no known words: learn them from text, `pocketmt names --help` says how")
        languages, others = " to ".join(_languages(model, file)), " to ".join(_languages(of, other))
        if languages != others:
            raise DataError(
                f"{model}: its known words are for {languages}, {of} translates {others}: learn them from text"
            )
        return found


def _languages(model: Path, file: ModelFile) -> tuple[str, str]:
    """Return the languages of a model; raises DataError if it has several."""
    if file.language_pieces is not None:
        raise DataError(f"{model}: translates several languages: known words are for a model of one pair")
    return file.source_language, file.target_language


def add_known_words(model: Path, words: WordFilter, output: str | os.PathLike[str]) -> int:
    """Write a model file with these known words, which replace older ones; returns the size of the new file in bytes.

    Raises ModelFileError if the model file cannot be read, or the output cannot be written.
    """
    with open_model(model) as file:
        member, tensor = stored_known_words(words)
        tensors = other_tensors(file, KNOWN_WORDS) | tensor
        return write_model(output, file.manifest | member, tensors, file.stored_vocabularies())
