"""Sentences in capitals, which most vocabularies spell letter by letter, and labels."""

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.capitals import lowered, without_capitals, without_first_capital
from pocketmt.model_file import open_model
from pocketmt.text.letter_case import with_capitals
from pocketmt.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def everyday() -> Translator:
    return Translator("everyday-en-de")


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    with open_model(resolve_model("everyday-en-de")) as file:
        return Vocabulary(file.vocabulary())


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("WHERE IS IT?", "Where is it?"),
        ("\u201cSTOP!\u201d", "\u201cStop!\u201d"),
        ("I AM 30.", "I am 30."),
        ("ÜBER", "Über"),
        ("Where IS IT?", None),
        ("A", None),
        ("30 %", None),
        ("", None),
        ("日本USA", None),
        ("GO {name} TO www.a.b!", "Go {name} to www.a.b!"),
        ("{name} IS HERE", "{name} Is here"),
        ("{NAME}", None),
        ("<b>WHERE</b> IS IT?", "<b>Where</b> is it?"),
        ("ÎLE", "Île"),
        ("FAQ, PDF, USB", None),
        ("FAQ", "Faq"),
        ("MY PDF", "My pdf"),
    ],
)
def test_only_sentences_of_capitals_are_changed(vocabulary: Vocabulary, sentence: str, expected: str | None) -> None:
    assert without_capitals(vocabulary, sentence, "en") == expected


def test_capitals_that_the_vocabulary_has_stay(vocabulary: Vocabulary) -> None:
    [word] = [piece for piece in ("USA", "CD", "TV") if len(vocabulary.encode(piece)) == 1][:1]
    for sentence in (word, f"{word}!!", f"{word} 2024", f"{word} 🔥"):
        assert without_capitals(vocabulary, sentence, "en") is None
    assert without_capitals(vocabulary, f"I HAVE A {word}", "en") == f"I have a {word.lower()}"


def test_the_language_decides_on_letters(vocabulary: Vocabulary) -> None:
    assert without_capitals(vocabulary, "KIZIL İZMİRLİ", "tr") == "Kızıl izmirli"


def test_the_translation_is_that_of_lower_case_in_capitals(everyday: Translator) -> None:
    small, capitals = "Where is the street? I love you.", "WHERE IS THE STREET? I LOVE YOU."
    [[expected]], [[found]] = everyday.translate_detailed([small]), everyday.translate_detailed([capitals])
    assert found.text == expected.text.upper() != expected.text
    assert everyday.translate([capitals, small]) == [found.text, expected.text]
    assert found.token_scores == expected.token_scores
    assert found.pieces == tuple(piece.upper() for piece in expected.pieces)
    assert found.alignment is not None and expected.alignment is not None
    assert found.alignment.source_words == tuple(capitals.split())
    assert found.alignment.target_words == tuple(found.text.split())
    assert found.alignment.word_links() == expected.alignment.word_links()


def test_each_sentence_is_looked_at(everyday: Translator) -> None:
    first, second = everyday.translate(["GO HOME!", "I love you."])
    assert everyday.translate(["GO HOME! I love you."]) == [f"{first} {second}"]
    assert first.isupper() and not second.isupper()


def test_placeholders_come_back_in_capitals(everyday: Translator) -> None:
    [found] = everyday.translate(["I LOVE {NAME}."])
    assert "{NAME}" in found
    assert found.isupper()


def test_each_of_several_translations_is_in_capitals(everyday: Translator) -> None:
    [hypotheses] = everyday.translate_n_best(["WHERE IS THE STREET?"], 3)
    assert len(hypotheses) == 3
    assert all(each.text.isupper() for each in hypotheses)


def test_terms_and_prefixes_keep_their_case(everyday: Translator) -> None:
    assert "Amerika" in everyday.translate(["I LIVE IN THE USA."], terms={"USA": "Amerika"})[0]
    assert everyday.translate(["WHERE IS IT?"], target_prefix="Wo ist")[0].startswith("Wo ist")


def test_capitals_bring_about_no_suppressed_text(everyday: Translator) -> None:
    lines = ["I LOVE YOU.", "THIS IS A VERY GOOD DAY.", "At home", "This is VERY good."]
    plain = everyday.translate(lines)
    assert everyday.translate(lines, suppressed_texts=["Katze", "HUND"]) == plain
    assert plain[0].isupper() and plain[1].isupper()
    with_love, *others = everyday.translate(lines, suppressed_texts=["LIEBE"])
    assert with_love == everyday.translate(["I love you."])[0] and others == plain[1:]
    assert plain[2] == "Zu Hause"
    assert everyday.translate(lines[2:3], suppressed_texts=["Zu"]) == ["zu Hause"]
    [hypotheses] = everyday.translate_detailed(lines[:1], n_best=3, suppressed_texts=["LIEBE", "I"])
    for each in hypotheses:
        assert "LIEBE" not in each.text and not any(word.startswith("I") for word in each.text.split())
        assert "".join(each.pieces).replace("\u2581", " ").strip() == each.text
        assert each.alignment is not None and each.alignment.source_words == ("I", "LOVE", "YOU.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Day", "day"),
        ("Day off now", "day off now"),
        ("Day after day off", None),
        ("No", "no"),
        ("No time", None),
        ("Day.", None),
        ("Day!”", None),
        ("Day 5.50 €", "day 5.50 €"),
        ("Mark is here", None),
        ("Mark", "mark"),
        ("Tom", None),
        ("DAY", None),
        ("day", None),
        ("A", None),
        ("Dayx", None),
        ("我", None),
        ("", None),
    ],
)
def test_labels_of_known_words_lose_their_capital(vocabulary: Vocabulary, text: str, expected: str | None) -> None:
    assert len(vocabulary.encode("Day")) > len(vocabulary.encode("day")) == 1
    assert len(vocabulary.encode("No")) == len(vocabulary.encode("no")) == 1
    assert without_first_capital(vocabulary, text, "en") == expected


def test_german_nouns_keep_their_capital(vocabulary: Vocabulary) -> None:
    for word in ("Film", "Ja"):
        assert len(vocabulary.encode(word)) == len(vocabulary.encode(word.lower())) == 1
        assert without_first_capital(vocabulary, word, "de-AT") is None
        assert without_first_capital(vocabulary, word, "en") == word.lower()
    assert without_first_capital(vocabulary, "Zurück", "de") == "zurück"


def test_labels_keep_their_capital(everyday: Translator) -> None:
    labels = ["English breakfast", "Chinese food", "At home"]
    assert all(each[0].isupper() for each in everyday.translate(labels))
    assert lowered(everyday._divider._vocabulary, "Film", "de") == ("Film", "none")
    assert lowered(everyday._divider._vocabulary, "Zurück", "de") == ("zurück", "first")
    assert lowered(everyday._divider._vocabulary, "Tom sees it", "en") == ("Tom sees it", "first")
    assert lowered(everyday._divider._vocabulary, "Day", "en", begins=False) == ("Day", "none")


def test_pieces_have_the_capitals_of_the_text() -> None:
    german = Translator("everyday-de-en")
    for line in ("IV WherePaulo Zoë", "Zurück bitte", "Öl", "Kochen"):
        for hypothesis in german.translate_detailed([line], n_best=3)[0]:
            assert hypothesis.alignment is not None
            assert list(hypothesis.alignment.target_words) == hypothesis.text.split()


def test_parts_within_a_sentence_keep_their_capital(everyday: Translator) -> None:
    line = "I met <b>Day</b> yesterday."
    divider = everyday._divider
    languages = everyday._languages.choose(None, None)
    divided = divider.divide(line, languages, split=True, protect=True)
    assert [text for text in divided.sentence_texts] == ["I met", "Day", "yesterday."]
    assert divider.divide("Day <b>is</b> here", languages, split=True, protect=True).sentence_texts[0] == "day"


def test_words_with_another_capital_stay() -> None:
    assert with_capitals("iPhone kaufen", "first", "de") == "iPhone kaufen"
    assert with_capitals("kaufen iPhone", "first", "de") == "Kaufen iPhone"
    assert with_capitals("", "first", "de") == with_capitals("", "all", "de") == ""
    assert with_capitals("ix", "first", "tr") == "İx"


def test_the_translation_of_a_label_begins_with_a_capital(everyday: Translator) -> None:
    [[small]], [[label]] = (
        everyday.translate_detailed(["day and night"]),
        everyday.translate_detailed(["Day and night"]),
    )
    assert label.text == small.text[0].upper() + small.text[1:]
    assert "".join(label.pieces).replace("\u2581", " ").strip() == label.text
    assert label.alignment is not None
    assert label.alignment.source_words == ("Day", "and", "night")
    assert label.alignment.target_words == tuple(label.text.split())
    assert everyday.translate(["Day and night", "Day. Day and night"])[0] == label.text
