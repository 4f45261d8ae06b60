from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.speed import WARM_UP_SENTENCES, measure, summarize


@given(count=st.integers(1, 40), batch_size=st.integers(1, 50), repeats=st.integers(1, 3))
def test_every_line_is_translated_in_order_in_every_run(count: int, batch_size: int, repeats: int) -> None:
    calls: list[list[str]] = []
    lines = [f"line {index}" for index in range(count)]

    def translate(batch: Sequence[str]) -> None:
        calls.append(list(batch))

    timing = measure(translate, lines, batch_size, repeats)
    batches = -(-count // batch_size)
    measured = calls[len(calls) - repeats * batches :]
    assert [line for batch in measured for line in batch] == lines * repeats
    assert max(len(batch) for batch in measured) == min(batch_size, count)
    warm_up = [line for batch in calls[: len(calls) - repeats * batches] for line in batch]
    assert warm_up == lines[: len(warm_up)]
    assert min(count, batch_size) <= len(warm_up) <= max(WARM_UP_SENTENCES, batch_size)
    assert len(timing.seconds) == repeats
    assert timing.fastest_seconds <= timing.median_seconds <= timing.slowest_seconds


def test_the_summary_of_known_times() -> None:
    timing = summarize([[0.1, 0.3], [0.2, 0.2], [0.5, 0.5]], sentences=2, batch_size=1)
    assert timing.seconds == pytest.approx((0.4, 0.4, 1.0))
    assert timing.median_seconds == pytest.approx(0.4)
    assert timing.sentences_per_second == pytest.approx(5)
    assert timing.median_call_milliseconds == pytest.approx(250)
    assert timing.percentile_95_call_milliseconds == pytest.approx(500)


@given(st.lists(st.floats(1e-6, 10), min_size=1, max_size=200))
def test_the_percentile_is_a_measured_call_that_at_least_95_percent_do_not_exceed(calls: list[float]) -> None:
    percentile = summarize([calls], len(calls), 1).percentile_95_call_milliseconds
    assert percentile in [1000 * call for call in calls]
    assert sum(1000 * call <= percentile for call in calls) >= 0.95 * len(calls)


def test_nothing_to_time_is_refused() -> None:
    with pytest.raises(DataError, match="no lines"):
        measure(len, [])
    with pytest.raises(ConfigurationError, match="0 and 5"):
        measure(len, ["a"], batch_size=0)
    with pytest.raises(ConfigurationError, match="1 and 0"):
        measure(len, ["a"], repeats=0)
