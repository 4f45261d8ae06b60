"""Records of measurements, with the machine, commit and command. Needs the standard library only."""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pocketmt
from pocketmt.cores import available_cores

# Those of the flags reported by Linux that determine the speed of matrix products.
_INSTRUCTION_SETS = (
    *("sse4_1", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512_vnni", "avx_vnni", "amx_int8"),
    "asimddp",  # AArch64's dot product
)


@dataclass(frozen=True)
class Machine:
    """The machine of a measurement."""

    processor: str
    cores: int  # available to this process
    memory_bytes: int
    instruction_sets: tuple[str, ...]
    system: str


@dataclass(frozen=True)
class Provenance:
    """What is needed to repeat a measurement."""

    machine: Machine
    command: str
    commit: str | None  # of the checkout of PocketMT, with "+changes" if files differ; None outside a checkout
    version: str
    python: str
    date: str  # UTC, to the second
    seed: int | None = None  # if the measurement is random


def machine() -> Machine:
    """Describe this machine; fields that only Linux reports are empty on other systems."""
    processor_lines = _lines_by_name(Path("/proc/cpuinfo"))
    flags = processor_lines.get("flags", processor_lines.get("Features", "")).split()  # the second on AArch64
    return Machine(
        processor=_processor(processor_lines),
        cores=available_cores(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        instruction_sets=tuple(name for name in _INSTRUCTION_SETS if name in flags),
        system=platform.platform(),
    )


def _processor(lines: Mapping[str, str]) -> str:
    """Return the name of the processor. Virtual machines cut it short, so its family and model follow on x86."""
    name = lines.get("model name", platform.processor() or platform.machine())
    if {"cpu family", "model"} <= lines.keys():
        name += f" (family {lines['cpu family']}, model {lines['model']})"
    return name


def provenance(command: str | None = None, seed: int | None = None) -> Provenance:
    """Describe this run; the default of `command` is the command line of this process."""
    return Provenance(
        machine=machine(),
        command=command if command is not None else _own_command(),
        commit=commit(),
        version=pocketmt.__version__,
        python=platform.python_version(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=seed,
    )


def commit() -> str | None:
    """Return the commit of the checkout that this package is imported from, or None outside a checkout."""
    folder = Path(__file__).resolve().parent
    if "site-packages" in folder.parts:
        return None
    head = _git(folder, "rev-parse", "--short=12", "HEAD")
    if head is None:
        return None
    # Measurements write records, which do not change the code.
    elsewhere = (":/", ":(top,exclude)benchmarks/records")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *elsewhere)
    return f"{head}+changes" if changes else head


def peak_memory_bytes() -> int:
    """Return the peak resident memory of this process in bytes (Linux's VmHWM); 0 if unknown."""
    # getrusage may report the peak of the parent process instead.
    return _kilobytes("VmHWM")


def memory_bytes() -> int:
    """Return the resident memory of this process in bytes (Linux's VmRSS); 0 if unknown."""
    return _kilobytes("VmRSS")


def to_json(record: Any) -> str:
    """Return a dataclass or mapping as indented JSON; bytes of a path that are no characters become question marks."""
    text = json.dumps(record, default=_plain, indent=2, ensure_ascii=False)
    return text.encode(errors="replace").decode()


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a record cannot hold a {type(value).__name__}")


def _own_command() -> str:
    """Return the command line to repeat this run at the top of a checkout."""
    module = getattr(sys.modules["__main__"], "__spec__", None)
    if module is not None:
        return shlex.join(["python", "-m", module.name.removesuffix(".__main__"), *sys.argv[1:]])
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def _kilobytes(name: str) -> int:
    return int(_lines_by_name(Path("/proc/self/status")).get(name, "0 kB").split()[0]) * 1024


def _lines_by_name(path: Path) -> dict[str, str]:
    """Read a file of `name: value` lines; the first of equal names counts, an unreadable file is empty."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    named: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        named.setdefault(name.strip(), value.strip())
    return named
