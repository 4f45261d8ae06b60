import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.demo.__main__ import TEXTS
from examples.demo.sentences import ALTERNATIVES, IRREGULAR_FORMS, form_of, sentences
from tests.parallel_text import parallel_text


def test_sentences_are_different_and_have_no_slots_left() -> None:
    found = sentences(5000)
    assert len(set(found)) == 5000
    assert [line for line in found if not re.fullmatch(r"[A-Z0-9][A-Za-z0-9' ,:]*[.?!]", line)] == []


def test_a_seed_gives_the_same_sentences_in_every_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "examples.demo.sentences", "--lines", "50", "--seed", "7", str(tmp_path / "text")]
    subprocess.run(command, check=True)
    assert (tmp_path / "text").read_text(encoding="utf-8").splitlines() == sentences(50, 7)
    assert sentences(50, 7) != sentences(50, 8)


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("play", "plays played played playing"),
        ("study", "studies studied studied studying"),
        ("watch", "watches watched watched watching"),
        ("go", "goes went gone going"),
        ("have", "has had had having"),
        ("die", "dies died died dying"),
        ("stop", "stops stopped stopped stopping"),
        ("give", "gives gave given giving"),
        ("hurry", "hurries hurried hurried hurrying"),
        ("smoke", "smokes smoked smoked smoking"),
    ],
)
def test_forms_of_verbs(verb: str, forms: str) -> None:
    assert [form_of(verb, form) for form in ("s", "past", "participle", "ing")] == forms.split()


def test_every_irregular_verb_is_used() -> None:
    assert set(IRREGULAR_FORMS) <= {phrase.split()[0] for phrase in ALTERNATIVES["activity"]}


def test_an_article_fits_the_next_word() -> None:
    text = "\n".join(sentences(5000))
    assert re.findall(r"\b[Aa] [aeiou]\w*", text) == []
    assert re.findall(r"\b[Aa]n [^aeiou]\w*", text) == []


def test_the_demo_does_not_learn_from_its_test_sentences() -> None:
    english, german = parallel_text()
    assert len(set(english)) == len(german) == 200
    written = {line for lines, seed in TEXTS.values() for line in sentences(lines, seed)}
    assert set(english) & written == set()
