"""Tables of positions: the sinusoids that other toolkits store, or compute from a rule."""

from typing import Final

import numpy as np

from pocketmt.interop.foreign_tensor import Float32

TABLE_ERROR: Final = 2e-3  # half precision, and angles in single precision, round as much


def position_table(kind: str, first: int, rows: int, dimension: int) -> Float32:
    """Return the sinusoids of positions from `first` on, float32 [rows, dimension]; `kind` is our `positions`."""
    half = dimension // 2
    steps = np.arange(half) / (half - 1 if kind == "concatenated_inclusive" else half)
    angles = (first + np.arange(rows))[:, None] * 10000.0**-steps
    sines, cosines = np.sin(angles), np.cos(angles)
    if kind == "interleaved":
        return np.stack([sines, cosines], axis=-1).reshape(rows, dimension).astype(np.float32)
    return np.concatenate([sines, cosines], axis=1).astype(np.float32)
