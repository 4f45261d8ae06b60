"""Quality of translations by sacreBLEU: BLEU, chrF, lowercased tokenized BLEU, and paired bootstrap tests.

Each score has its signature (Post 2018, https://aclanthology.org/W18-6319), which is needed to interpret it. Needs
sacreBLEU (`pip install 'pocketmt[train]'`).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.tokenization import evaluation_tokenization

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

# Of the paired bootstrap (Koehn 2004, https://aclanthology.org/W04-3250); the default of sacreBLEU.
BOOTSTRAP_SAMPLES = 1000
# With fewer lines, resamples say little about the lines of another text.
FEW_LINES = 100


@dataclass(frozen=True)
class Score:
    """A corpus score, 0 to 100, and the signature that says how it was computed."""

    name: str
    value: float
    signature: str


@dataclass(frozen=True)
class Quality:
    """Scores of translations with one reference or several for each line."""

    lines: int
    bleu: Score  # cased, of the tokens of `evaluation_tokenization`
    bleu_lowercased: Score  # lowercased before tokenization, as papers on Multi30k report it
    chrf: Score  # chrF2, of characters only


@dataclass(frozen=True)
class Difference:
    """A score of two systems on the same lines, with the p-value of their difference."""

    name: str
    baseline: float
    system: float
    p_value: float  # by paired bootstrap, at least 2^(1 - lines); below 0.05 is commonly called significant
    signature: str

    @property
    def gain(self) -> float:
        """The system's score minus the baseline's."""
        return self.system - self.baseline


def score(translations: Sequence[str], *references: Sequence[str]) -> Quality:
    """Score translations against one or several lists of references, each with one reference for each line.

    Raises DataError if there are no lines or their numbers differ.
    """
    _check(translations, references, "translations")
    scores = {}
    for name, metric in metrics(references[0]).items():
        result = metric.corpus_score(translations, references)
        scores[name] = Score(name, float(result.score), str(metric.get_signature()))
    return Quality(len(translations), scores["BLEU"], scores["BLEU, lowercased"], scores["chrF"])


def compare(
    baseline: Sequence[str], system: Sequence[str], *references: Sequence[str], samples: int = BOOTSTRAP_SAMPLES
) -> list[Difference]:
    """Compare two systems by the paired bootstrap, on BLEU and chrF.

    Raises DataError if there are no lines or their numbers differ. The same input gives the same p-values: sacreBLEU
    samples with a fixed seed (12345, or the environment variable SACREBLEU_SEED), which is in the signature.
    """
    _check(baseline, references, "translations of the baseline")
    _check(system, references, "translations of the system")
    compared = {name: metric for name, metric in metrics(references[0]).items() if name in ("BLEU", "chrF")}
    # metrics() has checked that sacreBLEU is installed.
    from sacrebleu.significance import PairedTest, Result

    from pocketmt.compression.choosing.significance import p_value

    systems = [("baseline", baseline), ("system", system)]
    signatures, results = PairedTest(systems, compared, references, test_type="bs", n_samples=samples)()
    differences = []
    # The results have sacreBLEU's names of metrics ("chrF2"), in our order, after the column of the systems' names.
    for name, key in zip(compared, (key for key in results if key != "System"), strict=True):
        before, after = results[key]
        if not isinstance(before, Result) or not isinstance(after, Result) or after.p_value is None:
            raise DataError(f"sacreBLEU gave no p-value of {name}")
        found = p_value(before, after, len(system))
        differences.append(Difference(name, float(before.score), float(after.score), found, str(signatures[key])))
    return differences


def few_lines_warning(lines: int) -> str:
    """Return a sentence about p-values on a number of lines; empty if there are at least FEW_LINES."""
    return f"Fewer than {FEW_LINES} lines make p-values unreliable: give more." if lines < FEW_LINES else ""


def metrics(references: Sequence[str] = ()) -> dict[str, "Metric"]:
    """Return the metrics by their names in this module, for a text with these references.

    Raises ConfigurationError if sacreBLEU is not installed, or the environment's SACREBLEU_SEED is not one.
    """
    seed = os.environ.get("SACREBLEU_SEED", "0")
    if not (seed.isascii() and seed.isdecimal() and int(seed) < 2**32):
        raise ConfigurationError(
            f"SACREBLEU_SEED is {seed!r}: set it to a whole number from 0 to {2**32 - 1:,}, or unset it"
        )
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise ConfigurationError(f"scores need sacreBLEU ({error}): pip install 'pocketmt[train]'") from error
    tokens = evaluation_tokenization(references)
    lowercased = BLEU(lowercase=True, tokenize=tokens)
    return {"BLEU": BLEU(tokenize=tokens), "BLEU, lowercased": lowercased, "chrF": CHRF()}


def _check(translations: Sequence[str], references: Sequence[Sequence[str]], what: str) -> None:
    for lines in references:
        if len(translations) != len(lines):
            numbers = f"{len(translations)} {what} but {len(lines)} references"
            raise DataError(f"{numbers}: they must be parallel, line by line")
    if not translations or not references:
        raise DataError("there is nothing to score: the corpus has no lines")
