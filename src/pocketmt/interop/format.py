"""A foreign format: functions that recognize, read and write it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # NumPy, which the runtime does not have, is imported when a format is read or written.
    from pocketmt.interop.foreign_model import ForeignModel


@dataclass(frozen=True, slots=True)
class Format:
    """A format of another toolkit.

    Attributes:
        name: on the command line, such as "hugging-face".
        title: in messages, such as "Hugging Face".
        recognizes: whether a path is a model of this format; looks at names, or at the first bytes, and never raises.
        read: returns the model; raises InteropError naming what is damaged, or what PocketMT does not have.
        write: writes a model to a folder that it makes, and returns notes on what the format holds only nearly or not
            at all; raises InteropError naming what makes it another network. None: the format is only read.
    """

    name: str
    title: str
    recognizes: Callable[[Path], bool] | None = None
    read: "Callable[[Path], ForeignModel] | None" = None
    write: "Callable[[ForeignModel, Path], tuple[str, ...]] | None" = None
