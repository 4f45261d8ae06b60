"""Notes of readers: options with which PocketMT searches for translations as the settings of a model say."""

from typing import Final

# What PocketMT does without options, and the engine's limits.
BEAM_SIZE: Final = 4
LARGEST_BEAM: Final = 256
LENGTH_PENALTY: Final = 1.0
HIGHEST_LENGTH_PENALTY: Final = 10


def search_notes(beam: tuple[str, int], penalty: tuple[str, float]) -> tuple[str, ...]:
    """Return a note for each setting of a model that differs from what PocketMT does without options.

    Args:
        beam: name and value of the setting for the number of hypotheses.
        penalty: of the exponent of the length by which log-probabilities are divided.
    """
    notes = []
    if beam[1] != BEAM_SIZE:
        notes.append(f"{beam[0]} is {beam[1]}: give --beam-size {beam[1]} to `pocketmt translate`")
    if penalty[1] != LENGTH_PENALTY:
        notes.append(
            f"{penalty[0]} is {penalty[1]:g}, but `pocketmt translate` divides scores by the length: in Python, give "
            f"length_penalty={penalty[1]:g}"
        )
    return tuple(notes)
