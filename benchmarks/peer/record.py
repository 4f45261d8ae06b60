"""Rows of the record, and a table of them."""

import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.markdown import markdown_table
from benchmarks.one_core import share_of_core
from benchmarks.peer.models import TimedModel
from pocketmt.evaluation.tables import Column

COLUMNS = (
    "model",
    "decoder",
    "shortlist",
    "case",
    "weights",
    "peer",
    "peer_milliseconds:.2f=peer, ms a sentence",
    "milliseconds:.2f=PocketMT",
    "speed_ratio:.2f=times as fast",
    "lowest_ratio:.2f=lowest",
    "highest_ratio:.2f=highest",
    "times_our_8_bit:.2f=times our 8 bit",
    "processor_ratio:.2f=by processor time",
    "percentile_95_milliseconds:.2f=p95, ms",
    "peer_peak_megabytes:.0f=peer, peak MB",
    "peak_megabytes:.0f=PocketMT, peak MB",
    "same_outputs:.1%=same outputs",
    "peer_choice=peer's setting",
    "choice=ours",
)
# Forms whose translations can be compared with CTranslate2's; Marian's always differ.
SAME_WEIGHTS = ("float32", "uniform8")


def rows_of(
    model: TimedModel, case: str, peers: Sequence[dict[str, Any]], ours: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return a row for each of our forms and each peer, from measurements in turn.

    Ratios above 1 mean that ours is faster; they are computed for each round, and the rows have their median, lowest
    and highest. `core_share` is processor time / wall time of a median run, near 1 without other load on the core.
    """
    about = {"model": model.name, "decoder": model.decoder, "shortlist": model.shortlist, "case": case}
    return [{**about, **_row(peer, mine, ours)} for mine in ours for peer in peers]


def _row(peer: dict[str, Any], mine: dict[str, Any], ours: Sequence[dict[str, Any]]) -> dict[str, Any]:
    low, median, high = _ratios(peer["seconds"], mine["seconds"])
    eight_bit = [other for other in ours if other["weights"] == "uniform8" and other is not mine]
    comparable = peer["side"] == "CTranslate2" and mine["weights"] in SAME_WEIGHTS
    return {
        "instruction_set": mine["engine"]["instruction_set"],
        "weights": mine["weights"],
        "peer": peer["side"],
        "peer_weights": peer["weights"],
        "peer_milliseconds": peer["milliseconds_per_sentence"],
        "milliseconds": mine["milliseconds_per_sentence"],
        "peer_sentences_per_second": peer["sentences_per_second"],
        "sentences_per_second": mine["sentences_per_second"],
        "speed_ratio": median,
        "lowest_ratio": low,
        "highest_ratio": high,
        "processor_ratio": _ratios(peer["processor_seconds"], mine["processor_seconds"])[1],
        "core_share": min(share_of_core(peer), share_of_core(mine)),
        "times_our_8_bit": _ratios(eight_bit[0]["seconds"], mine["seconds"])[1] if eight_bit else None,
        **_latencies(peer, "peer_"),
        **_latencies(mine, ""),
        "peer_load_seconds": peer["load_seconds"],
        "load_seconds": mine["load_seconds"],
        "peer_file_megabytes": peer["file_bytes"] / 1e6,
        "file_megabytes": mine["file_bytes"] / 1e6,
        "peer_peak_megabytes": peer["peak_memory_bytes"] / 1e6,
        "peak_megabytes": mine["peak_memory_bytes"] / 1e6,
        "peak_over_file_megabytes": (mine["peak_memory_bytes"] - mine["file_bytes"]) / 1e6,
        "target_tokens_of_peer": peer["target_tokens"],
        "target_tokens": mine["target_tokens"],
        "same_outputs": _equal_share(peer["outputs"], mine["outputs"]) if comparable else None,
        "peer_choice": peer["choice"],
        "choice": mine["choice"],
    }


def _latencies(measured: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the 50th and 95th percentile of milliseconds a sentence; None for batches."""
    names = ("percentile_50_milliseconds", "percentile_95_milliseconds")
    return {prefix + name: measured[name] for name in names}


def _ratios(slower: Sequence[float], faster: Sequence[float]) -> tuple[float, float, float]:
    """Return the lowest, median and highest ratio of times over rounds."""
    ratios = sorted(a / b for a, b in zip(slower, faster, strict=True))
    return ratios[0], statistics.median(ratios), ratios[-1]


def _equal_share(one: Sequence[Sequence[int]], other: Sequence[Sequence[int]]) -> float:
    return sum(list(a) == list(b) for a, b in zip(one, other, strict=True)) / len(one)


def render(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    return markdown_table(rows, [Column.parse(column) for column in COLUMNS])
