"""Work of tests, which Ray's workers import."""

import errno
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pocketmt.cli.bulk_translation import TranslationWork
from pocketmt.distributed.blocks import Block, Result


def upper(block: Block) -> Result:
    return Result("".join(f"{line}\n" for (line,) in block.rows).upper().encode())


@dataclass(frozen=True)
class SlowUpper:
    """Writes capital letters, and takes its time."""

    seconds: float
    processes: Path  # Folder in which each worker leaves a file with its process id as its name.
    full_node: str = ""  # Identifier of a node whose disk is full.

    def start(self, threads: int) -> Callable[[Block], Result]:
        import ray

        if ray.get_runtime_context().get_node_id() == self.full_node:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/model")
        (self.processes / str(os.getpid())).touch()
        return self.handle

    def handle(self, block: Block) -> Result:
        time.sleep(self.seconds)
        if block.rows == (("bad",),):
            raise ValueError("a bad line")
        return upper(block)


@dataclass(frozen=True)
class SlowUpperOnNodes(SlowUpper):
    """Leaves a file named like its node in the folder, too, when it begins with a block."""

    def handle(self, block: Block) -> Result:
        import ray

        (self.processes / str(ray.get_runtime_context().get_node_id())).touch()
        return super().handle(block)


@dataclass(frozen=True)
class NamesGpu:
    """Writes which process handles a block, and the GPUs that it sees."""

    def start(self, threads: int) -> Callable[[Block], Result]:
        return self.handle

    def handle(self, block: Block) -> Result:
        time.sleep(0.05)
        return Result(f"{os.getpid()} {os.environ['CUDA_VISIBLE_DEVICES']}\n".encode())


@dataclass(frozen=True)
class TranslationWithFullDisk(TranslationWork):
    """Translates; on one node, temporary files go to a small disk."""

    full_node: str = ""
    disk: str = ""

    def start(self, threads: int) -> Callable[[Block], Result]:
        import ray

        if ray.get_runtime_context().get_node_id() == self.full_node:
            tempfile.tempdir = self.disk
        return super().start(threads)
