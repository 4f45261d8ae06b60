"""Counts of the instructions that pocketmt_probe executes on an emulated AArch64 processor.

A plugin of QEMU counts (native/probe/plugin). Each count is the difference of two runs, of which the second does the
work twice: what only starts the program, loads a model or packs weights is in both.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.arm_instructions.emulation import (
    COMPILER,
    PLUGIN_EMULATOR,
    ROOT,
    Emulated,
    Processor,
    build,
    run,
)
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import ModelFile

PLUGIN = ROOT / "native" / "probe" / "plugin" / "count_instructions.cpp"
HOST_COMPILER = "g++"
PACKAGES = {COMPILER: "g++-aarch64-linux-gnu", PLUGIN_EMULATOR: "qemu-user", HOST_COMPILER: "g++"}  # Debian's
PROCESSOR = "max"  # QEMU's name of the one with every instruction set


def missing() -> str | None:
    """Return what keeps this machine from counting; None where nothing does."""
    absent = [name for name in PACKAGES if shutil.which(name) is None]
    packages = " and ".join(PACKAGES[name] for name in absent)
    return f"{' and '.join(absent)} not found: Debian has {packages}" if absent else None


def tools() -> dict[str, str]:
    """Return the first line of the versions of the compiler, on which counts depend, and of the emulator."""

    def version(name: str) -> str:
        return subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]

    return {"compiler": version(COMPILER), "emulator": version(PLUGIN_EMULATOR)}


class InstructionCounter:
    """The program and the plugin, built, and a folder for what they write."""

    def __init__(self, folder: Path, kind: str = "Release") -> None:
        """Build both; ConfigurationError where this machine cannot.

        Args:
            folder: an existing one.
            kind: as in `build`.
        """
        reason = missing()
        if reason is not None:
            raise ConfigurationError(reason)
        self._folder = folder
        self._plugin, self._count = folder / "count_instructions.so", folder / "count"
        compile_plugin = [HOST_COMPILER, "-std=c++20", "-O2", "-shared", "-fPIC", "-o", str(self._plugin), str(PLUGIN)]
        subprocess.run(compile_plugin, check=True)
        self._program = build(kind)

    def product(self, instruction_set: str, family: str, bits: int, outputs: int, inputs: int, rows: int) -> int:
        """Return the instructions of one product.

        Args:
            instruction_set: the engine's name.
            family: of native/testing/product_families.h.
            bits: of a weight; only binary codes depend on it.
            outputs: of the matrix.
            inputs: of the matrix.
            rows: of activations.

        Raises ConfigurationError if the emulator or the program refuses.
        """

        def executed(times: int) -> int:
            self._count.unlink(missing_ok=True)
            words = map(str, (family, bits, outputs, inputs, rows, times))
            done = run(self._program, self._processor(instruction_set), "repeat", *words)
            if done.returncode != 0:
                raise ConfigurationError(done.stderr.decode().strip())
            return self._executed()

        return executed(2) - executed(1)

    def translation(
        self, instruction_set: str, file: ModelFile, sources: Sequence[Sequence[int]], beam_size: int
    ) -> tuple[int, list[list[int]]]:
        """Return the instructions of translating all sources, one by one, and the translations."""
        model = Emulated(self._program, self._processor(instruction_set), file, self._folder)
        self._count.unlink(missing_ok=True)
        translations = model.translate(sources, beam_size, batch_size=1)
        once = self._executed()
        model.translate([*sources, *sources], beam_size, batch_size=1)
        return self._executed() - once, translations

    def _processor(self, instruction_set: str) -> Processor:
        return Processor(PROCESSOR, instruction_set, plugin=f"{self._plugin},count={self._count}")

    def _executed(self) -> int:
        return int(self._count.read_text())
