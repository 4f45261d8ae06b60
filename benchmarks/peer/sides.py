"""The two sides, and the settings among which the fastest is chosen for each case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Batching:
    """How many sentences are translated together. 0 examples: all that are handed over."""

    size: int
    type: str = "examples"  # or "tokens", which CTranslate2 counts in the longest source times the sentences

    @property
    def name(self) -> str:
        """What the tables say."""
        return f"{self.size} {self.type}"


ONE_BY_ONE = Batching(0)


@dataclass(frozen=True)
class Setting:
    """One way to start a side; what reads its environment at its start needs a process for each."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """One engine with one model: how its child process is started and what may be chosen."""

    name: str  # "CTranslate2" or "PocketMT"
    weights: str  # "float32", "int8", "uniform8", "logarithmic4"
    module: str
    python: str
    model: str  # path
    load_options: Mapping[str, Any]
    settings: Sequence[Setting]
    batchings: Sequence[Batching]

    @property
    def file_bytes(self) -> int:
        """Size of what is loaded."""
        path = Path(self.model)
        return (path / "model.bin" if path.is_dir() else path).stat().st_size


# What a user of CTranslate2 4.8 can set on a CPU: its own kernels (AVX-512 is never chosen unasked), the library of its
# matrix products (MKL on Intel, else oneDNN, unless told) and whether MKL's weights are packed.
PEER_SETTINGS = tuple(
    Setting(
        f"{library}, {kernels}",
        {"CT2_FORCE_CPU_ISA": kernels, "CT2_USE_MKL": str(int(library != "oneDNN")), "CT2_PACKED_GEMM": packed},
    )
    for (library, packed), kernels in product(
        (("oneDNN", "0"), ("MKL packed", "1"), ("MKL unpacked", "0")), ("AVX2", "AVX512")
    )
)
# compute_type "int8" and "int8_float32" are one and the same on a CPU.
PEER_BATCHINGS = (Batching(32), Batching(64), Batching(2048, "tokens"))
OUR_SETTINGS = (Setting("default"),)
OUR_BATCHINGS = (Batching(32), Batching(64))


def peer_side(weights: str, folder: str, python: str) -> Side:
    """CTranslate2 on an exported folder; weights "float32" or "int8"."""
    return Side(
        name="CTranslate2",
        weights=weights,
        module="benchmarks.peer.run_ctranslate2",
        python=python,
        model=folder,
        load_options={"compute_type": weights},
        settings=PEER_SETTINGS,
        batchings=PEER_BATCHINGS,
    )


def our_side(weights: str, path: str, python: str) -> Side:
    """PocketMT on a model file packed by scheme `weights`."""
    return Side(
        name="PocketMT",
        weights=weights,
        module="benchmarks.peer.run_pocketmt",
        python=python,
        model=path,
        load_options={},
        settings=OUR_SETTINGS,
        batchings=OUR_BATCHINGS,
    )
