"""pocketmt_probe, the engine as a program without Python (native/probe), built for AArch64 and run by an emulator."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from pocketmt.errors import ConfigurationError
from pocketmt.model_file import ModelFile
from pocketmt.model_file.activations.activation_quantization import StoredLogarithmicActivations

ROOT = Path(__file__).resolve().parents[2]
BUILDS = ROOT / "build" / "aarch64"
COMPILER = "aarch64-linux-gnu-g++"
PLUGIN_EMULATOR = "qemu-aarch64"  # The static one loads no plugins.
EMULATORS = ("qemu-aarch64-static", PLUGIN_EMULATOR)
PACKAGES = "g++-aarch64-linux-gnu and qemu-user-static"
TIMEOUT = 600  # seconds
TENSOR_ALIGNMENT = 64


@dataclass(frozen=True)
class Processor:
    """An emulated processor, and which of its instruction sets the engine is to use; None: its choice."""

    name: str  # as the emulator knows it
    instruction_set: str | None = None
    plugin: str | None = None  # path and arguments of a plugin of the emulator

    def __str__(self) -> str:
        return f"{self.name}, {self.instruction_set or 'best'}"


def missing() -> str | None:
    """What keeps this machine from running AArch64 programs; None where nothing does."""
    absent = [] if shutil.which(COMPILER) else [COMPILER]
    if not any(map(shutil.which, EMULATORS)):
        absent.append(EMULATORS[0])
    return f"{' and '.join(absent)} not found: Debian's packages are {PACKAGES}" if absent else None


def build(kind: str = "Quick") -> Path:
    """Build the program, or what changed of it since the last time, and return its path.

    Args:
        kind: "Quick" takes less time than the tests gain by more optimization; "Release" is what users run.

    Raises ConfigurationError with the output of a command that failed.
    """
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # cmake and ninja
    folder = BUILDS / kind.lower()
    optimization = (f"-DCMAKE_BUILD_TYPE={kind}", "-DCMAKE_CXX_FLAGS_QUICK=-O1")
    target = ("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64", f"-DCMAKE_CXX_COMPILER={COMPILER}")
    source = ("-S", str(ROOT / "native"), "-B", str(folder), "-G", "Ninja", "-DPOCKETMT_PROBE=ON")
    commands = (
        ["cmake", *source, *optimization, *target],
        ["cmake", "--build", str(folder), "--parallel", str(min(2, len(os.sched_getaffinity(0))))],
    )
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):  # Several tests build the same program at once.
        for command in commands:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise ConfigurationError(f"{' '.join(command)} failed: {done.stdout}{done.stderr}")
    return folder / "pocketmt_probe"


def run(
    program: Path, processor: Processor, *arguments: str | Path, given: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run the program on a processor, `given` as its standard input."""
    environment = {name: value for name, value in os.environ.items() if name != "POCKETMT_INSTRUCTION_SET"}
    if processor.instruction_set is not None:
        environment["POCKETMT_INSTRUCTION_SET"] = processor.instruction_set
    emulators = EMULATORS if processor.plugin is None else (PLUGIN_EMULATOR,)
    emulator = next(path for path in map(shutil.which, emulators) if path)
    plugin = [] if processor.plugin is None else ["-plugin", processor.plugin]
    return subprocess.run(
        [emulator, "-cpu", processor.name, *plugin, program, *arguments],
        env=environment,
        input=given.encode(),
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
    )


class Emulated:
    """A model that an emulated processor runs."""

    def __init__(self, program: Path, processor: Processor, file: ModelFile, folder: Path) -> None:
        self._program, self._processor = program, processor
        self._bytes = bytearray(file.buffer)
        self._lines = [_field(name, value) for name, value in file.architecture.fields().items()]
        self._describe(file)
        self._path = folder / "model.bytes"
        self._path.write_bytes(self._bytes)

    def translate(self, sources: Sequence[Sequence[int]], beam_size: int, batch_size: int = 0) -> list[list[int]]:
        """Return each source's best translation.

        Args:
            sources: token ids.
            beam_size: of the search.
            batch_size: most sentences translated together; 0: the engine's choice.
        """
        lines = [f"beam {beam_size}", f"batch {batch_size}", *(_line("source", *source) for source in sources)]
        return [[int(word) for word in line.split()] for line in self._run("translate", lines).decode().splitlines()]

    def logits(self, source: list[int], target: list[int]) -> bytes:
        """As _native.Model.logits."""
        return self._run("logits", [_line("source", *source), _line("target", *target)])

    def _run(self, command: str, lines: list[str]) -> bytes:
        given = "\n".join([*self._lines, *lines])
        done = run(self._program, self._processor, command, self._path, given=given)
        if done.returncode != 0:
            raise RuntimeError(f"{self._program} {command}: {done.stderr.decode()}")
        return done.stdout

    def _describe(self, file: ModelFile) -> None:
        """Lines that say what the bytes are: native/probe/model.cpp has them."""
        for name, entry in file.tensors.items():
            self._add("tensor", name, entry.dtype, entry.offset, entry.size, *entry.shape)
        for name in (*file.coded, *file.sparse):  # decoded: what the engine has Python do
            dtype, shape = file.layout(name)
            self._add("tensor", name, dtype, *self._append(file.data(name)), *shape)
        for name, groups in file.matrices.items():
            for group in groups:
                form = group.form
                self._add("group", name, form.name, form.bits, form.granularity, group.rows, *form.levels)
        for name, vectors in file.vector_groups.items():
            self._add("vector_group", name, *vectors)
        quantization = file.activation_quantization
        if isinstance(quantization, StoredLogarithmicActivations):
            self._add("logarithmic_activations", quantization.top, quantization.scale)
        if file.activation_ranges is not None:
            self._add("activation_bits", file.activation_ranges.bits)
        shortlist = file.shortlist()
        if shortlist is not None and file.stored_shortlist is not None:
            self._add("shortlist", *self._append(shortlist), file.stored_shortlist.frequent)

    def _add(self, kind: str, *words: object) -> None:
        self._lines.append(_line(kind, *words))

    def _append(self, data: bytes | memoryview) -> tuple[int, int]:
        """Returns offset and size."""
        self._bytes.extend(bytes(-len(self._bytes) % TENSOR_ALIGNMENT))
        offset = len(self._bytes)
        self._bytes.extend(data)
        return offset, len(self._bytes) - offset


def _line(kind: str, *words: object) -> str:
    return " ".join(map(str, (kind, *words)))


def _field(name: str, value: object) -> str:
    """A field of the network's description, as native/probe/model.cpp reads it."""
    match value:
        case bool():
            return _line("flag", name, int(value))
        case int():
            return _line("whole", name, value)
        case float():
            return _line("real", name, value)
        case tuple():
            return _line("list", name, *value)
        case _:
            return _line("text", name, value)
