"""The loss by trimming on text that it has not seen: pieces that text is divided into, and BLEU."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from pocketmt.engine import Translator
from pocketmt.engine.options import TranslationOptions
from pocketmt.evaluation.quality import score
from pocketmt.model_file import open_model
from pocketmt.model_file.manifest import DEFAULT_UNIT
from pocketmt.text.corpus import read_lines, read_pairs
from pocketmt.text.formats.format import Languages
from pocketmt.text.vocabulary import Vocabularies
from pocketmt.trimming.loss import SegmentationLoss, measure_segmentation


@dataclass(frozen=True)
class TrimmingLoss:
    """The loss on a held-out text.

    Attributes:
        source: how the source is divided.
        target: how the references are divided; None: there are none.
        bleu: of the whole model and of the trimmed one; None: there are no references.
    """

    source: SegmentationLoss
    target: SegmentationLoss | None
    bleu: tuple[float, float] | None

    def lines(self) -> Iterator[str]:
        """Yield what was measured, in words."""
        for name, loss in (("source", self.source), ("references", self.target)):
            if loss is not None:
                changed, lost = (
                    100 * part / max(whole, 1)
                    for part, whole in ((loss.changed_lines, loss.lines), (loss.lost_pieces, loss.pieces))
                )
                before, after = loss.unknown_pieces
                yield (
                    f"{name}: {changed:.1f} % of {loss.lines:,} lines and {lost:.2f} % of {loss.pieces:,} pieces are "
                    f"divided otherwise; unknown pieces {before:,}, now {after:,}"
                )
        if self.bleu is not None:
            yield f"BLEU {self.bleu[0]:.2f}, trimmed {self.bleu[1]:.2f}"


def measure_trimming(
    whole: Path, trimmed: Path, source: Path, references: Path | None = None, **options: Unpack[TranslationOptions]
) -> TrimmingLoss:
    """Compare a trimmed model file with the whole one.

    Args:
        whole, trimmed: the model files.
        source: text that was not used for trimming; of a parallel format, its source side.
        references: translations of it, line by line, or the same file of a parallel format; None: BLEU is not measured.
        options: of the translation.

    Raises DataError if a text cannot be read or lines differ in number, and ModelFileError for an invalid model file.
    """
    before, after = _vocabularies(whole), _vocabularies(trimmed)
    languages = _languages(trimmed)
    pairs = None if references is None else list(read_pairs(source, references, languages))
    lines = list(read_lines(source, "source", languages)) if pairs is None else [line for line, _ in pairs]
    split = _translates_sentences(trimmed)
    of_source = measure_segmentation(before.source, after.source, lines, split=split)
    if pairs is None:
        return TrimmingLoss(of_source, None, None)
    expected = [target for _, target in pairs]
    of_target = measure_segmentation(before.target, after.target, expected, split=split)
    unchecked: TranslationOptions = {**options, "check": False}
    bleu = []
    for path in (whole, trimmed):
        translations = Translator(path).translate(lines, **unchecked)
        bleu.append(score(translations, expected).bleu.value)
    return TrimmingLoss(of_source, of_target, (bleu[0], bleu[1]))


def _vocabularies(path: Path) -> Vocabularies:
    with open_model(path) as file:
        return file.vocabularies()


def _translates_sentences(path: Path) -> bool:
    with open_model(path) as file:
        return file.unit == DEFAULT_UNIT


def _languages(path: Path) -> Languages | None:
    """Return the languages that a model file names; None if it does not name both."""
    with open_model(path) as file:
        return (file.source_language, file.target_language) if file.source_language and file.target_language else None
