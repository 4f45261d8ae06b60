"""The kernels are tested where Triton can be installed."""

import pytest

pytest.importorskip("triton", reason="Triton is not installed")
