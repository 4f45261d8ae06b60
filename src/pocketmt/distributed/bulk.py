"""A text through a Ray cluster into shards."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pocketmt.distributed.blocks import LINES, Block, Result, Row, Work, cut
from pocketmt.distributed.driver import run_blocks
from pocketmt.distributed.ray_pool import Cluster, RayPool, connect
from pocketmt.distributed.shards import Shards
from pocketmt.distributed.storage import is_address, open_storage

MOST_MESSAGES: Final = 10  # Warnings about lines that are shown; further lines are only counted.


class Messages:
    """Shows the first few warnings about lines, and counts the others."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._shown = self.lines = 0

    def add(self, result: Result) -> None:
        """Take the warnings of a block."""
        self.lines += result.warned
        for message in result.messages[: max(0, MOST_MESSAGES - self._shown)]:
            self._warn(message)
            self._shown += 1

    def close(self) -> None:
        """Say how many lines had warnings, if not all were shown."""
        if self.lines > self._shown:
            self._warn(f"{self.lines:,} lines had such warnings")


def run_on_cluster(
    cluster: Cluster,
    work: Work,
    blocks: Iterator[Block],
    store: Callable[[Block, Result], None],
    warn: Callable[[str], None],
) -> None:
    """Have blocks handled on a cluster; without any block, it is not connected to. See `run_blocks`."""
    first = next(blocks, None)
    if first is None:
        return
    connect(cluster)
    with closing(RayPool(cluster, work)) as pool:
        run_blocks(chain((first,), blocks), pool, store, warn)


def run_to_shards(
    cluster: Cluster,
    work: Work,
    rows: Iterable[Row],
    output: str,
    settings: dict[str, Any],
    *,
    lines: int = LINES,
    suffix: str = ".txt",
    warn: Callable[[str], None],
    progress: Callable[[int], None],
) -> Shards:
    """Have a text handled on a cluster, and write the results as shards with a manifest.

    Run again with the same arguments, it resumes: finished shards are checked and kept. The caller holds the
    `output_lock`.

    Args:
        cluster: the workers.
        work: what is done with each block.
        rows: the text, read as the workers need it.
        output: folder or address of the shards.
        settings: what the results depend on.
        lines: number of rows of a block.
        suffix: of the names of shards.
        warn: receives warnings about lines, damaged shards and lost workers.
        progress: called with the number of finished lines.

    Raises:
        ConfigurationError: the output holds shards of another text or with other settings, or other files.
        ClusterError: see `run_blocks` and `connect`.
    """
    shards = Shards(open_storage(output), output, {**settings, "lines of a shard": lines}, suffix)
    messages = Messages(warn)

    def store(block: Block, result: Result) -> None:
        shards.store(block, result)
        messages.add(result)
        progress(shards.finished_lines)

    run_on_cluster(cluster, work, shards.missing(cut(rows, lines), warn), store, warn)
    shards.write_manifest()
    messages.close()
    return shards


def output_lock(output: str) -> AbstractContextManager[None]:
    """Return the lock of a folder, which raises as `locked` does; an address has none."""
    if is_address(output):
        return nullcontext()
    from pocketmt.folder_lock import locked

    return locked(Path(output))
