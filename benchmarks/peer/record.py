"""From measurements to the rows of the record, and a table of them."""

import statistics
from collections.abc import Sequence
from typing import Any

from pocketmt.evaluation.tables import Column, markdown_table

COLUMNS = (
    "model",
    "case",
    "weights",
    "peer_milliseconds:.2f=CTranslate2, ms a sentence",
    "milliseconds:.2f=PocketMT",
    "speed_ratio:.2f=times as fast",
    "lowest_ratio:.2f=lowest",
    "highest_ratio:.2f=highest",
    "times_our_8_bit:.2f=times our 8 bit",
    "processor_ratio:.2f=by processor time",
    "peer_peak_megabytes:.0f=CTranslate2, peak MB",
    "peak_megabytes:.0f=PocketMT, peak MB",
    "same_outputs:.1%=same outputs",
    "peer_choice=CTranslate2's setting",
    "choice=ours",
)


def rows_of(model: str, case: str, measured: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each of our sides; the first measurement is the peer's.

    A ratio above 1 says that ours is faster. Ratios are taken round by round: their median, lowest and highest.
    `core_share` is the share of the clock's time that a median run had the core: near 1 where nothing else ran on it.
    """
    peer, *ours = measured
    rows = []
    for mine in ours:
        low, median, high = _ratios(peer["seconds"], mine["seconds"])
        eight_bit = [other for other in ours if other["weights"] == "uniform8" and other is not mine]
        rows.append(
            {
                "model": model,
                "case": case,
                "weights": mine["weights"],
                "peer_weights": peer["weights"],
                "peer_milliseconds": peer["milliseconds_per_sentence"],
                "milliseconds": mine["milliseconds_per_sentence"],
                "peer_sentences_per_second": peer["sentences_per_second"],
                "sentences_per_second": mine["sentences_per_second"],
                "speed_ratio": median,
                "lowest_ratio": low,
                "highest_ratio": high,
                "processor_ratio": _ratios(peer["processor_seconds"], mine["processor_seconds"])[1],
                "core_share": min(_core_share(peer), _core_share(mine)),
                "times_our_8_bit": _ratios(eight_bit[0]["seconds"], mine["seconds"])[1] if eight_bit else None,
                "peer_file_megabytes": peer["file_bytes"] / 1e6,
                "file_megabytes": mine["file_bytes"] / 1e6,
                "peer_peak_megabytes": peer["peak_memory_bytes"] / 1e6,
                "peak_megabytes": mine["peak_memory_bytes"] / 1e6,
                "peak_over_file_megabytes": (mine["peak_memory_bytes"] - mine["file_bytes"]) / 1e6,
                "target_tokens_of_peer": peer["target_tokens"],
                "target_tokens": mine["target_tokens"],
                # CTranslate2 has no 4-bit weights: its words are another model's then.
                "same_outputs": None
                if mine["weights"] == "logarithmic4"
                else _equal_share(peer["outputs"], mine["outputs"]),
                "peer_choice": peer["choice"],
                "choice": mine["choice"],
            }
        )
    return rows


def _ratios(slower: Sequence[float], faster: Sequence[float]) -> tuple[float, float, float]:
    """Return the lowest, median and highest of two sides' times, divided round by round."""
    ratios = sorted(a / b for a, b in zip(slower, faster, strict=True))
    return ratios[0], statistics.median(ratios), ratios[-1]


def _core_share(measured: dict[str, Any]) -> float:
    return _ratios(measured["processor_seconds"], measured["seconds"])[1]


def _equal_share(one: Sequence[Sequence[int]], other: Sequence[Sequence[int]]) -> float:
    return sum(list(a) == list(b) for a, b in zip(one, other, strict=True)) / len(one)


def render(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    return markdown_table(rows, [Column.parse(column) for column in COLUMNS])
