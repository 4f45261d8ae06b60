"""The option --instruction-set of the programs that measure speed, and what holds every engine to it."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from benchmarks.peer.sides import CTRANSLATE2_KERNELS, PEERS, Setting, Side
from pocketmt.engine import _native_testing as native
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import machine

# What holds each peer, and the libraries that it calls, to an instruction set, so that a processor with more is timed
# like one without. MKL heeds its setting on Intel's processors alone. FBGEMM has no such setting: Marian's forms for it
# are left out where it would use AVX-512.
HELD: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    # Without AMX.
    "avx512_vnni": {
        "CTranslate2": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI", "MKL_ENABLE_INSTRUCTIONS": "AVX512_E1"},
        "Marian": {"INTGEMM_CPUID": "AVX512VNNI", "MKL_ENABLE_INSTRUCTIONS": "AVX512_E1"},
    },
    "avx2": {
        "CTranslate2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
        "Marian": {"INTGEMM_CPUID": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    },
    # CTranslate2's own kernels and intgemm have no form for it: they use AVX2.
    "avx_vnni": {
        "CTranslate2": {"ONEDNN_MAX_CPU_ISA": "AVX2_VNNI", "MKL_ENABLE_INSTRUCTIONS": "AVX2_E1"},
        "Marian": {"INTGEMM_CPUID": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2_E1"},
    },
}


def add_instruction_set_option(parser: argparse.ArgumentParser) -> None:
    """Add --instruction-set; parsing raises ConfigurationError if this processor lacks the instruction set."""
    parser.add_argument(
        "--instruction-set",
        type=_of_this_processor,
        choices=list(HELD),
        help="hold all engines to it (default: what the processor has)",
    )


def _of_this_processor(name: str) -> str:
    """Return the name, also one that is not among the choices, which argparse refuses."""
    supported = machine().instruction_sets
    if name in HELD and name not in supported:
        raise ConfigurationError(f"this processor has no {name}: it has {', '.join(supported) or 'none'}")
    return name


def our_instruction_set(asked: str | None) -> str:
    """Return the instruction set that our engine uses: the one that is asked for, or this processor's best."""
    return native.best_instruction_set() if asked is None else asked


def held(sides: Iterable[Side], instruction_set: str | None) -> list[Side]:
    """Return the sides with an instruction set of `HELD` and no other, which this processor has; None: unchanged."""
    return [side if instruction_set is None else _held(side, instruction_set) for side in sides]


def _held(side: Side, instruction_set: str) -> Side:
    if side.name not in PEERS:
        options = {**side.load_options, "instruction_set": instruction_set}
        return replace(side, load_options=options, instruction_set=instruction_set)
    environment, supported = HELD[instruction_set][side.name], machine().instruction_sets
    settings = tuple(
        replace(setting, environment={**setting.environment, **environment})
        for setting in side.settings
        if instruction_set == "avx512_vnni" or _keeps_to_256_bits(setting, supported)
    )
    return replace(side, settings=settings, instruction_set=instruction_set)


def _keeps_to_256_bits(setting: Setting, supported: Sequence[str]) -> bool:
    """Return whether a peer with the setting can be held to an instruction set with registers of 256 bits."""
    kernels = setting.environment.get("CT2_FORCE_CPU_ISA")
    if kernels is not None:
        return CTRANSLATE2_KERNELS.get(kernels) == "avx2"
    return "packed8" not in setting.name or "avx512f" not in supported


def used(side: Side, description: Mapping[str, Any]) -> str | None:
    """Return the instruction set of a side that is loaded, for its row.

    Ours reports it. Peers do not: theirs is the one that they are held to, and None if they choose it themselves.

    Args:
        side: the side.
        description: the child's description of the engine after loading.
    """
    found: str | None = description.get("instruction_set", side.instruction_set)
    return found
