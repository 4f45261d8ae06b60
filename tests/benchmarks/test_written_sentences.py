"""The sentences that were written for the project: none of them is in the training text."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import everyday_scores
from benchmarks.written_sentences.__main__ import SENTENCES, main, sentences
from examples.everyday.phrase_book.__main__ import phrase_pairs, word_pairs


class Echo:
    """Translates each line into itself."""

    def __init__(self, file: str) -> None:
        pass

    def translate(self, lines: list[str], **_: object) -> list[str]:
        return lines


def test_no_sentence_is_in_the_training_text_that_was_written_for_the_project() -> None:
    rows = sentences("test")
    lines = {line.lower() for row in rows for line in row}
    assert len(rows) == len(set(rows)) > 270
    assert lines.isdisjoint(line.lower() for pair in [*phrase_pairs("de"), *word_pairs()] for line in pair)


def test_the_training_of_the_bundled_models_leaves_the_sentences_out() -> None:
    script = Path("examples/everyday/bundled.sh").read_text(encoding="utf-8")
    [command] = re.findall(r"examples\.everyday\.phrase_book(.*?)\n}", script, re.DOTALL)
    held_out = command[command.index("--held-out") : command.index(" -o ")]
    assert f" {SENTENCES.relative_to(Path.cwd())} " in held_out


@pytest.mark.parametrize("languages", ["en-de", "de-en"])
def test_models_are_scored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, languages: str) -> None:
    monkeypatch.setattr(everyday_scores, "Translator", Echo)
    found = []
    for options in ([], ["--final"]):
        output = tmp_path / "record.json"
        assert main(["a=b", "--languages", languages, "--output", str(output), *options]) == 0
        found.append(json.loads(output.read_text(encoding="utf-8")))
    assert [record["part"] for record in found] == ["val", "test"]
    [val], [test] = (record["rows"] for record in found)
    assert abs(2 * val["lines"] - test["lines"]) <= 1
    assert val["bleu"] != test["bleu"]
    assert all(0 < row["bleu"] < 10 and 10 < row["chrf"] < 40 for row in (val, test))
    assert ("nrefs:2" in val["signatures"][0]) == (languages == "en-de")
