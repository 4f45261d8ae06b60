"""A vocabulary that is given instead of learnt: that of a run, of a model file or of SentencePiece."""

from pathlib import Path
from typing import Final

from pocketmt.errors import DataError
from pocketmt.model_file import open_model
from pocketmt.text.stored_vocabulary import StoredVocabulary
from pocketmt.text.vocabulary import OWN_IDS, Vocabularies, Vocabulary

_NOT_TRAINABLE: Final = (
    "its vocabulary cannot be used to train a network, which needs one for both languages, as `pocketmt train` learns "
    "it: leave `vocabulary` out"
)


def read_vocabulary(path: Path, not_trainable: str = _NOT_TRAINABLE) -> Vocabulary:
    """Return the vocabulary of a run's folder, of a model file (*.pocketmt) or of a SentencePiece file.

    Args:
        path: of the folder or file.
        not_trainable: the error, without the path, about a model file whose vocabularies are not `trainable`.

    Raises DataError if it cannot be read or is not `trainable`, and ModelFileError if the model file is damaged.
    """
    if path.suffix == ".pocketmt":
        with open_model(path) as file:
            vocabularies = file.vocabularies()
        if not trainable(vocabularies):
            raise DataError(f"{path}: {not_trainable}")
        return vocabularies.source
    return Vocabulary.from_file(path / "vocabulary.model" if path.is_dir() else path)


def trainable(vocabularies: Vocabularies) -> bool:
    """Return whether a network can be trained with the vocabularies of a model: with one for both sides, as trained."""
    source = vocabularies.source
    return vocabularies.shared and source.ids == OWN_IDS and source.stored == StoredVocabulary(source.model)
