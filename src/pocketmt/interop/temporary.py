"""Models of other toolkits where a command takes a model file: imported for as long as the process runs."""

import atexit
import os
import sys
from pathlib import Path
from typing import Final

_imported: Final[dict[Path, Path]] = {}
_given: Final[dict[str, str]] = {}  # path of a temporary file -> the model as it was given
_folders: Final[list[str]] = []


def model_file_of(model: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return a model as it was given, or, if it is one of another toolkit, a temporary model file with it.

    The first import of a model is said on stderr, with the command that keeps it and the notes of its reader; the file
    is removed when the process ends. Raises as `pocketmt.interop.importing.import_model` does.
    """
    path = Path(model)
    if not str(model) or not path.exists():
        return model
    from pocketmt.interop.formats import recognize

    if (format := recognize(path)) is None:
        return model
    resolved = path.resolve()
    if resolved not in _imported:
        import shlex
        import tempfile

        from pocketmt.interop.importing import import_model

        print(
            f"{path}: a model of {format.title}, imported into a temporary file; keep it with "
            f"`pocketmt import {shlex.quote(str(path))} --output MODEL.pocketmt`",
            file=sys.stderr,
        )
        folder = tempfile.mkdtemp(prefix="pocketmt-import-")
        _folders.append(folder)
        temporary = Path(folder) / f"{resolved.stem or 'model'}.pocketmt"
        for note in import_model(path, temporary).notes:
            print(f"warning: {note}", file=sys.stderr)
        _imported[resolved] = temporary
        _given[str(temporary)] = str(path)
    return _imported[resolved]


def as_given(text: str) -> str:
    """Return a text that names models of other toolkits as they were given, instead of their temporary files."""
    for temporary, given in _given.items():
        text = text.replace(temporary, given)
    return text


@atexit.register
def _remove() -> None:
    if not _folders:
        return
    import shutil

    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)
