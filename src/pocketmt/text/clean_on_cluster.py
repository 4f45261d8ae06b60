"""The rules of cleaning on a Ray cluster; duplicates and improbable lines are found afterwards, by one process."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pocketmt.distributed.blocks import LINES, Block, Result
from pocketmt.distributed.bulk import run_to_shards
from pocketmt.distributed.ray_pool import Cluster
from pocketmt.text.cleaning import DIGEST_BYTES, Cleaning, Reason, Rules, Verdict
from pocketmt.text.corpus import check_rereadable, read_pairs
from pocketmt.text.vocabulary import Vocabulary

_REASONS: Final = tuple(Reason)
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
        folder: for the verdicts, which stay there.
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
        suffix=".verdicts",
        warn=warn,
        progress=progress,
    )
    return (verdict for content in shards.contents() for verdict in _decode(content))
