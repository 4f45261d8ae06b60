"""Cleans the two files of a corpus: by rules while they are read, then by the cross-entropy of one side's lines."""

import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from pocketmt.errors import DataError
from pocketmt.text.cleaning import Cleaning, CleaningReport, Reason, Split, clean
from pocketmt.text.corpus import check_rereadable, read_lines, read_pairs, write_pairs

REPORT_EVERY: Final = 10_000  # pairs kept


@dataclass(frozen=True)
class CrossEntropyFilter:
    """Removes the lines that a language model finds least probable."""

    share: float  # of the pairs that the rules keep, to be removed
    side: Literal["source", "target"]  # the side that a model wrote
    model_text: Path | None = None  # see `improbable_lines`


def clean_corpus(
    source: Path,
    target: Path,
    clean_source: Path,
    clean_target: Path,
    cleaning: Cleaning,
    improbable: CrossEntropyFilter | None = None,
    split: Split = str.split,
    progress: Callable[[CleaningReport], None] = lambda report: None,
) -> CleaningReport:
    """Clean two parallel files; the complete results appear at the end.

    The pairs that the rules keep are stored meanwhile in a temporary folder next to `clean_source`.

    Args:
        source, target: the files to clean, as in `read_pairs`, with the languages of `cleaning`.
        clean_source, clean_target: the files to write, as in `write_pairs`; may be `source` and `target`.
        cleaning: the rules.
        improbable: the filter after the rules; None: none.
        split: splits a line into words, see `clean`.
        progress: called with the counts so far, every `REPORT_EVERY` pairs.

    Raises:
        DataError: a file cannot be read, their numbers of lines differ, no pair is left, or `model_text` is empty.
        ConfigurationError: see `clean` and `write_pairs`.
    """
    if improbable is not None and improbable.model_text is not None:
        _check_text(improbable.model_text)
    report = CleaningReport()
    with write_pairs(clean_source, clean_target) as write:
        kept = clean(read_pairs(source, target, cleaning.languages), cleaning, report, split)
        if improbable is None:
            for pair in kept:
                write(*pair)
                _tell(progress, report)
            _check_kept(report, source)
            return report
        from pocketmt.text.cross_entropy_filter import improbable_lines  # needs NumPy; rules alone do not

        beside = clean_source.absolute().parent
        _remove_left(beside)
        with TemporaryDirectory(prefix=f"{_prefix()}{os.getpid()}-", dir=beside) as folder:
            sides = {name: Path(folder) / name for name in ("source", "target")}
            with write_pairs(sides["source"], sides["target"]) as keep:
                for pair in kept:
                    keep(*pair)
                    _tell(progress, report)
            _check_kept(report, source)
            worst = improbable_lines(sides[improbable.side], improbable.share, split, improbable.model_text)
            for number, pair in enumerate(read_pairs(sides["source"], sides["target"])):
                if number not in worst:
                    write(*pair)
    report.removed[Reason.IMPROBABLE] = len(worst)
    report.kept -= len(worst)
    return report


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
        raise DataError(
            f"{source}: no pair is left, so nothing is written ({reasons or 'the files are empty'}): check that the "
            "sides and --languages are not swapped, and the limits"
        )


def _check_text(path: Path) -> None:
    check_rereadable(path)
    if not any(line.strip() for line in read_lines(path)):
        raise DataError(f"{path}: there is no text to train a language model on: every line is empty")


def _tell(progress: Callable[[CleaningReport], None], report: CleaningReport) -> None:
    if report.kept % REPORT_EVERY == 0:
        progress(report)
