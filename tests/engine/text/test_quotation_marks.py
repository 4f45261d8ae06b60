"""Quotation marks that a vocabulary hardly knows."""

import pytest

from pocketmt.engine import TranslationWarning, Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.quotation_marks import QuotationMarks
from pocketmt.model_file import open_model
from pocketmt.text.stored_vocabulary import StoredVocabulary
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.text.vocabulary_training import train_vocabulary


@pytest.fixture(scope="module")
def marks() -> QuotationMarks:
    with open_model(resolve_model("everyday-en-de")) as file:
        return QuotationMarks(Vocabulary(StoredVocabulary(file.vocabulary(), normalization="nfkc")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Where are you?”", '"Where are you?"'),
        ("He said, «yes» (“no”).", 'He said, "yes" ("no").'),
        ("‘Yes’, he said.", '"Yes", he said.'),
        ("“It’s ‘so’,” he said", '"It’s ‘so’," he said'),
        ("I can´t, Tom`s", "I can’t, Tom’s"),
        ("I can't, Tom’s 5´ and `ls`", "I can't, Tom’s 5´ and `ls`"),
        ('"Yes"', '"Yes"'),
        ("Home » News » Sport", "Home » News » Sport"),
        ("‘Tis the dogs’ day in the ‘60s, the kids’ music", "‘Tis the dogs’ day in the ‘60s, the kids’ music"),
        ("He said:“so”", 'He said:"so"'),
    ],
)
def test_english_marks(marks: QuotationMarks, text: str, expected: str) -> None:
    assert marks.replaced(text, "en") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("»Ja«, sagte er.", "„Ja“, sagte er."),
        ("„Ja“, sagte er.", "„Ja“, sagte er."),
        ("“Ja”, sagte er (“nein”).", "„Ja“, sagte er („nein“)."),
        ("‚Ja‘, sagte er.", "„Ja“, sagte er."),
        ("›Ja‹", "„Ja“"),
        ('"Ja"', '"Ja"'),
    ],
)
def test_german_marks(marks: QuotationMarks, text: str, expected: str) -> None:
    assert marks.replaced(text, "de") == expected


def test_marks_that_are_known_stay() -> None:
    known = QuotationMarks(train_vocabulary(["“Yes.” he said. “No.” she said.", "‘Yes.’ «no.»"] * 50, 40))
    assert known.replaced("“Yes.” he said.", "en") == "“Yes.” he said."


def test_hostile_text_is_searched_before_the_timeout(marks: QuotationMarks) -> None:
    for text in ("‘" * 50_000, "‘a" * 50_000, "‘" + "a " * 50_000, "“" * 50_000, "´a" * 50_000):
        assert len(marks.replaced(text, "en")) == len(text)


def test_text_of_another_script_is_copied_with_a_warning() -> None:
    everyday = Translator("everyday-en-de")
    with pytest.warns(TranslationWarning, match=r"line 1: .* the model knows hardly any of its letters"):
        assert everyday.translate(["I love you.  Я люблю тебя."]) == ["Ich liebe dich.  Я люблю тебя."]
    assert everyday.translate(["Łukasz", "😀 Ω"], check=False)[1] == "😀 Ω"


def test_a_foreign_name_is_no_text_of_another_script() -> None:
    everyday = Translator("everyday-en-de")
    assert everyday.translate(["Москва is big."], check=False) == ["Москва ist groß."]


def test_prefixes_and_terms_come_before_marks() -> None:
    everyday = Translator("everyday-en-de")
    [found] = everyday.translate(["1. Wash your hands."], target_prefix="1. Waschen", check=False)
    assert found.startswith("1. Waschen") and found.count("1.") == 1
    assert "Hallo" in everyday.translate(["Привет Tom"], terms={"Привет": "Hallo"}, check=False)[0]


def test_marks_beside_terms_stay() -> None:
    everyday = Translator("everyday-en-de")
    lines = {
        "Name\tPrice\tbike": "Name\tPreis\tRad",
        "| dog | cat | bike |": "| Hund | Katze | Rad |",
        "- I have a bike. Tom is here.": "- Ich habe ein Rad. Tom ist hier.",
        "[x] (I have a bike.)": "[x] (Ich habe ein Rad.)",
        "I have a bike.  Я люблю тебя.": "Ich habe ein Rad.  Я люблю тебя.",
    }
    assert everyday.translate(list(lines), terms={"bike": "Rad"}, check=False) == list(lines.values())
    across = {"milk\tbread": "Brotmilch", "- Tom": "Thomas", "1": "Erstens"}
    first, second, third = everyday.translate(
        ["milk\tbread", "- Tom is here.", "1. Wash it."], terms=across, check=False
    )
    assert "Brotmilch" in first and "Thomas" in second and "Erstens" in third


def test_marks_around_sentences_stay() -> None:
    everyday = Translator("everyday-en-de")
    lines = {"- milk": "- Milch", "a) Yes": "a) Ja", "(Tom is here.)": "(Tom ist hier.)", "milk\tbread": "Milch\tBrot"}
    assert everyday.translate(list(lines)) == list(lines.values())
    assert everyday.translate(["I'm happy :)"]) == ["Ich bin glücklich :)"]
    line = "1. (I love {person}.)"
    [found] = everyday.translate([line])
    assert found == "1. (Ich liebe {person}.)"
    [[detailed]] = everyday.translate_detailed([line])
    assert detailed.text == found
    assert detailed.alignment is not None
    assert detailed.alignment.target_words == tuple(found.split())
