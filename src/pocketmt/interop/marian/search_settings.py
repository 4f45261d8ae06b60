"""Notes on the settings of the search in a Marian model's `decoder.yml`, which a model file has no place for."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.marian.model_yml import Value
from pocketmt.interop.search_notes import SearchSetting, search_notes

# Marian's, where the settings of a folder do not have the key. It does not divide scores by the length then.
_BEAM_SIZE: Final = 12
_NORMALIZE: Final = 0


def notes_on_settings(folder: Path, settings: Mapping[str, Value]) -> tuple[str, ...]:
    """Return notes on settings with which Marian translates otherwise than PocketMT.

    Args:
        folder: for messages.
        settings: of the folder, as `named_files` returns them.

    Raises InteropError if a setting that has to be a number is something else.
    """
    if not settings:
        return ()
    beam = _setting(folder, settings, "beam-size", _BEAM_SIZE)
    if beam.value < 1 or beam.value != int(beam.value):
        raise InteropError(
            f"{folder}: beam-size of the model's settings is {beam.value:g}, expected a whole number of at least 1"
        )
    notes = [*search_notes(beam, _setting(folder, settings, "normalize", _NORMALIZE))]
    if (words := _setting(folder, settings, "word-penalty", 0)).value != 0:
        notes.append(
            f"word-penalty is {words.value:g}, which PocketMT does not have: lengths of translations may differ"
        )
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


def _setting(folder: Path, settings: Mapping[str, Value], name: str, default: float) -> SearchSetting:
    """Return a setting, with the default where it is missing or null."""
    value = settings.get(name)
    number = default if value is None else value
    # Not infinite, no NaN, and no whole number that a float cannot have.
    if not isinstance(number, int | float) or not -sys.float_info.max <= number <= sys.float_info.max:
        raise InteropError(f"{folder}: {name} of the model's settings is {number!r:.80}, expected a number")
    return SearchSetting(name, float(number), value is not None)
