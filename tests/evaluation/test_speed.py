from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.engine.devices import LINES_AT_ONCE
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.speed import WARM_UP_SENTENCES, lengthened, measure_latency, measure_throughput, summarize


@given(count=st.integers(1, 40), repeats=st.integers(1, 3))
def test_latency_is_of_each_line_alone_in_every_run(count: int, repeats: int) -> None:
    calls: list[Sequence[str]] = []
    lines = [f"line number {index}" for index in range(count)]
    timing = measure_latency(calls.append, lines, repeats)
    assert [list(call) for call in calls] == [[line] for line in lines[:WARM_UP_SENTENCES] + lines * repeats]
    assert len(timing.seconds) == repeats
    assert timing.fastest_seconds <= timing.median_seconds <= timing.slowest_seconds
    assert (timing.sentences, timing.words) == (count, 3 * count)
    assert timing.latency is not None
    assert timing.latency.median_milliseconds <= timing.latency.percentile_95_milliseconds


@given(count=st.integers(1, 3 * LINES_AT_ONCE), repeats=st.integers(1, 3))
def test_throughput_is_of_all_lines_as_one_stream(count: int, repeats: int) -> None:
    streams: list[list[str]] = []
    sizes: list[int] = []

    def stream(chunks: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
        streams.append([])
        for chunk in chunks:
            streams[-1] += chunk
            sizes.append(len(chunk))
            yield chunk

    lines = [f"line {index}" for index in range(count)]
    timing = measure_throughput(stream, lines, repeats)
    assert streams == [lines[:WARM_UP_SENTENCES], *[lines] * repeats]
    assert max(sizes) <= LINES_AT_ONCE
    assert len(timing.seconds) == repeats
    assert timing.latency is None


def test_the_summary_of_known_times() -> None:
    timing = summarize("throughput", ["two words", "and three more"], [0.4, 0.4, 1.0], 7)
    assert timing.median_seconds == pytest.approx(0.4)
    assert timing.sentences_per_second == pytest.approx(5)
    assert timing.words_per_second == pytest.approx(12.5)
    assert timing.memory_growth_bytes == 7


@given(st.lists(st.floats(1e-6, 10), min_size=1, max_size=200))
def test_a_percentile_is_a_measured_time(calls: list[float]) -> None:
    clock = iter([moment for call in calls for moment in (0.0, call)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pocketmt.evaluation.speed.WARM_UP_SENTENCES", 0)
        patch.setattr("pocketmt.evaluation.speed.time.perf_counter", lambda: next(clock))
        latency = measure_latency(len, ["a line"] * len(calls), repeats=1).latency
    assert latency is not None
    for percentile, share in ((latency.percentile_95_milliseconds, 0.95), (latency.percentile_99_milliseconds, 0.99)):
        assert percentile in [1000 * call for call in calls]
        assert sum(1000 * call <= percentile for call in calls) >= share * len(calls)


@pytest.mark.parametrize("mode", ["latency", "throughput"])
def test_growth_of_memory_after_a_tenth_of_the_text_is_measured(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    translated: list[str] = []
    monkeypatch.setattr("pocketmt.evaluation.speed.memory_bytes", lambda: 1000 + len(translated))
    lines = ["a line"] * (10 * LINES_AT_ONCE)
    if mode == "latency":
        timing = measure_latency(translated.extend, lines, repeats=2)
    else:

        def stream(chunks: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
            for chunk in chunks:
                translated.extend(chunk)
                yield chunk

        timing = measure_throughput(stream, lines, repeats=2)
    assert timing.memory_growth_bytes == 2 * len(lines) - len(lines) // 10


@pytest.mark.parametrize(("count", "expected"), [(1, ["a"]), (5, ["a", "b", "a", "b", "a"])])
def test_a_text_is_repeated_as_needed(count: int, expected: list[str]) -> None:
    assert lengthened(["a", "b"], count) == expected


def test_nothing_to_time_is_refused() -> None:
    with pytest.raises(DataError, match="no lines"):
        measure_latency(len, [])
    with pytest.raises(DataError, match="no lines"):
        measure_throughput(iter, [])
    with pytest.raises(DataError, match="no lines"):
        measure_latency(len, lengthened([], 3))
    with pytest.raises(ConfigurationError, match="not 0 times"):
        measure_latency(len, ["a"], repeats=0)
