"""Counters of the server, in the text format of Prometheus."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SENTENCES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


class Histogram:
    """Counts of values up to some bounds."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of the text format."""
        total = 0
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self._sum:.6f}"
        yield f"{name}_count {total}"


class Metrics:
    """What is counted; no text and no client is named."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds = Histogram(SECONDS)
        self._batch_sentences = Histogram(SENTENCES)
        self._batch_seconds = Histogram(SECONDS)
        self._characters = 0
        self._cancelled = 0

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count an answer; the path is one of the server's own."""
        self._requests[path, status] += 1
        self._seconds.add(seconds)

    def batch(self, sentences: int, cost: int, seconds: float) -> None:
        """Count a batch."""
        self._batch_sentences.add(sentences)
        self._batch_seconds.add(seconds)

    def translated(self, characters: int) -> None:
        """Count the characters of texts that were translated."""
        self._characters += characters

    def cancelled(self) -> None:
        """Count a request whose client left."""
        self._cancelled += 1

    def render(self, gauges: Mapping[str, tuple[str, int]]) -> str:
        """Return all counters.

        Args:
            gauges: name -> its help and the value of now.
        """
        lines = [
            "# HELP pocketmt_requests_total Answers, by path and status.",
            "# TYPE pocketmt_requests_total counter",
        ]
        for (path, status), count in sorted(self._requests.items()):
            lines.append(f'pocketmt_requests_total{{path="{path}",status="{status}"}} {count}')
        for name, text, count in (
            ("pocketmt_characters_total", "Characters of the texts that were translated.", self._characters),
            ("pocketmt_cancelled_total", "Requests whose clients left before the answer.", self._cancelled),
        ):
            lines += [f"# HELP {name} {text}", f"# TYPE {name} counter", f"{name} {count}"]
        for name, text, histogram in (
            ("pocketmt_request_seconds", "Time from the request to its answer.", self._seconds),
            ("pocketmt_batch_sentences", "Sentences translated together.", self._batch_sentences),
            ("pocketmt_batch_seconds", "Time of the translation of a batch.", self._batch_seconds),
        ):
            lines += [f"# HELP {name} {text}", f"# TYPE {name} histogram", *histogram.lines(name)]
        for name, (text, value) in gauges.items():
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge", f"{name} {value}"]
        return "\n".join(lines) + "\n"
