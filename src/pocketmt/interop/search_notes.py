"""Notes of readers: options with which PocketMT searches for translations as the settings of a model say."""

from typing import Final, NamedTuple

# What PocketMT does without options, and the engine's limits; `interop` may not import the engine, so a test compares.
BEAM_SIZE: Final = 4
LARGEST_BEAM: Final = 256
LENGTH_PENALTY: Final = 1.0
HIGHEST_LENGTH_PENALTY: Final = 10


class SearchSetting(NamedTuple):
    """A setting of the search in a model's files.

    Attributes:
        name: as the files have it.
        value: its number, or the other toolkit's default.
        given: whether the files give it.
    """

    name: str
    value: float
    given: bool


def search_notes(beam: SearchSetting, penalty: SearchSetting) -> tuple[str, ...]:
    """Return a note for each setting of a model that differs from what PocketMT does without options.

    Args:
        beam: the number of hypotheses, a whole number of at least 1.
        penalty: the exponent of the length by which log-probabilities are divided.
    """
    notes = []
    if beam.value != BEAM_SIZE:
        size, limit = min(int(beam.value), LARGEST_BEAM), ", the limit," if beam.value > LARGEST_BEAM else ""
        notes.append(f"{_says(beam)}: give --beam-size {size}{limit} to `pocketmt translate`")
    if penalty.value != LENGTH_PENALTY:
        exponent = max(-HIGHEST_LENGTH_PENALTY, min(penalty.value, HIGHEST_LENGTH_PENALTY))
        limit = "" if exponent == penalty.value else ", the limit"
        notes.append(
            f"{_says(penalty)}, but `pocketmt translate` divides scores by the length: in Python, give "
            f"length_penalty={exponent:g}{limit}"
        )
    return tuple(notes)


def _says(setting: SearchSetting) -> str:
    """Return what the files say about a setting."""
    return f"{setting.name} is {'' if setting.given else 'not given, so '}{setting.value:.15g}"
