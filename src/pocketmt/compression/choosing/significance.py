"""Significance of differences in BLEU, by the paired bootstrap (Koehn 2004, https://aclanthology.org/W04-3250)."""

from collections.abc import Sequence
from typing import Final

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, Result

SAMPLES: Final = 300


def p_values(baseline: Sequence[str], systems: Sequence[Sequence[str]], references: Sequence[str]) -> list[float]:
    """Return the p-value of each system's difference in BLEU from a baseline; all texts are parallel, line by line.

    The same input gives the same values: sacreBLEU samples with a fixed seed.
    """
    named = [("baseline", baseline), *((str(number), system) for number, system in enumerate(systems))]
    _, results = PairedTest(named, {"BLEU": BLEU()}, [references], test_type="bs", n_samples=SAMPLES)()
    scored = [each for each in results["BLEU"] if isinstance(each, Result)]
    # sacreBLEU calls a difference of zero significant.
    return [each.p_value if each.p_value and each.score != scored[0].score else 1.0 for each in scored[1:]]
