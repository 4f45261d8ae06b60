"""Characters that occurred often in the training text of a vocabulary."""

from pocketmt.text.vocabulary import Vocabulary


def frequent_characters(vocabulary: Vocabulary) -> frozenset[str]:
    """Return the characters of the pieces that have several; a rare one is a piece alone, or unknown."""
    pieces = vocabulary.pieces(range(len(vocabulary)))
    return frozenset("".join(piece for piece in pieces if len(piece) > 1))
