"""Clusters of embedding rows by the frequency of their pieces: frequent pieces get more bits."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from pocketmt.errors import ConfigurationError

MOST_CLUSTERS: Final = 4  # the first cluster has one bit for each cluster


@dataclass(frozen=True, slots=True)
class FrequencyCluster:
    """Pieces with the same number of bits: their rows of the embedding, ascending, at least one."""

    bits: int
    rows: tuple[int, ...]


def frequency_clusters(counts: Sequence[int], clusters: int = 4, ratio: int = 2) -> list[FrequencyCluster]:
    """Divide pieces into clusters of sizes r^0 : r^1 : .. : r^(b-1), most frequent first, with b, b-1, .., 1 bits.

    Source: Chung et al. 2020, section 3.1, Algorithm 1. Rounded sizes add up to the number of pieces; empty
    clusters are omitted. Among pieces of equal frequency, the lower row counts as more frequent.

    Args:
        counts: occurrences of each piece, by row of the embedding.
        clusters: the paper's b, from 1 to 4.
        ratio: the paper's r, at least 1.

    Raises:
        ConfigurationError: clusters or ratio out of range.
    """
    if not 1 <= clusters <= MOST_CLUSTERS:
        raise ConfigurationError(f"frequency clusters: clusters is {clusters}, expected 1 to {MOST_CLUSTERS}")
    if ratio < 1:
        raise ConfigurationError(f"frequency clusters: ratio is {ratio}, expected at least 1")
    order = sorted(range(len(counts)), key=lambda row: -counts[row])
    shares = list(accumulate(ratio**index for index in range(clusters)))
    ends = [round(len(order) * share / shares[-1]) for share in shares]
    divided = [
        FrequencyCluster(clusters - index, tuple(sorted(order[begin:end])))
        for index, (begin, end) in enumerate(zip([0, *ends], ends, strict=False))
    ]
    return [cluster for cluster in divided if cluster.rows]
