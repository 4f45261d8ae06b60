"""Folders of runs: the lock, the settings that a folder belongs to, and the removal of what a refused run has left."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from pocketmt.atomic_file import UNFINISHED, atomic_write
from pocketmt.errors import ConfigurationError
from pocketmt.folder_lock import locked
from pocketmt.training.earlier_versions import decode_settings

S = TypeVar("S", bound=msgspec.Struct)


@contextmanager
def run_folder(
    folder: Path,
    settings: str,
    kind: type[msgspec.Struct],
    files: tuple[str, ...],
    holds_result: Callable[[BaseException | None], bool],
    kept: tuple[str, ...] = (),
) -> Iterator[None]:
    """Lock the folder of a run, and remove the run's files from it as long as it holds no result.

    A run without a result starts again, so its files are removed after an error. What a killed run has left is removed
    at the beginning, and so are unfinished files. So a run that was refused can be corrected and started in the same
    folder.

    Args:
        folder: folder of the run, created if it is missing.
        settings: name of the file with the run's settings, the first that a run writes.
        kind: of the settings.
        files: patterns of the names of the other files and folders that a run writes.
        holds_result: returns whether the folder holds something that a later call resumes from; called with the error,
            or None at the beginning.
        kept: patterns of the files and folders that a run writes and that stay without a result.

    Raises LockedError if another process is working in the folder, and ConfigurationError if a file of the settings'
    name holds something else.
    """
    with locked(folder):
        if (folder / settings).exists() and read_settings(folder / settings, kind) is None:
            # Then the other files may be the user's as well, and must not be removed.
            raise ConfigurationError(
                f"{folder / settings} does not hold the settings of a run of this command: choose another folder"
            )
        remove_unfinished(folder, (settings, *files, *kept))
        if (folder / settings).exists() and not holds_result(None):
            _remove(_matching(folder, (settings, *files)))
        others = set() if (folder / settings).exists() else _matching(folder, files)  # Files of the user.
        try:
            yield
        except BaseException as error:
            if not holds_result(error):
                _remove(_matching(folder, (settings, *files)) - others)
            raise


def remove_unfinished(folder: Path, patterns: Iterable[str]) -> None:
    """Remove what a killed process has left of files that it wrote by `atomic_write`; others' unfinished files stay.

    Args:
        folder: folder of the files; no other process writes these.
        patterns: of the files; of a folder, all files in it.
    """
    for pattern in patterns:
        path = folder / pattern
        unfinished = [*path.parent.glob(UNFINISHED.format(path.name))]
        for each in folder.glob(pattern):
            unfinished += each.rglob(UNFINISHED.format("*")) if each.is_dir() else ()
        for each in unfinished:
            each.unlink()


def _matching(folder: Path, patterns: tuple[str, ...]) -> set[Path]:
    return {path for pattern in patterns for path in folder.glob(pattern)}


def _remove(paths: set[Path]) -> None:
    """Remove files, folders, and folders that are empty then."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
            with suppress(OSError):
                path.parent.rmdir()


def record_settings(
    folder: Path, name: str, settings: S, other: str, meaning: Callable[[S], S] = lambda settings: settings
) -> None:
    """Write the settings of a run to a file of its folder, or check that the file holds settings of the same meaning.

    Settings that are missing in the file have their defaults, so that folders of earlier versions still match.

    Args:
        folder: folder of the run.
        name: name of the file.
        settings: settings of the run.
        other: names a run with other settings in the error message.
        meaning: returns settings without what may change during a run.

    Raises:
        ConfigurationError: the file holds other settings.
    """
    check_settings(folder, name, settings, other, meaning)
    file = folder / name
    if read_settings(file, type(settings)) != settings:
        write_json(file, settings)


def write_json(path: Path, content: msgspec.Struct, end: str = "") -> None:
    """Write a structure as indented JSON with an end; raises ConfigurationError as `atomic_write` does."""
    with atomic_write(path) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(content), indent=2) + end.encode())


def check_settings(
    folder: Path, name: str, settings: S, other: str, meaning: Callable[[S], S] = lambda settings: settings
) -> None:
    """Check that a file of a run's folder is missing or holds settings of the same meaning; see `record_settings`."""
    file = folder / name
    recorded = read_settings(file, type(settings))
    if file.exists() and (recorded is None or meaning(recorded) != meaning(settings)):
        differences = [] if recorded is None else _differences(meaning(recorded), meaning(settings))
        shown = ", ".join(differences[:3]) + ", ..." * (len(differences) > 3)
        raise ConfigurationError(
            f"{folder} holds a {other} ({shown}{'; ' if shown else ''}see {file}): choose another folder, or remove "
            "this one to start again"
        )


def read_settings(file: Path, kind: type[S]) -> S | None:
    """Return the settings in a file; None if it is missing or holds no settings of this type."""
    try:
        return decode_settings(file.read_bytes(), kind)
    except (FileNotFoundError, UnicodeDecodeError, msgspec.DecodeError):
        return None


def _differences(recorded: Any, given: Any, name: str = "") -> list[str]:
    """Return the values that differ, such as "seed is 1 there and 2 here"; those of structures by their names."""
    if isinstance(recorded, msgspec.Struct) and type(recorded) is type(given):
        fields = recorded.__struct_fields__
        return [
            each for field in fields for each in _differences(getattr(recorded, field), getattr(given, field), field)
        ]
    if isinstance(recorded, dict) and isinstance(given, dict) and recorded.keys() == given.keys():
        return [each for key in recorded for each in _differences(recorded[key], given[key], key)]
    if isinstance(recorded, list | tuple) and isinstance(given, list | tuple) and len(recorded) == len(given):
        return [each for pair in zip(recorded, given, strict=True) for each in _differences(*pair, name)]
    return [] if recorded == given else [f"{name} is {_short(recorded)} there and {_short(given)} here"]


def _short(value: Any) -> str:
    text = repr(msgspec.to_builtins(value))
    return text if len(text) <= 60 else f"{text[:57]}..."
