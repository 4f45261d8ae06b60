"""pocketmt translate: options of the search, and what is written of its results."""

import json
from pathlib import Path

import pytest

from pocketmt.cli.main import run
from pocketmt.engine import Translator

from .conftest import SOURCES, Run

TEXT = "\n".join(SOURCES[:4]).encode()


def lines(pocketmt: Run, model: Path, *options: object) -> list[str]:
    answer = pocketmt("translate", "-m", model, "--max-length", 12, *options, stdin=TEXT)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.decode().splitlines()


@pytest.fixture
def translator(random_model: Path) -> Translator:
    return Translator(random_model)


def test_alignment_and_scores_are_columns(pocketmt: Run, random_model: Path, translator: Translator) -> None:
    found = lines(pocketmt, random_model, "--scores", "--alignment", "--n-best", 2)
    expected = translator.translate_detailed(SOURCES[:4], n_best=2, max_length=12)
    for line, hypotheses in zip(found, expected, strict=True):
        columns = []
        for each in hypotheses:
            assert each.alignment is not None
            columns += [f"{each.score:.6f}", each.text, each.alignment.pharaoh()]
        assert line.split("\t") == columns
    plain = [line.split("\t")[1] for line in found]
    assert [line.split("\t") for line in lines(pocketmt, random_model, "--alignment")] == [
        [text, line.split("\t")[2]] for text, line in zip(plain, found, strict=True)
    ]


def test_json_has_pieces_and_words(pocketmt: Run, random_model: Path, translator: Translator) -> None:
    found = lines(pocketmt, random_model, "--json", "--alignment", "--token-scores")
    for line, [best] in zip(found, translator.translate_detailed(SOURCES[:4], max_length=12), strict=True):
        [record] = json.loads(line)["translations"]
        assert best.alignment is not None
        assert record == {
            "text": best.text,
            "score": round(best.score, 6),
            "pieces": list(best.pieces),
            "token_scores": [round(score, 6) for score in best.token_scores],
            "alignment": best.alignment.pharaoh(),
            "source_words": list(best.alignment.source_words),
            "target_words": list(best.alignment.target_words),
        }
    [record] = json.loads(lines(pocketmt, random_model, "--json")[0])["translations"]
    assert list(record) == ["text", "score"]


def test_options_reach_the_search(pocketmt: Run, random_model: Path, translator: Translator) -> None:
    plain = translator.translate(SOURCES[:4], max_length=12)
    word = plain[0].split()[0]
    for options, arguments in (
        (("--prefix", "house"), {"target_prefix": "house"}),
        (("--suppress", word, "--suppress", "house"), {"suppressed_texts": [word, "house"]}),
        (("--repetition-penalty", 3, "--no-repeat-ngram", 1), {"repetition_penalty": 3.0, "no_repeat_ngram_size": 1}),
        (("--repeat-limit", 2), {"repeat_limit": 2}),
        (("--sample", "--seed", 7, "--top-k", 20), {"sampling": True, "seed": 7, "top_k": 20}),
        (("--sample", "--temperature", 2, "--top-p", 0.9), {"sampling": True, "temperature": 2.0, "top_p": 0.9}),
    ):
        expected = translator.translate(SOURCES[:4], max_length=12, **arguments)
        assert lines(pocketmt, random_model, *options) == expected
        assert expected != plain
    assert len(lines(pocketmt, random_model, "--replace-unknown")) == 4
    assert lines(pocketmt, random_model, "--batch-size", 1) == plain


def test_samples_are_the_same_for_the_same_seed(pocketmt: Run, random_model: Path) -> None:
    options = ("--sample", "--n-best", 6, "--scores")
    found = lines(pocketmt, random_model, *options, "--seed", 1)
    assert lines(pocketmt, random_model, *options, "--seed", 1, "--workers", 2) == found
    assert lines(pocketmt, random_model, *options, "--seed", 2) != found
    assert [len(line.split("\t")) for line in found] == [12] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--seed", 1), "--seed needs --sample"),
        (("--top-k", 1), "--top-k needs --sample"),
        (("--top-p", 0), "--top-p"),
        (("--sample", "--temperature", 0), "--temperature"),
        (("--sample", "--beam-size", 4), "leave out --beam-size"),
        (("--token-scores",), "--token-scores needs --json"),
        (("--repetition-penalty", 0), "--repetition-penalty"),
        (("--repetition-penalty", "nan"), "--repetition-penalty must be a finite number"),
        (("--no-repeat-ngram", 0), "--no-repeat-ngram"),
        (("--repeat-limit", 1), "--repeat-limit"),
        (("--batch-size", 0), "--batch-size"),
        (("--n-best", 5), "--beam-size 5"),
        (("--beam-size", 10**30), "1<=x<=256"),
        (("--sample", "--n-best", 300), "it must be from 1 to 256"),
        (("--prefix", "日"), "--prefix has '日', which no piece of the vocabulary has"),
        (("--suppress", " "), "--suppress contains an empty text: remove it"),
        (("--precision", "float16"), "--precision applies only to PyTorch"),
        (("--format", "tsv", "--column", ""), "--column is empty: give a name, or leave it out"),
        (("--format", "json", "--field", ""), "--field is empty"),
        (("--format", "jsonl", "--translation-field", ""), "--translation-field is empty"),
    ],
)
def test_wrong_options_are_refused(
    pocketmt: Run, random_model: Path, options: tuple[object, ...], message: str
) -> None:
    answer = pocketmt("translate", "-m", random_model, *options, stdin=TEXT)
    assert answer.returncode in (1, 2)
    assert message in answer.stderr.decode()
    assert b"Traceback" not in answer.stderr
    assert answer.stdout == b""


def test_terms_of_a_file(pocketmt: Run, tmp_path: Path) -> None:
    terms = tmp_path / "terms.txt"
    terms.write_text("\ufeffbike\tRad\r\n\nhouse\t Gebäude\n", encoding="utf-8")
    text = b"A man rides a bike.\nA man sleeps.\n"
    plain, found = (
        pocketmt("translate", "-m", "captions-en-de", *options, stdin=text).stdout.decode().splitlines()
        for options in ((), ("--terms", terms))
    )
    assert " Rad" in found[0] != plain[0]
    assert found[1] == plain[1]
    assert [found[0]] == Translator("captions-en-de").translate(["A man rides a bike."], terms={"bike": "Rad"})


def test_a_dash_is_standard_input_and_output(
    pocketmt: Run, random_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = pocketmt("translate", "-m", random_model, stdin=TEXT).stdout
    assert pocketmt("translate", "-m", random_model, "-i", "-", "-o", "-", stdin=TEXT).stdout == expected
    pocketmt("translate", "-m", random_model, "-o", "./-", stdin=TEXT)
    assert (tmp_path / "-").read_bytes() == expected


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--alignment", "PyTorch does not support alignment: leave out --alignment, or translate with"),
        ("--replace-unknown", "PyTorch does not support --replace-unknown: leave it out, or translate with"),
    ],
)
def test_options_that_pytorch_lacks_are_named(
    random_model: Path, text: Path, option: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["translate", "-m", str(random_model), "-i", str(text), "--device", "torch-cpu", option]) == 1
    assert message in capsys.readouterr().err
