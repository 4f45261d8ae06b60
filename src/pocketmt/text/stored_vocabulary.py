"""The stored form of vocabularies: SentencePiece models, id tables, and how text reaches them."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from pocketmt.errors import DataError

Normalization = Literal["nfkc", "none"]
NORMALIZATIONS: Final[tuple[Normalization, ...]] = ("nfkc", "none")


class SpecialIds(NamedTuple):
    """Ids of the special pieces; None: the vocabulary has no such piece."""

    pad: int | None
    bos: int | None
    eos: int
    unk: int


@dataclass(frozen=True, slots=True)
class StoredVocabulary:
    """The vocabulary of one side of a model, the source's or the target's.

    Attributes:
        model: the serialized SentencePiece model.
        pieces: the id table: each id's piece, "" for an id without one; None: ids are those of the SentencePiece model.
            A piece of text that the table lacks is unknown. The table may have pieces that the model lacks.
        normalization: of text before the SentencePiece model: "nfkc", as `pocketmt.text.normalization`, or "none":
            the model's own rules alone.
        verbatim: pieces that are found in raw text before the SentencePiece model divides the rest. They are left out
            of decoded text, as Hugging Face's tokenizers treat their special tokens.
        language_codes: whether text that begins with `>>` has a piece up to the first `<<`, as Hugging Face's
            MarianTokenizer has it.

    Raises DataError if there is no id table, but the last two need one.
    """

    model: bytes
    pieces: tuple[str, ...] | None = None
    normalization: Normalization = "nfkc"
    verbatim: tuple[str, ...] = ()
    language_codes: bool = False

    def __post_init__(self) -> None:
        if self.pieces is None and (self.verbatim or self.language_codes):
            raise DataError("pieces can be found in raw text only with an id table")


class StoredVocabularies(NamedTuple):
    """The vocabularies of a model.

    Attributes:
        source: of the source.
        target: of the target; None: source and target share one vocabulary.
    """

    source: StoredVocabulary
    target: StoredVocabulary | None = None

    @property
    def sides(self) -> tuple[StoredVocabulary, ...]:
        """The one shared vocabulary, or the source's and the target's."""
        return (self.source,) if self.target is None else (self.source, self.target)


def stored_vocabularies(vocabulary: bytes | StoredVocabularies) -> StoredVocabularies:
    """Return vocabularies as given; a SentencePiece model alone is one that source and target share."""
    if isinstance(vocabulary, StoredVocabularies):
        return vocabulary
    return StoredVocabularies(StoredVocabulary(vocabulary))
