"""Notes on the search have the defaults and limits of the engine, which `interop` may not import."""

from pocketmt.engine import _native
from pocketmt.engine.options import DEFAULT_BEAM_SIZE, HIGHEST_LENGTH_PENALTY
from pocketmt.interop import search_notes


def test_limits_are_those_of_the_engine() -> None:
    assert search_notes.BEAM_SIZE == DEFAULT_BEAM_SIZE
    assert _native.max_beam_size == search_notes.LARGEST_BEAM
    assert search_notes.HIGHEST_LENGTH_PENALTY == HIGHEST_LENGTH_PENALTY
