"""The share of a Ray cluster that a command takes."""

import click
import pytest

from pocketmt.cli.cluster import cluster_of
from pocketmt.distributed.ray_pool import Cluster


@pytest.mark.parametrize(
    ("threads", "device", "expected"),
    [
        (None, "cpu", Cluster("auto", None, 0.0)),
        (4, "torch-cpu", Cluster("auto", 4, 0.0)),
        (None, "auto", Cluster("auto", None, 0.0)),
        (None, "cuda", Cluster("auto", 1, 1.0)),
        (3, "cuda", Cluster("auto", 3, 1.0)),
    ],
)
def test_a_worker_on_a_gpu_reserves_it(threads: int | None, device: str, expected: Cluster) -> None:
    assert cluster_of("auto", threads, device) == expected


def test_a_numbered_gpu_is_refused() -> None:
    with pytest.raises(click.UsageError, match="give --device cuda"):
        cluster_of("auto", None, "cuda:1")
