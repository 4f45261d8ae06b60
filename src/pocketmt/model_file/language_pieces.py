"""Languages that are chosen for each translation, by pieces that a model reads or begins its translation with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pocketmt.errors import ModelFileError

TargetPlace = Literal["source", "translation"]
TARGET_PLACES: Final[tuple[TargetPlace, ...]] = ("source", "translation")
MOST_LANGUAGES: Final = 4096
LONGEST_NAME: Final = 256  # characters of a code, and of a piece


@dataclass(frozen=True, slots=True)
class LanguagePieces:
    """The languages of a multilingual model.

    Attributes:
        target: code of each language that it translates into -> its piece.
        target_place: "source": the source begins with the target language's piece, as OPUS-MT's; "translation": the
            translation does, which no text shows, as M2M100's and NLLB's.
        source: code of each language that it translates -> its piece, which the source begins with; empty: the model
            does not ask for the source's language.
    """

    target: Mapping[str, str]
    target_place: TargetPlace
    source: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return the manifest's member."""
        member: dict[str, object] = {"target": dict(self.target), "target_place": self.target_place}
        return member | ({"source": dict(self.source)} if self.source else {})


def language_pieces_from_json(value: object) -> LanguagePieces:
    """Read the manifest's member `language_pieces`; raises ModelFileError naming what is wrong."""
    where = "manifest: language_pieces"
    if not isinstance(value, dict) or not {"target", "target_place"} <= set(value) <= {
        "target",
        "target_place",
        "source",
    }:
        raise ModelFileError(f"{where}: expected exactly target and target_place, and perhaps source")
    if value["target_place"] not in TARGET_PLACES:
        expected = " or ".join(map(repr, TARGET_PLACES))
        raise ModelFileError(f"{where}: target_place is {value['target_place']!r:.40}, expected {expected}")
    pieces = {side: _pieces(value[side], f"{where}: {side}") for side in ("target", "source") if side in value}
    return LanguagePieces(pieces["target"], value["target_place"], pieces.get("source", {}))


def _pieces(value: object, where: str) -> dict[str, str]:
    if not isinstance(value, dict) or not 1 <= len(value) <= MOST_LANGUAGES:
        raise ModelFileError(f"{where}: expected an object of 1 to {MOST_LANGUAGES} languages")
    for code, piece in value.items():
        if not isinstance(piece, str) or not 1 <= len(piece) <= LONGEST_NAME or not 1 <= len(code) <= LONGEST_NAME:
            raise ModelFileError(
                f"{where}: {code!r:.40} has the piece {piece!r:.40}, expected strings of 1 to {LONGEST_NAME} characters"
            )
    return dict(value)
