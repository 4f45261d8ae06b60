from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.errors import ConfigurationError
from pocketmt.quantization.frequency_clusters import frequency_clusters


@pytest.mark.parametrize(("ratio", "bits"), [(1, 2.5), (2, 1.73), (4, 1.32), (8, 1.14)])
def test_the_papers_average_bits(ratio: int, bits: float) -> None:
    """Chung et al. 2020, section 3.1 and footnote 1."""
    clusters = frequency_clusters(range(32768), 4, ratio)
    assert sum(cluster.bits * len(cluster.rows) for cluster in clusters) / 32768 == pytest.approx(bits, abs=0.005)


def test_the_papers_sizes() -> None:
    """r = 2: 1 : 2 : 4 : 8; with r = 8, 87.5 % of all words have one bit (section 3.1)."""
    assert [len(cluster.rows) for cluster in frequency_clusters([0] * 1500, 4, 2)] == [100, 200, 400, 800]
    assert [cluster.bits for cluster in frequency_clusters([0] * 1500, 4, 2)] == [4, 3, 2, 1]
    assert len(frequency_clusters([0] * 32768, 4, 8)[3].rows) / 32768 == pytest.approx(0.875, abs=0.001)


def test_by_hand() -> None:
    clusters = frequency_clusters([5, 90, 5, 7, 60, 0], clusters=2, ratio=2)
    assert [(cluster.bits, cluster.rows) for cluster in clusters] == [(2, (1, 4)), (1, (0, 2, 3, 5))]


def test_of_equal_counts_the_lower_row_comes_first() -> None:
    assert frequency_clusters([3, 3, 3, 3], clusters=2, ratio=1)[0].rows == (0, 1)


@given(
    counts=st.lists(st.integers(0, 20), min_size=1, max_size=60), clusters=st.integers(1, 4), ratio=st.integers(1, 9)
)
def test_every_piece_is_in_one_cluster_and_frequent_ones_come_first(
    counts: list[int], clusters: int, ratio: int
) -> None:
    found = frequency_clusters(counts, clusters, ratio)
    assert sorted(row for cluster in found for row in cluster.rows) == list(range(len(counts)))
    assert all(cluster.rows and list(cluster.rows) == sorted(cluster.rows) for cluster in found)
    bits = [cluster.bits for cluster in found]
    assert bits == sorted(set(bits), reverse=True)
    for more, less in pairwise(found):
        assert min(counts[row] for row in more.rows) >= max(counts[row] for row in less.rows)
    total = sum(ratio**index for index in range(clusters))
    for cluster in found:
        assert abs(len(cluster.rows) - len(counts) * ratio ** (clusters - cluster.bits) / total) <= 1


@pytest.mark.parametrize(("clusters", "ratio"), [(0, 2), (5, 2), (4, 0), (4, -1)])
def test_values_out_of_range_are_refused(clusters: int, ratio: int) -> None:
    with pytest.raises(ConfigurationError, match="frequency clusters"):
        frequency_clusters([1, 2, 3], clusters, ratio)
