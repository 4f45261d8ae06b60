"""The foreign formats, and which of them a path is."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketmt.errors import InteropError
from pocketmt.interop.bergamot import BERGAMOT
from pocketmt.interop.ctranslate2 import CTRANSLATE2
from pocketmt.interop.format import Format
from pocketmt.interop.git_lfs import refuse_pointer
from pocketmt.interop.hugging_face import HUGGING_FACE
from pocketmt.interop.marian import MARIAN

if TYPE_CHECKING:
    from pocketmt.interop.foreign_model import ForeignModel

_PACKED: Final = (".gz", ".tgz", ".zip", ".tar", ".xz", ".bz2", ".zst")
FORMATS: Final[dict[str, Format]] = {format.name: format for format in (HUGGING_FACE, MARIAN, BERGAMOT, CTRANSLATE2)}


def recognize(path: Path) -> Format | None:
    """Return the format of a folder or file, or None if it is none of them."""
    for format in FORMATS.values():
        if format.recognizes is not None and format.read is not None and format.recognizes(path):
            return format
    return None


def _hint(path: Path) -> str:
    """Return what to do about a path that is a part of a model, or packed; nothing if it is neither."""
    if path.is_file() and (format := recognize(path.parent)) is not None:
        return f"name its folder, a model of {format.title}"
    packed = [file.name for file in (sorted(path.iterdir()) if path.is_dir() else (path,)) if file.suffix in _PACKED]
    return f"unpack {packed[0]} first" if packed else ""


def read_foreign(path: Path) -> "ForeignModel":
    """Read a model of a format that its files tell.

    Raises:
        InteropError: there is no such path, no format is recognized, or as `Format.read` does.
    """
    if not path.exists():
        raise InteropError(f"{path}: no such file or folder: check the path")
    format = recognize(path)
    if format is None and path.suffix == ".pocketmt" and path.is_file():
        raise InteropError(
            f"{path}: already a model file, not another toolkit's model: use it as it is, such as with "
            f"`pocketmt translate --model`. To change what it says, import its original again"
        )
    if format is None or format.read is None:
        # Formats that are recognized by the first bytes of a file are not recognized by a pointer.
        for file in sorted(path.iterdir()) if path.is_dir() else (path,):
            refuse_pointer(file)
        titles = ", ".join(format.title for format in FORMATS.values() if format.read is not None)
        raise InteropError(
            f"{path}: not a model of a known format: {_hint(path) or f'give a folder or file of {titles}'}"
        )
    return format.read(path)
