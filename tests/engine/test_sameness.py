"""A sentence's translation depends only on the sentence."""

import pytest

from pocketmt.engine import _native
from tests.engine.conftest import Loader, search_options, sentences
from tests.engine.reference import GROUPINGS, architecture

ALL = ["plain", *GROUPINGS]


@pytest.mark.parametrize("grouping", ALL)
@pytest.mark.parametrize("beam_size", [1, 3])
def test_batch_and_order(load: Loader, grouping: str, beam_size: int) -> None:
    model, _ = load(architecture(), GROUPINGS[grouping]) if grouping != "plain" else load()
    options = search_options(beam_size=beam_size, n_best=beam_size)
    sources = [*sentences(20), [], *sentences(3, seed=5, longest=150)]
    together = model.translate(sources, options)
    assert [model.translate([source], options)[0] for source in sources] == together
    assert model.translate(sources[::-1], options)[::-1] == together
    assert [*model.translate(sources[:11], options), *model.translate(sources[11:], options)] == together


@pytest.mark.parametrize("grouping", ["plain", "uniform"])
def test_workers(load: Loader, grouping: str) -> None:
    changes = {} if grouping == "plain" else {"grouping": GROUPINGS[grouping]}
    sources = sentences(100)
    one, _ = load(**changes)
    three, _ = load(workers=3, **changes)
    expected = one.translate(sources, search_options())
    pending = [three.submit(sources, search_options()) for _ in range(4)]
    for each in pending:
        assert each.result() == expected


@pytest.mark.parametrize("grouping", ALL)
def test_workers_that_share_one_sentence(load: Loader, grouping: str) -> None:
    # Enough pieces to make products large enough to be shared.
    sources = [sentence * 4 for sentence in sentences(3, longest=60)]
    changes = {} if grouping == "plain" else {"grouping": GROUPINGS[grouping]}
    one, _ = load(**changes)
    three, _ = load(workers=3, **changes)
    expected = [one.translate([source], search_options())[0] for source in sources]
    assert [three.translate([source], search_options())[0] for source in sources] == expected
    assert three.logits(sources[0], sources[1]) == one.logits(sources[0], sources[1])
    for _ in range(2):  # several at a time have a worker each, or wait
        pending = [three.submit([source], search_options()) for source in sources]
        assert [each.result()[0] for each in pending] == expected


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_instruction_sets(load: Loader, grouping: str) -> None:
    if grouping == "mixed":
        pytest.skip("holds fp32 matrices, whose sums are ordered as each instruction set likes")
    names = _native.instruction_sets()
    assert names[-1] == "portable"
    source, target = sentences(2, longest=40)
    logits = {
        name: load(grouping=GROUPINGS[grouping], instruction_set=name)[0].logits(source, target) for name in names
    }
    assert len(set(logits.values())) == 1
