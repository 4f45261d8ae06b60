"""What stands beside every published number: the machine, the commit, the command. Needs the standard library alone."""

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
from pocketmt.errors import DataError
from pocketmt.whole_file import write_whole

# Of the flags that Linux reports, those that decide how fast a matrix product runs.
_INSTRUCTION_SETS = (
    *("sse4_1", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512_vnni", "avx_vnni", "amx_int8"),
    "asimddp",  # AArch64's dot product
)


@dataclass(frozen=True)
class Machine:
    """Where a number was measured."""

    processor: str
    cores: int  # that this process may use
    memory_bytes: int
    instruction_sets: tuple[str, ...]
    system: str


@dataclass(frozen=True)
class Provenance:
    """How a number came about: enough to measure it again."""

    machine: Machine
    command: str
    commit: str | None  # of the checkout of PocketMT, "+changes" behind it where files differ; None outside a checkout
    version: str
    python: str
    date: str  # UTC, to the second
    seed: int | None = None  # where chance had a part


def machine() -> Machine:
    """Describe this machine (Linux; what another system does not tell is left empty)."""
    processor_lines = _lines_by_name(Path("/proc/cpuinfo"))
    flags = processor_lines.get("flags", processor_lines.get("Features", "")).split()  # the second on AArch64
    return Machine(
        processor=processor_lines.get("model name", platform.processor() or platform.machine()),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        instruction_sets=tuple(name for name in _INSTRUCTION_SETS if name in flags),
        system=platform.platform(),
    )


def provenance(command: str | None = None, seed: int | None = None) -> Provenance:
    """Describe this run; `command` is this process's own command line unless given."""
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
    """Return the commit of the checkout that this package runs from, or None where it is installed elsewhere."""
    folder = Path(__file__).resolve().parent
    if "site-packages" in folder.parts:
        return None
    head = _git(folder, "rev-parse", "--short=12", "HEAD")
    if head is None:
        return None
    # Records are what a measuring run writes: they do not make the code another.
    elsewhere = (":/", ":(top,exclude)benchmarks/records")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *elsewhere)
    return f"{head}+changes" if changes else head


def peak_memory_bytes() -> int:
    """Return the most memory that this process ever held at once (Linux's VmHWM), in bytes; 0 where it is not told."""
    # getrusage would tell the peak of the process that started this one, where that was larger.
    return _kilobytes("VmHWM")


def memory_bytes() -> int:
    """Return the memory that this process holds now (Linux's VmRSS), in bytes; 0 where it is not told."""
    return _kilobytes("VmRSS")


def write_record(record: Any, path: Path) -> None:
    """Write a dataclass or mapping as indented JSON: whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(path) as stream:
        stream.write(f"{to_json(record)}\n".encode())


def read_record(path: Path) -> dict[str, Any]:
    """Read a record; DataError where the file is missing or is not a JSON object."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such record; measure it first (see docs, or `make benchmark`)") from error
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: not a readable JSON record ({error})") from error
    if not isinstance(record, dict):
        raise DataError(f"{path}: a record is a JSON object, this is a {type(record).__name__}")
    return record


def to_json(record: Any) -> str:
    """Return a dataclass or mapping as indented JSON."""
    return json.dumps(record, default=_plain, indent=2, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a record cannot hold a {type(value).__name__}")


def _own_command() -> str:
    """Return the command line as one types it at the top of a checkout."""
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
