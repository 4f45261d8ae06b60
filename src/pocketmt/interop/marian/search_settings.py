"""Notes on the settings of the search in a Marian model's `decoder.yml`, which a model file has no place for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.marian.model_yml import Value
from pocketmt.interop.search_notes import BEAM_SIZE, HIGHEST_LENGTH_PENALTY, LARGEST_BEAM, search_notes

_HIGHEST_WORD_PENALTY: Final = 1000


def notes_on_settings(folder: Path, settings: Mapping[str, Value]) -> tuple[str, ...]:
    """Return notes on settings with which Marian translates otherwise than PocketMT.

    Args:
        folder: for messages.
        settings: of the folder, as `named_files` returns them.

    Raises InteropError if a setting that has to be a number is something else.
    """
    if not settings:
        return ()
    size = _number(folder, settings, "beam-size", BEAM_SIZE, 1, LARGEST_BEAM)
    if size != int(size):
        raise InteropError(f"{folder}: beam-size of the model's settings is {size:g}, expected a whole number")
    limit = HIGHEST_LENGTH_PENALTY
    # Without the setting, Marian does not divide scores by the length.
    penalty = _number(folder, settings, "normalize", 0, -limit, limit)
    notes = [*search_notes(("beam-size", int(size)), ("normalize", penalty))]
    if (words := _number(folder, settings, "word-penalty", 0, -_HIGHEST_WORD_PENALTY, _HIGHEST_WORD_PENALTY)) != 0:
        notes.append(f"word-penalty is {words:g}, which PocketMT does not have: lengths of translations may differ")
    if settings.get("allow-unk") is True:
        notes.append("allow-unk is true: give --replace-unknown, which writes a source word for an unknown piece")
    if settings.get("allow-special") is True:
        notes.append("allow-special is true, but PocketMT never generates control characters")
    return tuple(notes)


def note_on_shortlist(settings: Mapping[str, Value]) -> tuple[str, ...]:
    """Return a note if settings name a shortlist, which is not read."""
    shortlist = settings.get("shortlist")
    if not shortlist:
        return ()
    name = shortlist[0] if isinstance(shortlist, list) else shortlist
    return (f"the shortlist {name!s:.80} is left out: make one from text with `pocketmt shortlist`",)


def _number(folder: Path, settings: Mapping[str, Value], key: str, default: float, lowest: int, highest: int) -> float:
    """Return the number of a setting, or the default where it is missing or null."""
    value = settings.get(key)
    number = default if value is None else value
    if not isinstance(number, int | float) or not lowest <= number <= highest:
        raise InteropError(
            f"{folder}: {key} of the model's settings is {number!r:.80}, expected a number from {lowest} to {highest}"
        )
    return float(number)
