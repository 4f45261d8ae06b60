"""These tests need a GPU, and the compiled kernels: `make test-gpu` on a machine that has one."""

import os
from pathlib import Path

import pytest
import torch

from tests.engine.conftest import vocabulary

__all__ = ["vocabulary"]

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder where they cannot run, and say why."""
    # The interpreter first: asking for a GPU would make tests that fork unable to use it.
    if os.environ.get("TRITON_INTERPRET") == "1":
        reason = "Triton's interpreter runs the kernels: `make test-gpu` compiles them"
    elif not torch.cuda.is_available():
        reason = "PyTorch finds no GPU"
    else:
        return
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))
