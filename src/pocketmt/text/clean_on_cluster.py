"""The rules of cleaning on a Ray cluster; duplicates and improbable lines are found afterwards, by one process."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pocketmt.atomic_file import UNFINISHED
from pocketmt.distributed.blocks import LINES, Block, Result
from pocketmt.distributed.bulk import run_to_shards
from pocketmt.distributed.ray_pool import Cluster
from pocketmt.distributed.shards import MANIFEST, RECORDS, SETTINGS
from pocketmt.errors import ConfigurationError
from pocketmt.folder_lock import LOCK, locked
from pocketmt.text.cleaning import DIGEST_BYTES, Cleaning, Reason, Rules, Verdict
from pocketmt.text.corpus import check_rereadable, read_pairs
from pocketmt.text.vocabulary import Vocabulary

_REASONS: Final = tuple(Reason)
_SUFFIX: Final = ".verdicts"
# The settings are removed last: without them, the folder would be refused after an interruption.
_FILES: Final = (UNFINISHED.format("*"), RECORDS, f"*{_SUFFIX}", MANIFEST, SETTINGS)
_KEPT: Final = len(_REASONS)  # The code of a pair that the rules keep; the others are indices of _REASONS.


@dataclass(frozen=True)
class CleaningWork:
    """Judges the pairs of blocks.

    Attributes:
        cleaning: the rules.
        vocabulary: a SentencePiece model whose pieces count as words; None: words.
    """

    cleaning: Cleaning
    vocabulary: bytes | None = None

    def start(self, threads: int) -> Callable[[Block], Result]:
        """Load the rules."""
        split = str.split if self.vocabulary is None else Vocabulary(self.vocabulary).encode
        return partial(_judge, Rules(self.cleaning, split))


def _judge(rules: Rules, block: Block) -> Result:
    verdicts = (rules.judge((source, target)) for source, target in block.rows)
    return Result(b"".join(map(_encode, verdicts)))


def _encode(verdict: Verdict) -> bytes:
    return bytes([_REASONS.index(verdict)]) if isinstance(verdict, Reason) else bytes([_KEPT]) + verdict


def _decode(content: bytes) -> Iterator[Verdict]:
    place = 0
    while place < len(content):
        code, place = content[place], place + 1
        if code == _KEPT:
            yield content[place : place + DIGEST_BYTES]
            place += DIGEST_BYTES
        else:
            yield _REASONS[code]


@contextmanager
def verdicts_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for verdicts, and remove them after the block; after an error, they stay for a later call.

    Raises ConfigurationError if it holds other files, and as `locked` does.
    """
    with locked(folder):
        left = {LOCK, *(each.name for each in folder.glob(UNFINISHED.format("*")))}
        others = sorted({each.name for each in folder.iterdir()} - left)
        if others and not (folder / SETTINGS).exists():
            raise ConfigurationError(
                f"{folder} holds {others[0]} but no {SETTINGS}, so it is not the folder of a cleaning: move it, or "
                "choose another output"
            )
        yield
        for path in (path for pattern in _FILES for path in folder.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    with suppress(OSError):  # It holds files of the user.
        folder.rmdir()


def judge_on_cluster(
    cluster: Cluster,
    source: Path,
    target: Path,
    work: CleaningWork,
    folder: Path,
    *,
    lines: int = LINES,
    warn: Callable[[str], None],
    progress: Callable[[int], None],
) -> Iterator[Verdict]:
    """Return the verdicts on all pairs of two parallel files, in order.

    Run again with the same arguments, it resumes.

    Args:
        cluster: the workers.
        source, target: as in `read_pairs`.
        work: of each worker.
        folder: for the verdicts, see `verdicts_folder`.
        lines: number of pairs of a block.
        warn: receives warnings about damaged shards and lost workers.
        progress: called with the number of judged pairs.

    Raises DataError if a file cannot be read twice, and as `run_to_shards` and `read_pairs` do.
    """
    for path in {source, target}:
        check_rereadable(path)
    Rules(work.cleaning)  # An unknown language is reported before the cluster starts.
    vocabulary = None if work.vocabulary is None else hashlib.sha256(work.vocabulary).hexdigest()
    shards = run_to_shards(
        cluster,
        work,
        read_pairs(source, target, work.cleaning.languages),
        str(folder),
        {"rules": asdict(work.cleaning), "vocabulary": vocabulary},
        lines=lines,
        suffix=_SUFFIX,
        warn=warn,
        progress=progress,
    )
    return (verdict for content in shards.contents() for verdict in _decode(content))
