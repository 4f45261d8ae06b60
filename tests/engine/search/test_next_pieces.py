"""Search of the vocabulary in slices: used for many rows of 5,000 pieces, not for a few rows."""

import numpy as np
import pytest

from pocketmt.models.search import beam_search
from tests.engine.conftest import Loader, search_options, sentences
from tests.engine.reference import GROUPINGS, architecture

SHAPE = architecture(vocabulary_size=5000)
ALL = ["plain", *GROUPINGS]


@pytest.mark.parametrize("grouping", ALL)
@pytest.mark.parametrize("beam_size", [1, 4])
def test_many_rows_find_what_each_row_finds_by_itself(load: Loader, grouping: str, beam_size: int) -> None:
    model, _ = load(SHAPE, *([] if grouping == "plain" else [GROUPINGS[grouping]]))
    options = search_options(beam_size=beam_size, n_best=beam_size)
    sources = sentences(80, longest=8)
    together = model.translate(sources, options)
    assert together == [model.translate([source], options)[0] for source in sources]
    pieces = {piece for hypotheses in together for ids, _ in hypotheses for piece in ids}
    assert {piece // 2048 for piece in pieces} == {0, 1, 2}  # of every slice


def test_scores_are_those_of_the_whole_vocabulary(load: Loader) -> None:
    model, reference = load(SHAPE)
    sources = sentences(40, longest=8)
    found = model.translate(sources, search_options(beam_size=4, n_best=4))
    expected = beam_search(reference, sources, 4)
    equal = 0
    for ours, theirs in zip(found, expected, strict=True):
        if [ids for ids, _ in ours] == [list(hypothesis.ids) for hypothesis in theirs]:
            equal += 1
            np.testing.assert_allclose([score for _, score in ours], [h.score for h in theirs], atol=1e-3)
    assert equal >= 38


@pytest.mark.parametrize("grouping", ALL)
def test_workers_that_share_the_slices_of_one_sentence(load: Loader, grouping: str) -> None:
    groupings = [] if grouping == "plain" else [GROUPINGS[grouping]]
    options = search_options(beam_size=40, max_length=5)
    (source,) = sentences(1)
    one, three = (load(SHAPE, *groupings, workers=workers)[0] for workers in (1, 3))
    assert three.translate([source], options) == one.translate([source], options)
