"""The engines, and the settings among which the fastest is chosen for each case."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Final

from pocketmt.evaluation.records import machine


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
    """One way to start a side; each gets a process of its own."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    load_options: Mapping[str, Any] = field(default_factory=dict)  # beside the side's own


@dataclass(frozen=True)
class Side:
    """One engine with one model: how its child process is started and what may be chosen."""

    name: str  # "CTranslate2", "Marian" or "PocketMT"
    weights: str  # of peers "float32" or "int8", of ours a form of `files.FORMS`
    module: str
    python: str
    model: str  # path
    load_options: Mapping[str, Any]
    settings: Sequence[Setting]
    batchings: Sequence[Batching]

    def options(self, setting: Setting) -> dict[str, Any]:
        """Return what the child process is told when it loads."""
        return {**self.load_options, **setting.load_options}

    def file_bytes(self, setting: Setting) -> int:
        """Return the size of the file of weights that is loaded."""
        path = Path(self.model)
        return (path / self.options(setting).get("file", "model.bin") if path.is_dir() else path).stat().st_size


PEERS: Final = ("CTranslate2", "Marian")
# What a user of CTranslate2 4.8 can set on a CPU: its own kernels (AVX-512 is never chosen unasked), the library of its
# matrix products (MKL on Intel, else oneDNN, unless told) and whether MKL's weights are packed.
CTRANSLATE2_SETTINGS: Final = tuple(
    Setting(
        f"{library}, {kernels}",
        {"CT2_FORCE_CPU_ISA": kernels, "CT2_USE_MKL": str(int(library != "oneDNN")), "CT2_PACKED_GEMM": packed},
    )
    for (library, packed), kernels in product(
        (("oneDNN", "0"), ("MKL packed", "1"), ("MKL unpacked", "0")), ("AVX2", "AVX512")
    )
)
# compute_type "int8" and "int8_float32" are one and the same on a CPU.
CTRANSLATE2_BATCHINGS: Final = (Batching(32), Batching(64), Batching(2048, "tokens"))
BATCHINGS: Final = (Batching(32), Batching(64))
OUR_SETTINGS: Final = (Setting("default"),)


def marian_conversions() -> tuple[str, ...]:
    """Return the 8-bit forms, as `marian convert` names them, that can run here: those of FBGEMM are one CPU's own."""
    return ("intgemm8", "packed8avx512" if "avx512f" in machine().instruction_sets else "packed8avx2")


def marian_settings(weights: str) -> tuple[Setting, ...]:
    """Return what a user of Marian 1.12 can set on a CPU.

    8 bit are of a converted file, whose embedding (and so the output layer's) stays fp32, packed while loading from a
    float file, the embedding too, or both.
    """
    whole = {"file": "model.npz", "arguments": []}
    if weights == "float32":
        return (Setting("MKL", load_options=whole),)
    packed = ["--optimize", "--gemm-type", "packed8"]
    converted = [(form, {"file": f"{form}.bin"}) for form in marian_conversions()]
    return (
        Setting("packed8", load_options={**whole, "arguments": packed}),
        *(Setting(form, load_options={**file, "arguments": []}) for form, file in converted),
        *(Setting(f"{form} + packed8", load_options={**file, "arguments": packed}) for form, file in converted),
    )


def ctranslate2_side(weights: str, folder: str | os.PathLike[str], python: str) -> Side:
    """CTranslate2 on an exported folder; weights "float32" or "int8"."""
    return Side(
        name="CTranslate2",
        weights=weights,
        module="benchmarks.peer.run_ctranslate2",
        python=python,
        model=str(folder),
        load_options={"compute_type": weights},
        settings=CTRANSLATE2_SETTINGS,
        batchings=CTRANSLATE2_BATCHINGS,
    )


def marian_side(
    weights: str,
    folder: str | os.PathLike[str],
    python: str,
    target_words_a_source_word: float,
    shortlist: tuple[int, int] | None = None,
) -> Side:
    """Marian on a folder that `files.write_marian` wrote; weights "float32" or "int8".

    Every translation is as long as its source, eos counted, times the factor. A shortlist is the two numbers of
    `shortlists.marian_table`.
    """
    return Side(
        name="Marian",
        weights=weights,
        module="benchmarks.peer.run_marian",
        python=python,
        model=str(folder),
        load_options={"target_words_a_source_word": target_words_a_source_word}
        | ({} if shortlist is None else {"shortlist": list(shortlist)}),
        settings=marian_settings(weights),
        batchings=BATCHINGS,
    )


def with_workers(side: Side, workers: int) -> Side:
    """Return a side that translates by so many threads; ours takes all sentences at once, and cuts them itself."""
    batchings = (ONE_BY_ONE,) if side.name not in PEERS else side.batchings
    return replace(side, load_options={**side.load_options, "workers": workers}, batchings=batchings)


def our_side(weights: str, path: str | os.PathLike[str], python: str) -> Side:
    """PocketMT on a model file packed in the form `weights`."""
    return Side(
        name="PocketMT",
        weights=weights,
        module="benchmarks.peer.run_pocketmt",
        python=python,
        model=str(path),
        load_options={},
        settings=OUR_SETTINGS,
        batchings=BATCHINGS,
    )
