"""The folder of corpora, which are not part of the repository: POCKETMT_DATA, or ../shared/data beside the checkout."""

import os
from pathlib import Path
from typing import Final

from pocketmt.errors import DataError

ROOT: Final = Path(__file__).resolve().parents[1]
VARIABLE: Final = "POCKETMT_DATA"


def data_folder() -> Path:
    """Return the folder of all corpora; it need not exist."""
    return Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "data")


def corpus(name: str) -> Path:
    """Return the folder of a corpus, such as "multi30k"; DataError, with where to get it, if it does not exist."""
    folder = data_folder() / name
    if not folder.is_dir():
        raise DataError(
            f"{folder}: there is no such corpus: set {VARIABLE} to the folder of the corpora; docs/appendices/data.md "
            "says where each can be had"
        )
    return folder
