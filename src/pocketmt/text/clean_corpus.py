"""Cleaning the two files of a corpus: by rules while they are read, then by how improbable a side's lines are."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from pocketmt.errors import DataError
from pocketmt.text.cleaning import Cleaning, CleaningReport, Cut, Reason, clean
from pocketmt.text.corpus import check_rereadable, read_lines, read_pairs, write_pairs

REPORT_EVERY: Final = 10_000  # pairs kept


@dataclass(frozen=True)
class Improbable:
    """Which lines are left out as improbable."""

    share: float  # of the pairs that the rules keep
    side: Literal["source", "target"]  # the one that a model wrote
    model_text: Path | None = None  # as of `improbable_lines`


def clean_corpus(
    source: Path,
    target: Path,
    clean_source: Path,
    clean_target: Path,
    cleaning: Cleaning,
    improbable: Improbable | None = None,
    cut: Cut = str.split,
    progress: Callable[[CleaningReport], None] = lambda report: None,
) -> CleaningReport:
    """Write what is left of two parallel files; the results appear, whole, at the end.

    What the rules keep stands in a folder of its own beside `clean_source` meanwhile.

    Args:
        source: as `read_pairs` reads it.
        target: the same.
        clean_source: what is written, as by `write_pairs`; may be `source` itself.
        clean_target: the same of the target.
        cleaning: the rules.
        improbable: what else is left out; None: nothing.
        cut: as of `clean`.
        progress: told now and then how far the rules are.

    Raises:
        DataError: a file cannot be read, the two have unequal numbers of lines, or `model_text` holds nothing.
        ConfigurationError: as `clean` and `write_pairs` do.
    """
    if improbable is not None and improbable.model_text is not None:
        _check_text(improbable.model_text)
    report = CleaningReport()
    with write_pairs(clean_source, clean_target) as write:
        kept = clean(read_pairs(source, target), cleaning, report, cut)
        if improbable is None:
            for pair in kept:
                write(*pair)
                _tell(progress, report)
            return report
        from pocketmt.text.improbable import improbable_lines  # needs NumPy, which rules alone do not

        with TemporaryDirectory(prefix=".cleaning-", dir=clean_source.absolute().parent) as folder:
            sides = {name: Path(folder) / name for name in ("source", "target")}
            with write_pairs(sides["source"], sides["target"]) as keep:
                for pair in kept:
                    keep(*pair)
                    _tell(progress, report)
            worst = improbable_lines(sides[improbable.side], improbable.share, cut, improbable.model_text)
            for number, pair in enumerate(read_pairs(sides["source"], sides["target"])):
                if number not in worst:
                    write(*pair)
    report.removed[Reason.IMPROBABLE] = len(worst)
    report.kept -= len(worst)
    return report


def _check_text(path: Path) -> None:
    check_rereadable(path)
    if not any(line.strip() for line in read_lines(path)):
        raise DataError(f"{path}: there is no text to learn a language model from: every line is empty")


def _tell(progress: Callable[[CleaningReport], None], report: CleaningReport) -> None:
    if report.kept % REPORT_EVERY == 0:
        progress(report)
