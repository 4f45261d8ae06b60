"""Peak memory of programs that translate, each in a new process."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pocketmt.model_file.writer import StoredTensor

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")

# Not `pocketmt.evaluation.records.peak_memory_bytes`: the modules that it imports take a megabyte.
PEAK = """
import re
from pathlib import Path

def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) << 10
"""

# Translations of 48 sentences, each of a given number of pieces; the peak of the process.
TRANSLATIONS = """
import random, sys
from pocketmt.engine.loading import native_model
from pocketmt.engine import _native
from pocketmt.model_file import open_model

length = int(sys.argv[2])
with open_model(sys.argv[1]) as file:
    model = native_model(file)
for beam_size in (1, 4):
    options = _native.SearchOptions(
        beam_size=beam_size, n_best=1, length_penalty=1.0, max_length=length, min_length=length, scores=True
    )
    model.translate([[random.randrange(4, 32000) for _ in range(27)] for _ in range(48)], options)
print(peak())
"""


def peak_of(program: str, path: Path, *arguments: str) -> int:
    """Run a program, which may call `peak`, with a model file; returns the bytes that it prints."""
    environment = {**os.environ, "LD_PRELOAD": ""}
    command = [sys.executable, "-c", PEAK + program, str(path), *arguments]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def constant_vector(name: str, shape: tuple[int, ...]) -> StoredTensor:
    """A bias of zeros, or the weights of a norm, which are ones."""
    value = 1.0 if name.endswith("norm.weight") else 0.0
    return StoredTensor("F32", shape, np.full(shape, value, dtype="<f4").tobytes())
