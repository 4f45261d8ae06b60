"""Which words get how many bits: the embedding's clusters by word frequency [B2]."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from pocketmt.errors import ConfigurationError

MOST_CLUSTERS: Final = 4  # the first has as many bits


@dataclass(frozen=True, slots=True)
class FrequencyCluster:
    """Words that share a number of bits: their rows of the embedding, in ascending order, at least one."""

    bits: int
    rows: tuple[int, ...]


def frequency_clusters(counts: Sequence[int], clusters: int = 4, ratio: int = 2) -> list[FrequencyCluster]:
    """Divide words into clusters of sizes r^0 : r^1 : .. : r^(b-1), most frequent first, of b, b-1, .., 1 bits.

    Paper B, algorithm 1. Sizes are rounded such that they sum to the number of words; a cluster that so has no word is
    left out. Of words of equal frequency the one with the lower row is the more frequent.

    Args:
        counts: how often each word occurs, by row of the embedding.
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
