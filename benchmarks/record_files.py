"""Files of records: JSON, with the names that recipes and models had when they were measured."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pocketmt.atomic_file import atomic_write
from pocketmt.errors import DataError
from pocketmt.evaluation.records import to_json

# Under these keys a record names a recipe or a model.
RENAMED_KEYS: Final = ("recipe", "recipes", "form", "baseline", "model")


def write_record(record: Any, path: Path) -> None:
    """Write a dataclass or mapping as indented JSON, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as stream:
        stream.write(f"{to_json(record)}\n".encode())


@dataclass(frozen=True)
class GrowingRecord:
    """A record that is written again after each measurement, so that a program that is cut off leaves what it measured.

    Attributes:
        path: of the record; None: nothing is written.
        about: what does not change, such as the program and its provenance.
    """

    path: Path | None
    about: Mapping[str, Any]

    def write(self, content: Mapping[str, Any], *, complete: bool = False) -> None:
        """Write the record with what was measured so far, atomically, and whether that is all."""
        if self.path is not None:
            write_record({**self.about, "complete": complete, **content}, self.path)


def read_record(path: Path) -> dict[str, Any]:
    """Read a record; DataError if the file is missing or is not a JSON object."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such record; measure it first (see docs, or `make benchmark`)") from error
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: not a readable JSON record ({error})") from error
    if not isinstance(record, dict):
        raise DataError(f"{path}: a record is a JSON object, this is a {type(record).__name__}")
    return record


def rename(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a record with some names of recipes, models and tables replaced.

    Args:
        record: values under the keys `RENAMED_KEYS`, and the keys of its "tables", are replaced.
        names: the name in the record -> the name to be shown.
    """
    renamed: dict[str, Any] = _renamed(record, names, "")
    return renamed


def _renamed(value: Any, names: Mapping[str, str], key: str) -> Any:
    if isinstance(value, Mapping):
        inner = {names.get(name, name) if key == "tables" else name: each for name, each in value.items()}
        return {name: _renamed(each, names, name) for name, each in inner.items()}
    if isinstance(value, list):
        return [_renamed(each, names, key) for each in value]
    return names.get(value, value) if key in RENAMED_KEYS and isinstance(value, str) else value
