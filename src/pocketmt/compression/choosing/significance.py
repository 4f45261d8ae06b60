"""Significance of differences in BLEU, by the paired bootstrap (Koehn 2004, https://aclanthology.org/W04-3250)."""

from collections.abc import Sequence
from typing import Final

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, Result

from pocketmt.training.bleu_tokenization import bleu_tokenization

SAMPLES: Final = 300


def p_values(baseline: Sequence[str], systems: Sequence[Sequence[str]], references: Sequence[str]) -> list[float]:
    """Return the p-value of each system's difference in BLEU from a baseline; all texts are parallel, line by line.

    BLEU is that of `validate`. The same input gives the same values: sacreBLEU samples with a fixed seed.
    """
    named = [("baseline", baseline), *((str(number), system) for number, system in enumerate(systems))]
    metric = BLEU(tokenize=bleu_tokenization(references))
    _, results = PairedTest(named, {"BLEU": metric}, [references], test_type="bs", n_samples=SAMPLES)()
    scored = [each for each in results["BLEU"] if isinstance(each, Result)]
    return [p_value(scored[0], each, len(references)) for each in scored[1:]]


def p_value(baseline: Result, system: Result, lines: int) -> float:
    """Return the p-value of a difference that sacreBLEU tested on some lines; 1.0 if there is no difference.

    It is at least 2^(1 - lines), the p-value of a sign test where the difference has the same sign in all lines. Few
    lines give nearly equal resamples, from which sacreBLEU concludes that any difference is significant, as it does
    from a difference of zero.
    """
    if system.p_value is None or system.score == baseline.score:
        return 1.0
    return max(float(system.p_value), 2.0 ** (1 - lines))
