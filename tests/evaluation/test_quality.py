import pytest

from pocketmt.compression.choosing.significance import p_values
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.quality import compare, few_lines_warning, metrics, score

REFERENCES = [
    "Ein Mann fährt mit dem Fahrrad.",
    "Zwei Hunde spielen im Schnee.",
    "Eine Frau liest ein Buch auf einer Bank.",
] * 10


def test_the_reference_itself_scores_a_hundred() -> None:
    quality = score(REFERENCES, REFERENCES)
    assert quality.lines == 30
    assert quality.bleu.value == pytest.approx(100)
    assert quality.bleu_lowercased.value == pytest.approx(100)
    assert quality.chrf.value == pytest.approx(100)


def test_only_the_lowercased_score_ignores_case() -> None:
    quality = score([line.upper() for line in REFERENCES], REFERENCES)
    assert quality.bleu_lowercased.value == pytest.approx(100)
    assert quality.bleu.value < 20
    assert quality.chrf.value < 50


def test_a_score_has_a_signature() -> None:
    quality = score(REFERENCES, REFERENCES)
    assert "case:mixed" in quality.bleu.signature
    assert "tok:13a" in quality.bleu.signature
    assert "case:lc" in quality.bleu_lowercased.signature
    assert "nc:6|nw:0" in quality.chrf.signature


def test_a_known_score() -> None:
    # By hand: 5 tokens against 6; 1-grams 5/5, 2-grams 3/4, 3-grams 1/3, 4-grams 0/2 (smoothed to 1/4), brevity penalty
    # exp(1 - 6/5).
    by_hand = 100 * 2.718281828459045 ** (1 - 6 / 5) * (1 * 3 / 4 * 1 / 3 * 1 / 4) ** 0.25
    assert score(["a man a bike."], ["a man rides a bike."]).bleu.value == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize("translations", [[], REFERENCES[:-1], [*REFERENCES, "Noch eine."]])
def test_unequal_numbers_of_lines_are_refused(translations: list[str]) -> None:
    with pytest.raises(DataError, match=f"{len(translations)} translations but 30 references"):
        score(translations, REFERENCES)


def test_an_empty_corpus_is_refused() -> None:
    with pytest.raises(DataError, match="no lines"):
        score([], [])


def test_a_clearly_better_system_is_significant() -> None:
    worse = [line.replace("ein", "kein").replace("im", "an") for line in REFERENCES]
    bleu, chrf = compare(worse, REFERENCES, REFERENCES, samples=200)
    assert (bleu.name, chrf.name) == ("BLEU", "chrF")
    assert bleu.gain > 5
    assert chrf.gain > 5
    assert bleu.p_value < 0.05
    assert "bs:200" in bleu.signature


def test_equal_systems_are_not_significant_and_the_test_repeats() -> None:
    first_half_worse = ["Ein Mann." if index < 15 else line for index, line in enumerate(REFERENCES)]
    second_half_worse = ["Ein Mann." if index >= 15 else line for index, line in enumerate(REFERENCES)]
    first = compare(first_half_worse, second_half_worse, REFERENCES, samples=200)
    assert all(difference.p_value > 0.2 for difference in first)
    assert first == compare(first_half_worse, second_half_worse, REFERENCES, samples=200)


def test_a_system_does_not_differ_from_itself() -> None:
    assert [difference.p_value for difference in compare(REFERENCES, REFERENCES, REFERENCES, samples=20)] == [1.0, 1.0]


def test_both_systems_must_be_parallel_to_the_references() -> None:
    with pytest.raises(DataError, match="29 translations of the baseline"):
        compare(REFERENCES[1:], REFERENCES, REFERENCES)
    with pytest.raises(DataError, match="29 translations of the system"):
        compare(REFERENCES, REFERENCES[1:], REFERENCES)


@pytest.mark.parametrize(("lines", "least"), [(1, 1.0), (2, 0.5), (5, 1 / 16), (6, 1 / 32)])
def test_few_lines_are_hardly_significant(lines: int, least: float) -> None:
    # Each resample differs by nearly as much, so the bootstrap alone has p < 0.01.
    references = [f"{number} Frauen lesen ein Buch auf einer Bank." for number in range(lines)]
    worse = [line.replace("Buch", "Heft") for line in references]
    assert [each.p_value for each in compare(worse, references, references, samples=300)] == [least, least]
    assert p_values(references, [worse, references], references) == [least, 1.0]


def test_p_values_on_few_lines_have_a_warning() -> None:
    assert few_lines_warning(99) == "Fewer than 100 lines make p-values unreliable: give more."
    assert few_lines_warning(100) == ""


@pytest.mark.parametrize("seed", ["x", "", "-5", "1.5", "99999999999"])
def test_a_seed_that_is_none_is_refused(seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", seed)
    with pytest.raises(ConfigurationError, match=r"SACREBLEU_SEED is .*: set it to a whole number"):
        metrics()
