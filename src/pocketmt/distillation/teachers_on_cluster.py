"""Teachers on the workers of a Ray cluster."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pocketmt.atomic_file import naming
from pocketmt.distillation.teachers import Teachers
from pocketmt.distributed.blocks import Block, Result
from pocketmt.distributed.bulk import run_on_cluster
from pocketmt.distributed.ray_pool import Cluster
from pocketmt.engine.bundled import bundled_model


@dataclass(frozen=True)
class TeacherWork:
    """Translates blocks by the teachers.

    Attributes:
        names: of the teachers of an ensemble, which each node reads from the same paths.
        model: content of the model file of a single teacher; None for an ensemble.
        beam_size: see `Teachers`.
        n_best: see `Teachers`.
        device: see `Teachers`.
        precision: see `Teachers`.
    """

    names: tuple[str, ...]
    model: bytes | None
    beam_size: int
    n_best: int
    device: str
    precision: str | None

    def start(self, threads: int) -> Callable[[Block], Result]:
        """Load the teachers with a number of threads; OSError with the path if the disk is full."""
        with TemporaryDirectory(prefix="pocketmt-teacher-") as folder:
            names = self.names
            if self.model is not None:
                file = Path(folder) / "single.pocketmt"
                with naming(file):
                    file.write_bytes(self.model)
                names = (str(file),)
            teachers = Teachers(
                names,
                Path(folder),
                beam_size=self.beam_size,
                n_best=self.n_best,
                workers=threads,
                device=self.device,
                precision=self.precision,
            )
            teachers.load()
        return partial(_translate, teachers)


def _translate(teachers: Teachers, block: Block) -> Result:
    references = [row[1] for row in block.rows if len(row) > 1] or None
    return Result(json.dumps(teachers.translate([row[0] for row in block.rows], references)).encode())


def translate_blocks_on_cluster(
    cluster: Cluster,
    teachers: Teachers,
    warn: Callable[[str], None],
    blocks: Iterator[Block],
    store: Callable[[Block, Sequence[str]], None],
) -> None:
    """Translate blocks by teachers on a cluster, see `TranslateBlocks` of `pocketmt.training.translations`.

    Args:
        cluster: the workers.
        teachers: whose names each node can read, if they are an ensemble.
        warn: receives messages about lost workers.
        blocks: (line,) or (line, reference) in their rows.
        store: called with the translations of each block.

    Raises as `run_on_cluster` does.
    """
    file = teachers.single_file()
    names = tuple(name_on_every_node(model.name) for model in teachers.models)
    model = None if file is None else file.read_bytes()
    search = teachers.beam_size, teachers.n_best
    work = TeacherWork(names, model, *search, teachers.device, teachers.precision)
    run_on_cluster(cluster, work, blocks, lambda block, result: store(block, json.loads(result.content)), warn)


def name_on_every_node(name: str) -> str:
    """Return a name that workers can resolve in any working directory; names of bundled models stay."""
    path = Path(name)
    return str(path.absolute()) if path.exists() and bundled_model(name) is None else name
