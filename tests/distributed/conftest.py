import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="package")
def two_nodes() -> Iterator[Any]:
    """A Ray cluster of two nodes of one core each, as two sets of processes on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Workers import the tests' modules from where pytest does.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    yield cluster
    cluster.shutdown()
    del os.environ["PYTHONPATH"]
