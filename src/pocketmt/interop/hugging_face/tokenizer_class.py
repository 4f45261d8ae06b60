"""The class of a Hugging Face tokenizer, which decides where the pieces of languages are placed."""

from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.configuration import Configuration
from pocketmt.interop.hugging_face.tokenizer_files import TOKENIZER_CONFIGURATION, optional_json

MARIAN: Final = "MarianTokenizer"
SMALL100: Final = "SMALL100Tokenizer"
MULTILINGUAL: Final = ("M2M100Tokenizer", "NllbTokenizer", SMALL100)
# SMaLL-100 brings the code of its tokenizer, because transformers does not have it.
_SMALL100_CODE: Final = "tokenization_small100.py"


def tokenizer_class(folder: Path, configuration: Configuration, known: tuple[str, ...]) -> str:
    """Return the class of a folder's tokenizer, without "Fast"; the first known one if no file names it.

    Raises InteropError if the class is none of the known ones.
    """
    in_configuration = configuration.get("tokenizer_class")
    named = optional_json(folder / TOKENIZER_CONFIGURATION).get("tokenizer_class")
    file, name = (TOKENIZER_CONFIGURATION, named) if named is not None else ("config.json", in_configuration)
    if name is None:
        name = known[0]
    found = name.removesuffix("Fast") if isinstance(name, str) else None
    if found not in known:
        raise InteropError(
            f"{folder / file}: tokenizer_class is {name!r:.80}, but PocketMT only has {', '.join(known)} for such a "
            "model"
        )
    return SMALL100 if SMALL100 in known and (folder / _SMALL100_CODE).is_file() else found
