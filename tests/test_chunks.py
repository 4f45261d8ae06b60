"""Chunks of what is iterated over."""

from pocketmt.chunks import in_chunks


def test_the_last_chunk_is_shorter() -> None:
    assert list(in_chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(in_chunks((), 2)) == []


def test_items_are_read_when_a_chunk_is_asked_for() -> None:
    items = iter(range(5))
    assert next(in_chunks(items, 2)) == [0, 1]
    assert next(items) == 2
