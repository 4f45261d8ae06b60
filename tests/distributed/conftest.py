import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pocketmt.distributed.ray_pool import disconnect
from tests.cli.conftest import write_random_model


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
    ending = threading.Thread(target=disconnect)
    ending.start()
    ending.join()
    cluster.shutdown()
    del os.environ["PYTHONPATH"]


@pytest.fixture(scope="package")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "random.pocketmt"
    write_random_model(path, "uniform8", seed=1)
    return path
