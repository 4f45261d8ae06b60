"""pocketmt evaluate: its record, its table and a baseline."""

import json
from pathlib import Path

import pytest

from .conftest import SOURCES, Run, write_random_model


@pytest.fixture
def translation(pocketmt: Run, random_model: Path, text: Path) -> Path:
    """The translation of the text by the random model."""
    path = text.with_name("translation.de")
    path.write_bytes(pocketmt("translate", "-m", random_model, "-i", text).stdout)
    return path


def test_a_model_scored_against_its_translation_is_perfect(
    pocketmt: Run, random_model: Path, text: Path, translation: Path
) -> None:
    answer = pocketmt("evaluate", "-m", random_model, "-s", text, "-r", translation, "--json")
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    # The noise has no sequences of four words, which BLEU needs.
    assert record["quality"]["chrf"]["value"] == pytest.approx(100)
    assert "case:mixed" in record["quality"]["bleu"]["signature"]
    assert record["quality"]["lines"] == 5
    assert record["beam_size"] == 4
    assert record["differences"] == []
    assert record["provenance"]["command"].startswith("pocketmt evaluate -m ")


def test_an_ensemble_is_scored(pocketmt: Run, random_model: Path, another_model: Path, text: Path) -> None:
    models = "-m", random_model, "-m", another_model
    path = text.with_name("together.de")
    path.write_bytes(pocketmt("translate", *models, "-i", text).stdout)
    answer = pocketmt("evaluate", *models, "-s", text, "-r", path, "--json")
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert record["model"] == f"{random_model} + {another_model}"
    assert record["quality"]["chrf"]["value"] == pytest.approx(100)
    twice = pocketmt("evaluate", "-m", random_model, "--baseline", "a", "--baseline", "b", "-s", text, "-r", path)
    assert twice.returncode == 2 and b"--baseline is given 2 times" in twice.stderr


def test_the_table_shows_scores_and_signatures(
    pocketmt: Run, random_model: Path, text: Path, translation: Path
) -> None:
    answer = pocketmt("evaluate", "-m", random_model, "-s", text, "-r", translation)
    heading, _, bleu, lowercased, chrf = answer.stdout.decode().splitlines()
    assert heading.split() == ["score", "value", "signature"]
    assert bleu.split()[0] == "BLEU"
    assert lowercased.split()[:2] == ["BLEU,", "lowercased"]
    assert chrf.split()[:2] == ["chrF", "100.00"]
    assert "tok:13a" in bleu


def test_the_model_is_compared_with_a_baseline(
    pocketmt: Run, random_model: Path, another_model: Path, text: Path, translation: Path
) -> None:
    arguments = ["evaluate", "-m", random_model, "--baseline", another_model, "-s", text, "-r", translation]
    record = json.loads(pocketmt(*arguments, "--json").stdout)
    bleu, chrf = record["differences"]
    assert (bleu["name"], chrf["name"]) == ("BLEU", "chrF")
    assert chrf["system"] == pytest.approx(100)
    assert chrf["baseline"] < 50
    assert chrf["p_value"] == 2**-4  # the least that five lines allow
    assert "difference" in pocketmt(*arguments).stdout.decode()


@pytest.mark.parametrize(
    ("source", "reference", "message"),
    [
        ("a\nb\n", "a\n", "source has 2 lines but"),
        ("a\n", "a\nb\nc\n", "reference has 3"),
        ("", "", "nothing to score"),
        ("a\n", None, "reference"),
        (None, "a\n", "source"),
    ],
)
def test_texts_that_cannot_be_scored_are_refused(
    pocketmt: Run, random_model: Path, tmp_path: Path, source: str | None, reference: str | None, message: str
) -> None:
    for name, content in (("source", source), ("reference", reference)):
        if content is not None:
            (tmp_path / name).write_text(content)
    arguments = ["-m", random_model, "-s", tmp_path / "source", "-r", tmp_path / "reference"]
    answer = pocketmt("evaluate", *arguments)
    assert answer.returncode == 1
    assert answer.stdout == b""
    assert answer.stderr.startswith(b"error: ")
    assert message in answer.stderr.decode()
    assert answer.stderr.count(b"\n") == 1


def test_a_baseline_of_other_languages_is_refused(
    pocketmt: Run, random_model: Path, text: Path, tmp_path: Path
) -> None:
    french = tmp_path / "french.pocketmt"
    write_random_model(french, "uniform8", seed=1, target_language="fr")
    arguments = ["-m", random_model, "--baseline", french, "-s", text, "-r", tmp_path / "not-read"]
    answer = pocketmt("evaluate", *arguments)
    assert answer.returncode == 1
    message = answer.stderr.decode()
    assert "the target language of" in message and "is de, that of the baseline" in message and "is fr" in message


@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
def test_a_translated_file_has_the_scores_of_its_translations(
    pocketmt: Run, random_model: Path, text: Path, copied_text: Path, translation: Path, suffix: str
) -> None:
    given, translated = text.with_name(f"given.{suffix}"), text.with_name(f"translated.{suffix}")
    records = [
        json.dumps({"source": line, "target": line}) if suffix == "jsonl" else f"{line}\t{line}" for line in SOURCES
    ]
    given.write_text("".join(f"{record}\n" for record in records))
    options = ["--field", "source"] if suffix == "jsonl" else []
    pocketmt("translate", "-m", random_model, "-i", given, "-o", translated, *options)
    found, expected = (
        json.loads(pocketmt("evaluate", "-t", file, "-r", references, "--json").stdout)["systems"][0]["quality"]
        for file, references in ((translated, given), (translation, copied_text))
    )
    assert found == expected
    assert found["chrf"]["value"] < 99


def test_a_file_of_both_sides_has_the_references(
    pocketmt: Run, random_model: Path, text: Path, translation: Path, tmp_path: Path
) -> None:
    lines = zip(text.read_text().splitlines(), translation.read_text().splitlines(), strict=True)
    (tmp_path / "both.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in lines))
    expected = json.loads(pocketmt("evaluate", "-m", random_model, "-s", text, "-r", translation, "--json").stdout)
    found = json.loads(pocketmt("evaluate", "-m", random_model, "-s", tmp_path / "both.tsv", "--json").stdout)
    assert found["quality"] == expected["quality"]


@pytest.mark.parametrize("options", [(), ("--source-language", "eng", "--target-language", "deu")])
@pytest.mark.parametrize(("source", "target"), [("en", "de"), ("eng_Latn", "deu_Latn")])
def test_a_file_of_both_sides_names_them_by_any_codes(
    pocketmt: Run, text: Path, tmp_path: Path, options: tuple[str, ...], source: str, target: str
) -> None:
    model = tmp_path / "model.pocketmt"
    write_random_model(model, "uniform8", 1, *(("deu_Latn", "eng_Latn") if source == "en" else ("de", "en")))
    translation = pocketmt("translate", "-m", model, "-i", text).stdout.decode().splitlines()
    lines = [f"{b}\t{a}\n" for a, b in zip(SOURCES, translation, strict=True)]
    (tmp_path / "both.tsv").write_text("".join([f"{target}\t{source}\n", *lines]))
    answer = pocketmt("evaluate", "-m", model, "-s", tmp_path / "both.tsv", "--json", *options)
    quality = json.loads(answer.stdout)["quality"]
    assert quality["lines"] == 5 and quality["chrf"]["value"] == pytest.approx(100)
