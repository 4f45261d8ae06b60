"""Cleans the two files of a corpus: by rules while they are read, then by the cross-entropy of one side's lines."""

import os
import shutil
import socket
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, Literal

from pocketmt.atomic_file import is_special
from pocketmt.chunks import in_chunks
from pocketmt.errors import DataError
from pocketmt.text.cleaning import DIGEST_BYTES, Cleaning, CleaningReport, Pair, Reason, Rules, Split, Verdict
from pocketmt.text.corpus import check_rereadable, read_lines, read_pairs, write_pairs
from pocketmt.text.external_sort import ExternalSort
from pocketmt.text.formats.format import Languages, Side
from pocketmt.text.several_processes import apply_in_processes

REPORT_EVERY: Final = 10_000  # pairs kept
PAIRS_AT_ONCE: Final = 10_000  # judged by one process
_NUMBER: Final = struct.Struct(">Q")  # of a pair, from 0


@dataclass(frozen=True)
class CrossEntropyFilter:
    """Removes the lines that a language model finds least probable."""

    share: float  # of the pairs that the rules keep, to be removed
    side: Literal["source", "target"]  # the side that a model wrote
    model_text: Path | None = None  # see `improbable_lines`; of a parallel format, `side` is read


def clean_corpus(
    source: Path,
    target: Path,
    clean_source: Path,
    clean_target: Path,
    cleaning: Cleaning,
    improbable: CrossEntropyFilter | None = None,
    split: Split = str.split,
    progress: Callable[[CleaningReport], None] = lambda report: None,
    verdicts: Callable[[], Iterator[Verdict]] | None = None,
) -> CleaningReport:
    """Clean two parallel files; the complete results appear at the end.

    Memory does not grow with the number of pairs. The pairs that the rules keep, their digests and their scores are
    stored meanwhile in a temporary folder next to an output. Duplicates have equal digests of 128 bits. All cores
    of this process apply the rules and compute cross-entropies; the result does not depend on their number.

    Args:
        source, target: the files to clean, as in `read_pairs`, with the languages of `cleaning`.
        clean_source, clean_target: the files to write, as in `write_pairs`; may be `source` and `target`.
        cleaning: the rules.
        improbable: the filter after the rules; None: none.
        split: splits a line into words, see `clean`.
        progress: called with the counts so far, every `REPORT_EVERY` pairs; duplicates are counted at the end.
        verdicts: returns that of `Rules.judge` on each pair, after all checks; None: the rules are applied here.

    Raises:
        DataError: a file cannot be read, their numbers of lines differ, no pair is left, or `model_text` is empty.
        ConfigurationError: see `clean` and `write_pairs`.
    """
    if improbable is not None:
        # It needs NumPy; rules alone do not. It is imported here, so that an error comes before the long part.
        from pocketmt.text.cross_entropy_filter import improbable_lines

        if improbable.model_text is not None:
            _check_text(improbable.model_text, improbable.side, cleaning.languages)
    report = CleaningReport()
    judge: Callable[[Iterator[Pair]], Iterator[tuple[Pair, Verdict]]] = (
        partial(_judge, Rules(cleaning, split)) if verdicts is None else partial(_with_verdicts, verdicts, source)
    )
    with write_pairs(clean_source, clean_target) as write, _work_folder(clean_source, clean_target) as folder:
        judged = judge(read_pairs(source, target, cleaning.languages))
        kept = _Stored(folder, "kept")
        digests = ExternalSort(folder, DIGEST_BYTES + _NUMBER.size)
        kept.write(_passing(judged, cleaning.remove_duplicates, digests, report, progress))
        _check_kept(report, source)
        kept = _remove(kept, "distinct", _repeated(digests, folder), Reason.DUPLICATE, report)
        if improbable is not None:
            written = kept.files[improbable.side == "target"]
            model_text = improbable.model_text, improbable.side, cleaning.languages
            worst = improbable_lines(written, improbable.share, split, folder, *model_text)
            kept = _remove(kept, "probable", worst, Reason.IMPROBABLE, report)
            _check_kept(report, source)
        for pair in kept.read():
            write(*pair)
    return report


def _with_verdicts(
    verdicts: Callable[[], Iterator[Verdict]], source: Path, pairs: Iterator[Pair]
) -> Iterator[tuple[Pair, Verdict]]:
    found = verdicts()
    for pair in pairs:
        verdict = next(found, None)
        if verdict is None:
            raise DataError(f"{source}: changed while being read: run the command again")
        yield pair, verdict


def _judge(rules: Rules, pairs: Iterator[Pair]) -> Iterator[tuple[Pair, Verdict]]:
    """Apply the rules by several processes of this machine."""

    def judge(pairs: list[Pair]) -> list[Verdict]:
        return [rules.judge(pair) for pair in pairs]

    for chunk, found in apply_in_processes(judge, in_chunks(pairs, PAIRS_AT_ONCE)):
        yield from zip(chunk, found, strict=True)


def _passing(
    judged: Iterable[tuple[Pair, Verdict]],
    remove_duplicates: bool,
    digests: ExternalSort,
    report: CleaningReport,
    progress: Callable[[CleaningReport], None],
) -> Iterator[Pair]:
    """Yield the pairs that the rules keep, counting them, and add their digests with their numbers."""
    for pair, verdict in judged:
        if isinstance(verdict, Reason):
            report.removed[verdict] += 1
            continue
        if remove_duplicates:
            digests.add(verdict + _NUMBER.pack(report.kept))
        report.kept += 1
        yield pair
        if report.kept % REPORT_EVERY == 0:
            progress(report)


def _repeated(digests: ExternalSort, folder: Path) -> Iterator[int]:
    """Yield the numbers, ascending, of all but the first of the pairs with equal digests."""
    repeated = ExternalSort(folder, _NUMBER.size)
    last = b""
    for record in digests:
        digest = record[:DIGEST_BYTES]
        if digest == last:
            repeated.add(record[DIGEST_BYTES:])
        last = digest
    return (_NUMBER.unpack(number)[0] for number in repeated)


class _Stored:
    """Pairs in two files of a folder, read as they were written, with the characters that `read_pairs` drops."""

    def __init__(self, folder: Path, name: str) -> None:
        self.files = folder / f"{name}-source", folder / f"{name}-target"

    def write(self, pairs: Iterable[Pair]) -> None:
        with write_pairs(*self.files) as write:
            for pair in pairs:
                write(*pair)

    def read(self) -> Iterator[Pair]:
        with self.files[0].open("rb") as sources, self.files[1].open("rb") as targets:
            for source, target in zip(sources, targets, strict=True):
                yield source.removesuffix(b"\n").decode(), target.removesuffix(b"\n").decode()


def _remove(stored: _Stored, name: str, numbers: Iterator[int], reason: Reason, report: CleaningReport) -> _Stored:
    """Return the pairs without those of ascending numbers, which are counted, in new files if there are any."""
    first = next(numbers, None)
    if first is None:
        return stored
    left = _Stored(stored.files[0].parent, name)
    left.write(_without(stored.read(), chain((first,), numbers), reason, report))
    for file in stored.files:
        file.unlink()
    return left


def _without(pairs: Iterable[Pair], numbers: Iterator[int], reason: Reason, report: CleaningReport) -> Iterator[Pair]:
    removed = next(numbers, None)
    for number, pair in enumerate(pairs):
        if number != removed:
            yield pair
            continue
        removed = next(numbers, None)
        report.removed[reason] += 1
        report.kept -= 1


@contextmanager
def _work_folder(*outputs: Path) -> Iterator[Path]:
    """Make a temporary folder, and remove those of processes that were killed.

    It is next to the first output that is a file; if both are devices or pipes, where temporary files are.
    """
    file = next((each for each in outputs if not is_special(each)), None)
    beside = Path(tempfile.gettempdir()) if file is None else file.absolute().parent
    _remove_left(beside)
    with tempfile.TemporaryDirectory(prefix=f"{_prefix()}{os.getpid()}-", dir=beside) as folder:
        yield Path(folder)


def _prefix() -> str:
    return f".cleaning-{socket.gethostname()}-"


def _remove_left(folder: Path) -> None:
    """Remove the hidden folders of processes of this machine that were killed."""
    for left in folder.glob(f"{_prefix()}*-*"):
        process = left.name.removeprefix(_prefix()).partition("-")[0]
        if process.isdecimal() and not _is_running(int(process)):
            shutil.rmtree(left, ignore_errors=True)


def _is_running(process: int) -> bool:
    if os.name != "posix":  # There the signal 0 would end the process.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


def _check_kept(report: CleaningReport, source: Path) -> None:
    """Raise DataError if no pair is left."""
    if not report.kept:
        reasons = ", ".join(f"{reason.value} {count:,}" for reason, count in report.removed.items() if count)
        options = {Reason.LETTERS: "--minimum-letters 0", Reason.LANGUAGE: "--minimum-language-probability 0"}
        turned_off = "".join(
            f", or turn off the rule '{reason.value}' by {option}"
            for reason, option in options.items()
            if report.removed[reason]
        )
        raise DataError(
            f"{source}: no pair is left, so nothing is written ({reasons or 'the files are empty'}): check that the "
            f"sides and --languages are not swapped, and the limits{turned_off}"
        )


def _check_text(path: Path, side: Side, languages: Languages | None) -> None:
    check_rereadable(path)
    if not any(line.strip() for line in read_lines(path, side, languages)):
        raise DataError(f"{path}: there is no text to train a language model on: every line is empty")
