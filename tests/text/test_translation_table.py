"""IBM model 1 compared with the equations of Brown et al., and its bounds."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.text import translation_table
from pocketmt.text.pair_chunks import PairChunks
from pocketmt.text.translation_table import TranslationTable, count_links, estimate

PIECES = 12
Pairs = list[tuple[list[int], list[int]]]
sentences = st.lists(st.integers(0, PIECES - 1), min_size=1, max_size=5)
texts = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8)


def plain(pairs: Pairs, iterations: int) -> dict[tuple[int, int], float]:
    """Piece by piece, in dictionaries."""
    table: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    for _ in range(iterations):
        counts: dict[tuple[int, int], float] = defaultdict(float)
        for source, target in pairs:
            for e in target:
                whole = sum(table[f, e] for f in source)
                for f in source:
                    counts[f, e] += table[f, e] / whole
        sums: dict[int, float] = defaultdict(float)
        for (f, _), count in counts.items():
            sums[f] += count
        table = {(f, e): count / sums[f] for (f, e), count in counts.items()}
    return table


def entries(table: TranslationTable) -> dict[tuple[int, int], float]:
    keys = zip(table.sources.tolist(), table.targets.tolist(), strict=True)
    return dict(zip(keys, table.probabilities.tolist(), strict=True))


def estimated(pairs: Pairs, iterations: int) -> TranslationTable:
    with PairChunks(pairs, PIECES) as chunks:
        return estimate(chunks, PIECES, iterations)


def test_a_worked_example() -> None:
    # "das Haus" = "the house", "das" = "the": what "das" explains better, "Haus" need not.
    das, haus, the, house = 4, 5, 6, 7
    table = entries(estimated([([das, haus], [the, house]), ([das], [the])], 2))
    # First: p(the | das) = 1.5 / 2, p(house | das) = 0.5 / 2, p(the | haus) = p(house | haus) = 0.5.
    # Then "the" of the first pair is made by das with 0.75 / 1.25 = 0.6, "house" with 0.25 / 0.75 = 1/3.
    assert table[das, the] == pytest.approx(1.6 / (1.6 + 1 / 3))
    assert table[haus, house] == pytest.approx((2 / 3) / (2 / 3 + 0.4))


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 4))
def test_it_is_expectation_maximization(pairs: Pairs, iterations: int) -> None:
    expected = {key: value for key, value in plain(pairs, iterations).items() if value > 1e-5}
    found = entries(estimated(pairs, iterations))
    assert expected.keys() <= found.keys()
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-3)
    assert list(found) == sorted(found)


def test_the_division_into_chunks_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    pairs = [(draw.integers(0, PIECES, 6).tolist(), draw.integers(0, PIECES, 6).tolist()) for _ in range(50)]
    whole = entries(estimated(pairs, 3))
    monkeypatch.setattr("pocketmt.text.pair_chunks.CELLS_AT_ONCE", 100)
    monkeypatch.setattr(translation_table, "COUNTED_AT_ONCE", 30)
    assert entries(estimated(pairs, 3)) == pytest.approx(whole)


def test_a_source_piece_keeps_a_bounded_number_of_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation_table, "MOST_TARGETS", 3)
    monkeypatch.setattr(translation_table, "COUNTED_AT_ONCE", 5)
    monkeypatch.setattr("pocketmt.text.pair_chunks.CELLS_AT_ONCE", 4)
    pairs = [([1], [target]) for target in (5, 5, 6, 6, 6, 7, 7, 8, 9)]
    table = estimated(pairs, 3)
    assert entries(table) == pytest.approx({(1, 5): 2 / 7, (1, 6): 3 / 7, (1, 7): 2 / 7})


def test_iterations_are_reported() -> None:
    told: list[tuple[int, int]] = []
    with PairChunks([([1], [2])], PIECES) as chunks:
        estimate(chunks, PIECES, 3, lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_links_are_counted() -> None:
    links = [(np.array([4, 4, 5]), np.array([6, 7, 6])), (np.array([4, 4]), np.array([7, 7])), (np.array([], int),) * 2]
    assert entries(count_links(links, PIECES)) == pytest.approx({(4, 6): 0.25, (4, 7): 0.75, (5, 6): 1.0})


def test_the_most_probable_targets() -> None:
    table = TranslationTable(np.array([14, 15, 16, 25, 26]), np.array([0.3, 0.4, 0.3, 0.1, 0.9]), PIECES)
    assert list(entries(table.top_k(1))) == [(1, 3), (2, 2)]
    assert list(entries(table.top_k(2))) == [
        (1, 2),
        (1, 3),
        (2, 1),
        (2, 2),
    ]  # a tie of 2 and 4: the lower id
    assert entries(table.top_k(9)) == entries(table)
