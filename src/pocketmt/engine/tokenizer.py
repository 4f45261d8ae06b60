"""The Tokenizer class: text to pieces of a model's vocabulary, and back."""

from collections.abc import Sequence
from operator import index as as_integer

from pocketmt.engine.arguments import check_lines, check_text
from pocketmt.errors import EngineError
from pocketmt.text.normalization import replace_surrogates
from pocketmt.text.vocabulary import Vocabulary


class Tokenizer:
    """A vocabulary of a model: of both languages, or of one.

    A piece is an entry of the vocabulary, as SentencePiece writes it ("▁" for a space); an id is its place.

    Attributes:
        special_ids: ids of padding, beginning of sentence, end of sentence and unknown; None: there is no such piece.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.special_ids = vocabulary.ids

    def __len__(self) -> int:
        """Return the number of pieces, special pieces included."""
        return len(self._vocabulary)

    def encode(self, text: str) -> list[int]:
        """Return the piece ids of a text after the model's normalization, without beginning and end of sentence.

        Characters that the vocabulary lacks have the id of the unknown piece.
        """
        return self._vocabulary.encode(check_text(text, "text"))

    def encode_as_pieces(self, text: str) -> list[str]:
        """Return the pieces of a text, one for each id of `encode`; unknown characters are kept as they are."""
        return self._vocabulary.encode_as_pieces(check_text(text, "text"))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of piece ids; special ids are left out. EngineError if an id is out of range."""
        return self._vocabulary.decode(self._checked(ids))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return each id's piece. EngineError if an id is out of range."""
        return self._vocabulary.pieces(self._checked(ids))

    def ids(self, pieces: Sequence[str]) -> list[int]:
        """Return each piece's id. EngineError naming the first piece that the vocabulary lacks."""
        found = []
        for piece in check_lines(pieces, "pieces"):
            id = self._vocabulary.id(replace_surrogates(piece))
            if id is None:
                raise EngineError(f"the vocabulary has no piece {piece!r}; `encode_as_pieces` gives a text's pieces")
            found.append(id)
        return found

    def _checked(self, ids: Sequence[int]) -> list[int]:
        try:
            numbers = [as_integer(id) for id in ids]
        except TypeError as error:
            raise TypeError("ids must be a list of piece ids, which are integers from 0") from error
        for id in numbers:
            if not 0 <= id < len(self):
                raise EngineError(f"piece id {id} is not in the vocabulary of {len(self)} pieces")
        return numbers
