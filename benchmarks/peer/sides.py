"""The engines, and the settings from which the fastest is chosen."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

from pocketmt.evaluation.records import machine


@dataclass(frozen=True)
class Batching:
    """How many sentences are translated together; 0 examples: all of a call."""

    size: int
    type: str = "examples"  # or "tokens", which CTranslate2 counts as longest source times sentences

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"{self.size} {self.type}"


ONE_BY_ONE = Batching(0)


@dataclass(frozen=True)
class Setting:
    """One way to start an engine, in a separate process."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    load_options: Mapping[str, Any] = field(default_factory=dict)  # in addition to those of the side
    search: Literal["greedy", "beam"] | None = None  # for which it is meant; None: for both

    def serves(self, beam: int) -> bool:
        """Return whether the setting is meant for a search with this beam."""
        return self.search is None or (self.search == "greedy") == (beam == 1)


@dataclass(frozen=True)
class Side:
    """An engine with a model: how its child process is started, and its settings."""

    name: str  # "CTranslate2", "Marian" or "PocketMT"
    weights: str  # for peers "float32" or "int8", for PocketMT one of `files.FORMS`
    module: str
    python: str
    model: str  # path
    load_options: Mapping[str, Any]
    settings: Sequence[Setting]
    batchings: Sequence[Batching]
    instruction_set: str | None = None  # that it is held to; None: it may use all of the processor's

    def options(self, setting: Setting) -> dict[str, Any]:
        """Return the load options for the child process."""
        return {**self.load_options, **setting.load_options}

    def file_bytes(self, setting: Setting) -> int:
        """Return the size of the file of weights."""
        path = Path(self.model)
        return (path / self.options(setting).get("file", "model.bin") if path.is_dir() else path).stat().st_size


PEERS: Final = ("CTranslate2", "Marian")
# CTranslate2's name of its kernels -> the instruction set that they need. It uses AVX-512 only on request.
CTRANSLATE2_KERNELS: Final = {"AVX2": "avx2", "AVX512": "avx512f"}
# The compute types "int8" and "int8_float32" are the same on CPUs.
CTRANSLATE2_BATCHINGS: Final = (Batching(32), Batching(64), Batching(2048, "tokens"))
BATCHINGS: Final = (Batching(32), Batching(64))
OUR_SETTINGS: Final = (Setting("default"),)


def ctranslate2_settings() -> tuple[Setting, ...]:
    """Return the settings of CTranslate2 4.8 that this CPU can run.

    They are its kernels, the library for matrix products (by default MKL on Intel, else oneDNN), and whether weights
    for MKL are packed.
    """
    supported = machine().instruction_sets
    kernels = [name for name, needed in CTRANSLATE2_KERNELS.items() if needed in supported] or ["GENERIC"]
    libraries = (("oneDNN", "0"), ("MKL packed", "1"), ("MKL unpacked", "0"))
    return tuple(
        Setting(
            f"{library}, {name}",
            {"CT2_FORCE_CPU_ISA": name, "CT2_USE_MKL": str(int(library != "oneDNN")), "CT2_PACKED_GEMM": packed},
        )
        for (library, packed), name in product(libraries, kernels)
    )


def marian_conversions() -> tuple[str, ...]:
    """Return the names in `marian convert` of 8-bit forms that can run on this CPU; those of FBGEMM depend on it."""
    return ("intgemm8", "packed8avx512" if "avx512f" in machine().instruction_sets else "packed8avx2")


def marian_settings(weights: str) -> tuple[Setting, ...]:
    """Return the settings of Marian 1.12 on CPUs.

    8-bit weights come from a converted file, in which the embedding stays fp32, or are packed at load from a float
    file, embedding included, or both. Greedy search skips the cost, which only a beam needs.
    """
    whole = {"file": "model.npz"}
    packed = ["--optimize", "--gemm-type", "packed8"]
    forms = [("MKL", {**whole, "arguments": []})]
    if weights == "int8":
        converted = [(form, {"file": f"{form}.bin"}) for form in marian_conversions()]
        forms = [
            ("packed8", {**whole, "arguments": packed}),
            *((form, {**file, "arguments": []}) for form, file in converted),
            *((f"{form} + packed8", {**file, "arguments": packed}) for form, file in converted),
        ]
    return tuple(setting for name, options in forms for setting in _for_each_search(name, options))


def _for_each_search(name: str, load_options: Mapping[str, Any]) -> tuple[Setting, Setting]:
    greedy = {**load_options, "arguments": [*load_options["arguments"], "--skip-cost"]}
    return (
        Setting(f"{name}, skip-cost", load_options=greedy, search="greedy"),
        Setting(name, load_options=load_options, search="beam"),
    )


def ctranslate2_side(weights: str, folder: str | os.PathLike[str], python: str) -> Side:
    """Return CTranslate2 with an exported folder; weights are "float32" or "int8"."""
    return Side(
        name="CTranslate2",
        weights=weights,
        module="benchmarks.peer.run_ctranslate2",
        python=python,
        model=str(folder),
        load_options={"compute_type": weights},
        settings=ctranslate2_settings(),
        batchings=CTRANSLATE2_BATCHINGS,
    )


def marian_side(
    weights: str,
    folder: str | os.PathLike[str],
    python: str,
    target_words_a_source_word: float,
    shortlist: tuple[int, int] | None = None,
) -> Side:
    """Return Marian with a folder of `files.write_marian`; weights are "float32" or "int8".

    The factor sets the length of translations, relative to the source with EOS. A shortlist is given by the two numbers
    of `shortlists.marian_table`.
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


def with_workers(side: Side, workers: int, on_one_sentence: bool = False) -> Side:
    """Return the side with `workers` threads; ours receives all sentences at once and batches them itself.

    `on_one_sentence`: the threads of a peer work together on one sentence, as ours do; otherwise each has a batch.
    """
    if on_one_sentence:
        together = {"threads_together": True} if side.name in PEERS else {}
        return replace(side, load_options={**side.load_options, "workers": workers, **together})
    batchings = (ONE_BY_ONE,) if side.name not in PEERS else side.batchings
    return replace(side, load_options={**side.load_options, "workers": workers}, batchings=batchings)


def our_side(weights: str, path: str | os.PathLike[str], python: str) -> Side:
    """Return PocketMT with a model file in the form `weights`."""
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
