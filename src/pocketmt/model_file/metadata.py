"""A model's description of itself, and the members of the manifest that do not depend on how parameters are stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pocketmt import __version__
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.model_file.manifest import DEFAULT_UNIT, FORMAT_VERSION
from pocketmt.model_file.vocabularies import vocabulary_members
from pocketmt.text.stored_vocabulary import StoredVocabularies


@dataclass(frozen=True, kw_only=True)
class ModelMetadata:
    """A model's description of itself, "" where it says nothing; recipe and training are any JSON objects."""

    source_language: str = ""
    target_language: str = ""
    language_pieces: LanguagePieces | None = None  # None: there is one language on each side.
    unit: str = DEFAULT_UNIT  # What the model translates at once: one of UNITS.
    licence: str = ""
    description: str = ""
    recipe: Mapping[str, object] = field(default_factory=dict)
    training: Mapping[str, object] = field(default_factory=dict)

    def manifest_members(self, architecture: Architecture, vocabularies: StoredVocabularies) -> dict[str, object]:
        """Return the members of the manifest of a model with this description, network and vocabularies."""
        members: dict[str, object] = {} if self.unit == DEFAULT_UNIT else {"unit": self.unit}
        if self.language_pieces is not None:
            members["language_pieces"] = self.language_pieces.to_json()
        return members | {
            "format_version": FORMAT_VERSION,
            "architecture": architecture.to_json(),
            **vocabulary_members(vocabularies),
            "languages": {"source": self.source_language, "target": self.target_language},
            "recipe": dict(self.recipe),
            "licence": self.licence,
            "producer": f"pocketmt {__version__}",
            "training": dict(self.training),
            "description": self.description,
        }
