"""pocketmt evaluate --translations: scores of existing translations, several references and paired bootstrap tests."""

import json
from pathlib import Path

import pytest
import sacrebleu

from pocketmt.cli.main import run

from .conftest import Run

REFERENCES = ["Ein Mann fährt mit dem Rad.", "Zwei Hunde spielen im Schnee.", "Eine Frau liest ein Buch im Park."] * 8
OTHERS = ["Ein Mann fährt Fahrrad.", "Zwei Hunde tollen im Schnee.", "Eine Frau liest im Park ein Buch."] * 8
GOOD = ["Ein Mann fährt mit dem Rad.", "Zwei Hunde spielen im Wasser.", "Eine Frau liest ein Buch im Park."] * 8
BAD = ["Ein Mann mit Rad.", "Hunde im Schnee Schnee.", "Frau liest Buch."] * 8
TEXTS = {"ref.de": REFERENCES, "other.de": OTHERS, "good.de": GOOD, "bad.de": BAD, "empty.de": [], "short.de": GOOD[:5]}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, lines in TEXTS.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_scores_are_those_of_sacrebleu_with_all_references(pocketmt: Run) -> None:
    for references in ([REFERENCES], [REFERENCES, OTHERS]):
        names = ["ref.de", "other.de"][: len(references)]
        options = [option for name in names for option in ("--references", name)]
        record = json.loads(pocketmt("evaluate", "--translations", "good.de", *options, "--json").stdout)
        (system,) = record["systems"]
        bleu, chrf = sacrebleu.BLEU(), sacrebleu.CHRF()
        assert system["quality"]["bleu"]["value"] == pytest.approx(bleu.corpus_score(GOOD, references).score)
        assert system["quality"]["chrf"]["value"] == pytest.approx(chrf.corpus_score(GOOD, references).score)
        assert system["quality"]["bleu"]["signature"] == str(bleu.get_signature())
        assert f"nrefs:{len(references)}" in system["quality"]["bleu"]["signature"]
        assert record["references"] == names and system["differences"] == []
        assert record["provenance"]["command"].startswith("pocketmt evaluate --translations good.de")


def test_several_systems_are_compared_with_a_baseline(pocketmt: Run) -> None:
    arguments = ["-t", "good.de", "-t", "ref.de", "--baseline", "bad.de", "-r", "ref.de"]
    record = json.loads(pocketmt("evaluate", *arguments, "--json").stdout)
    assert [system["translations"] for system in record["systems"]] == ["bad.de", "good.de", "ref.de"]
    baseline, good, best = record["systems"]
    assert baseline["differences"] == []
    for system in (good, best):
        bleu = system["differences"][0]
        assert bleu["baseline"] == pytest.approx(baseline["quality"]["bleu"]["value"])
        assert bleu["system"] == pytest.approx(system["quality"]["bleu"]["value"])
        assert bleu["p_value"] < 0.05 and "bs:1000" in bleu["signature"]
    assert best["quality"]["bleu"]["value"] == pytest.approx(100)
    table = pocketmt("evaluate", *arguments).stdout.decode().splitlines()
    assert [line.split()[0] for line in table if line and line[0] != "-"] == [
        *("system", *["bad.de"] * 3, *["good.de"] * 3, *["ref.de"] * 3),
        *("system", *["good.de"] * 2, *["ref.de"] * 2),
        "Fewer",  # than 100 lines
    ]


def test_one_system_has_a_table_of_scores(pocketmt: Run) -> None:
    heading, _, *rows = pocketmt("evaluate", "-t", "ref.de", "-r", "ref.de").stdout.decode().splitlines()
    assert heading.split() == ["score", "value", "signature"]
    assert [row.split("  ")[0] for row in rows] == ["BLEU", "BLEU, lowercased", "chrF"]
    assert all("100.00" in row and "version:" in row for row in rows)


def test_names_that_are_not_utf8_are_escaped_in_the_tables(pocketmt: Run) -> None:
    Path("caf\udce9.de").write_bytes(Path("good.de").read_bytes())
    arguments = ["-t", "caf\udce9.de", "--baseline", "bad.de", "-r", "ref.de"]
    answer = pocketmt("evaluate", *arguments, environment={"PYTHONIOENCODING": "utf-8:strict"})
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.decode().count("caf\\udce9.de  ") == 3 + 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "short.de", "-r", "ref.de"], "ref.de has 24 lines but short.de has 5"),
        (["-t", "good.de", "-r", "ref.de", "-r", "short.de"], "ref.de has 24 lines but short.de has 5"),
        (["-t", "good.de", "-r", "ref.de", "--baseline", "short.de"], "but short.de has 5"),
        (["-t", "empty.de", "-r", "ref.de"], "empty.de: empty"),
        (["-t", "missing.de", "-r", "ref.de"], "missing.de: cannot be read"),
    ],
)
def test_files_that_cannot_be_scored_are_errors(pocketmt: Run, arguments: list[str], message: str) -> None:
    answer = pocketmt("evaluate", *arguments)
    assert (answer.returncode, answer.stdout) == (1, b"")
    assert message in answer.stderr.decode() and answer.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give --model or --translations"),
        (["-m", "captions-en-de", "-t", "good.de"], "Give --model or --translations"),
        (["-t", "good.de"], "--translations need --references"),
        (["-t", "good.de", "-r", "ref.de", "-s", "a.en"], "take no --source"),
        (["-t", "good.de", "-r", "ref.de", "-b", "2"], "--beam-size needs --model"),
        (["-t", "good.de", "-r", "ref.de", "-w", "2"], "--workers needs --model"),
        (["-t", "good.de", "-r", "ref.de", "--no-shortlist"], "--no-shortlist needs --model"),
        (["-t", "good.de", "-r", "ref.de", "--device", "native"], "--device needs --model"),
        (["-t", "good.de", "-r", "ref.de", "--baseline", "captions-en-de"], "a file of translations as --baseline"),
        (
            ["-m", "captions-en-de", "-s", "a.en", "-r", "ref.de", "--baseline", "bad.de"],
            "--model needs a model as --baseline, which bad.de is not",
        ),
        (["-m", "captions-en-de", "-r", "ref.de"], "--model needs --source"),
        (["-m", "captions-en-de", "-s", "a.en"], "--model needs --source"),
    ],
)
def test_contradictory_options_are_usage_errors(pocketmt: Run, arguments: list[str], message: str) -> None:
    answer = pocketmt("evaluate", *arguments)
    assert answer.returncode == 2
    assert message in answer.stderr.decode()


def test_a_file_that_is_its_own_reference_is_scored_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "good.de"
    path.write_text("Zwei Hunde\n")
    (tmp_path / "same.de").symlink_to(path)
    assert run(["evaluate", "-t", str(path), "-r", str(tmp_path / "same.de")]) == 0
    assert capsys.readouterr().err.startswith(f"warning: {path} is scored against itself")
