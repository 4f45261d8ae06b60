"""Records of the text and the teacher of a run, by which a later call notices that they have changed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.line_digest import LineDigest
from pocketmt.text.corpus import read_pairs
from pocketmt.training.configuration import Data
from pocketmt.training.run_folder import read_settings, write_json

INPUTS: Final = "inputs.json"


class TextRecord(msgspec.Struct, frozen=True):
    """One side of a text: its file, its number of lines, and their hexadecimal SHA-256."""

    path: str
    lines: int
    sha256: str


class RunInputs(msgspec.Struct, frozen=True):
    """What a run learns from, stored in inputs.json."""

    texts: tuple[TextRecord, ...]  # Of the validation text, then of the training text: source and target of each file.
    teacher: str | None = None  # The digest of the teacher's weights; None: there is none.


def read_texts(data: Data) -> tuple[TextRecord, ...]:
    """Read the whole text of a run once, so that errors in it are found before any work, and return records of it.

    Raises:
        DataError: a file cannot be read, the two sides have unequal numbers of lines, or a text is empty.
        ConfigurationError: as `Data.training_files` does.
    """
    return (*read_validation_text(data), *read_training_text(data))


def read_validation_text(data: Data) -> tuple[TextRecord, ...]:
    """Read the validation text, and return records of its two sides; raises as `read_texts` does."""
    records = _read(*data.validation_files, data)
    if not records[0].lines:
        raise DataError(f"{data.validation_source} is empty: training needs validation text to know when to stop")
    return records


def read_training_text(data: Data) -> tuple[TextRecord, ...]:
    """Read the training text, and return records of the two sides of each file; raises as `read_texts` does."""
    training = [_read(source, target, data) for source, target in data.training_files]
    if not any(source.lines for source, _ in training):
        names = dict.fromkeys(record.path for record in training[0])
        raise DataError(f"{' and '.join(names)}: empty, there is nothing to train on")
    return tuple(record for sides in training for record in sides)


def _read(source: Path, target: Path, data: Data) -> tuple[TextRecord, TextRecord]:
    first, second = LineDigest(), LineDigest()
    for source_line, target_line in read_pairs(source, target, data.languages):
        first.add(source_line)
        second.add(target_line)
    return (
        TextRecord(str(source), first.lines, first.hexdigest()),
        TextRecord(str(target), second.lines, second.hexdigest()),
    )


def check_inputs(folder: Path, inputs: RunInputs, teacher: str | None) -> None:
    """Check that a run learns from what its folder's record says, if there is one; the files may have been moved.

    Args:
        folder: folder of the run.
        inputs: of the run.
        teacher: name of the teacher, for the message.

    Raises ConfigurationError if a text or the teacher has changed.
    """
    earlier = read_settings(folder / INPUTS, RunInputs)
    if earlier is not None:
        check_unchanged(earlier.texts, inputs.texts, folder)
        if earlier.teacher != inputs.teacher:
            raise _changed(f"the weights of the teacher {teacher}", folder)


def record_inputs(folder: Path, inputs: RunInputs) -> None:
    """Record what a run learns from, which `check_inputs` has checked."""
    if read_settings(folder / INPUTS, RunInputs) != inputs:
        write_json(folder / INPUTS, inputs)


def check_unchanged(earlier: Sequence[TextRecord], now: Sequence[TextRecord], folder: Path) -> None:
    """Raise ConfigurationError if a text is not what it was when the work in a folder began, or their number is not."""
    if len(earlier) != len(now):
        raise ConfigurationError(
            f"the work in {folder} began with {len(earlier) or 'no'} files of parallel text, and now there are "
            f"{len(now) or 'none'}: give the same text, choose another folder, or remove this one to start again"
        )
    for before, after in zip(earlier, now, strict=True):
        if (before.lines, before.sha256) == (after.lines, after.sha256):
            continue
        if before.path == after.path:
            raise _changed(f"the text of {after.path}", folder)
        raise ConfigurationError(
            f"the work in {folder} began with {before.path}, and {after.path} has other text: give the same text, "
            "choose another folder, or remove this one to start again"
        )


def _changed(what: str, folder: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{what} changed after the work in {folder} began: restore it, choose another folder, or remove this one to "
        "start again"
    )
