"""The words that a model translates, in its file: the runtime keeps other words with a capital, such as names."""

from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.container.stream_writer import StoredTensor
from pocketmt.text.word_filter import WordFilter

KNOWN_WORDS: Final = "known_words"  # the member of the manifest, and the tensor
MOST_HASHES: Final = 32


def stored_known_words(words: WordFilter | None) -> tuple[dict[str, object], dict[str, StoredTensor]]:
    """Return the member of the manifest and the tensor, by name; None: a file without them."""
    if words is None:
        return {}, {}
    return {KNOWN_WORDS: {"hashes": words.hashes}}, {KNOWN_WORDS: StoredTensor("U8", (len(words.bits),), words.bits)}


def known_words_from_json(value: object) -> int:
    """Read the manifest's member `known_words`, the number of hashes; raises ModelFileError naming what is wrong."""
    where = f"manifest: {KNOWN_WORDS}"
    if not isinstance(value, dict) or set(value) != {"hashes"}:
        raise ModelFileError(f"{where}: expected exactly hashes")
    hashes = value["hashes"]
    if type(hashes) is not int or not 1 <= hashes <= MOST_HASHES:
        raise ModelFileError(f"{where}: hashes is {hashes!r:.40}, expected a whole number from 1 to {MOST_HASHES}")
    return hashes
