"""Quality of translations by sacreBLEU: BLEU, chrF, lowercased-tokenised BLEU, and paired bootstrap tests.

Each score comes with its signature ([Post 2018], https://aclanthology.org/W18-6319), without which it means nothing.
Needs sacreBLEU (`pip install 'pocketmt[train]'`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pocketmt.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

# Of the paired bootstrap ([Koehn 2004], https://aclanthology.org/W04-3250); sacreBLEU's own default.
BOOTSTRAP_SAMPLES = 1000


@dataclass(frozen=True)
class Score:
    """One corpus score, in points from 0 to 100, and the signature that says how it was counted."""

    name: str
    value: float
    signature: str


@dataclass(frozen=True)
class Quality:
    """The scores of one set of translations against one reference each."""

    lines: int
    bleu: Score  # cased, sacreBLEU's own tokenisation (13a)
    bleu_lowercased: Score  # lowercased before tokenisation: what papers on Multi30k report
    chrf: Score  # chrF2: characters, no words


@dataclass(frozen=True)
class Difference:
    """A score of two systems on the same lines, and how likely their difference is by chance."""

    name: str
    baseline: float
    system: float
    p_value: float  # of the paired bootstrap; below 0.05 is commonly called significant
    signature: str

    @property
    def gain(self) -> float:
        """Points that the system is above the baseline."""
        return self.system - self.baseline


def score(translations: Sequence[str], references: Sequence[str]) -> Quality:
    """Score translations against one reference a line; DataError where there are none or their numbers differ."""
    _check(translations, references, "translations")
    scores = {name: _corpus_score(metric, translations, references) for name, metric in metrics().items()}
    return Quality(
        lines=len(references),
        bleu=Score("BLEU", *scores["BLEU"]),
        bleu_lowercased=Score("BLEU, lowercased", *scores["BLEU, lowercased"]),
        chrf=Score("chrF", *scores["chrF"]),
    )


def compare(
    baseline: Sequence[str], system: Sequence[str], references: Sequence[str], samples: int = BOOTSTRAP_SAMPLES
) -> list[Difference]:
    """Compare two systems by the paired bootstrap, on BLEU and chrF.

    DataError where there are no lines or their numbers differ. The same input gives the same p-values: sacreBLEU draws
    its samples with a fixed seed (12345, or the environment variable SACREBLEU_SEED), which the signature names.
    """
    _check(baseline, references, "translations of the baseline")
    _check(system, references, "translations of the system")
    compared = {name: metric for name, metric in metrics().items() if name in ("BLEU", "chrF")}
    # metrics() has shown that sacreBLEU is here.
    from sacrebleu.significance import PairedTest, Result

    systems = [("baseline", baseline), ("system", system)]
    signatures, results = PairedTest(systems, compared, [references], test_type="bs", n_samples=samples)()
    differences = []
    # The results stand under the metrics' own names ("chrF2"), in our order, after the column of the systems' names.
    for name, key in zip(compared, (key for key in results if key != "System"), strict=True):
        of_baseline, of_system = results[key]
        if not isinstance(of_baseline, Result) or not isinstance(of_system, Result) or of_system.p_value is None:
            raise DataError(f"sacreBLEU gave no p-value of {name}")
        differences.append(
            Difference(
                name=name,
                baseline=float(of_baseline.score),
                system=float(of_system.score),
                p_value=float(of_system.p_value),
                signature=str(signatures[key]),
            )
        )
    return differences


def metrics() -> dict[str, "Metric"]:
    """Return the metrics by the names of this module; ConfigurationError where sacreBLEU is not installed."""
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise ConfigurationError(f"scores need sacreBLEU ({error}): pip install 'pocketmt[train]'") from error
    return {"BLEU": BLEU(), "BLEU, lowercased": BLEU(lowercase=True), "chrF": CHRF()}


def _corpus_score(metric: "Metric", translations: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
    result = metric.corpus_score(translations, [references])
    return float(result.score), str(metric.get_signature())


def _check(translations: Sequence[str], references: Sequence[str], what: str) -> None:
    if len(translations) != len(references):
        raise DataError(
            f"{len(translations)} {what} but {len(references)} references: they must be parallel, line by line"
        )
    if not references:
        raise DataError("there is nothing to score: the corpus has no lines")
