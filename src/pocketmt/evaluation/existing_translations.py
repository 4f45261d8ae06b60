"""Quality of existing translations: files of several systems, scored and compared with a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pocketmt.errors import DataError
from pocketmt.evaluation.quality import Difference, Quality, compare, metrics, score
from pocketmt.evaluation.records import Provenance, provenance
from pocketmt.text.corpus import read_lines
from pocketmt.text.formats.format import Side


@dataclass(frozen=True)
class SystemScores:
    """The quality of the translations in a file."""

    translations: str
    quality: Quality
    differences: list[Difference]  # From the baseline; empty without one, and of the baseline itself.


@dataclass(frozen=True)
class TranslationsRecord:
    """The quality of files of translations, as it is written to disk."""

    references: list[str]
    baseline: str | None
    systems: list[SystemScores]  # The baseline first.
    provenance: Provenance


def evaluate_translations(
    translations: Sequence[Path], references: Sequence[Path], baseline: Path | None = None
) -> TranslationsRecord:
    """Score files of translations against references, and compare each with a baseline by the paired bootstrap.

    Args:
        translations: a file for each system. Of a file that `pocketmt translate` wrote, what it added is read.
        references: files of reference translations. Each line has one reference in each.
        baseline: another file of translations.

    Raises:
        DataError: a file cannot be read or is empty, or their numbers of lines differ.
        ConfigurationError: sacreBLEU is not installed.
    """
    metrics()  # Fails now if sacreBLEU is missing.
    files = [*([] if baseline is None else [baseline]), *translations]
    sides: list[tuple[Path, Side]] = [(path, "target") for path in references]
    sides += [(path, "translation") for path in files]
    texts = _read(sides)
    expected, systems = texts[: len(references)], texts[len(references) :]
    return TranslationsRecord(
        references=[str(path) for path in references],
        baseline=None if baseline is None else str(baseline),
        systems=[
            SystemScores(
                translations=str(path),
                quality=score(lines, *expected),
                differences=[] if baseline is None or path is baseline else compare(systems[0], lines, *expected),
            )
            for path, lines in zip(files, systems, strict=True)
        ],
        provenance=provenance(),
    )


def _read(sides: Sequence[tuple[Path, Side]]) -> list[list[str]]:
    """Return the lines of sides of files; DataError if one is empty, or the numbers of lines differ."""
    texts = [list(read_lines(path, side)) for path, side in sides]
    for (path, _), lines in zip(sides, texts, strict=True):
        if not lines:
            raise DataError(f"{path}: empty, there is nothing to score")
        if len(lines) != len(texts[0]):
            raise DataError(
                f"{sides[0][0]} has {len(texts[0])} lines but {path} has {len(lines)}: "
                "translations and references must be parallel, line by line"
            )
    return texts
