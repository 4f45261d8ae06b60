"""Common properties of models that translate together."""

from typing import Final, NamedTuple

from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.text.stored_vocabulary import StoredVocabularies

# Of the architecture: what the search does for all of them at once.
_COMMON: Final = (
    *("vocabulary_size", "source_size", "special_ids", "source_special_ids", "never_generated_ids"),
    *("append_source_eos", "first_decoder_input"),
)


class Common(NamedTuple):
    """What is compared.

    Attributes:
        vocabularies: of the model.
        languages: codes of its source and its target.
        language_pieces: of a multilingual model.
        unit: what it translates at once.
        architecture: of its network, of which sizes and kind may differ.
    """

    vocabularies: StoredVocabularies
    languages: tuple[str, str]
    language_pieces: LanguagePieces | None
    unit: str
    architecture: Architecture

    def difference(self, first: "Common", first_name: str) -> str | None:
        """Say what keeps a model from translating together with the first one; None if nothing does."""
        if self.vocabularies != first.vocabularies:
            return f"its vocabulary is not that of {first_name}"
        if (self.languages, self.language_pieces) != (first.languages, first.language_pieces):
            return f"it translates other languages than {first_name}"
        if self.unit != first.unit:
            return f"it translates a {self.unit} at once, and {first_name} a {first.unit}"
        for field in _COMMON:
            own, other = getattr(self.architecture, field), getattr(first.architecture, field)
            if own != other:
                return f"its {field} is {own}, that of {first_name} {other}"
        return None
