"""Words that the vocabulary of the source lacks: unknown characters, acronyms, and words in capitals for stress."""

from typing import Any

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.unknown_words import UnknownWords
from pocketmt.model_file import open_model
from pocketmt.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def everyday() -> Translator:
    return Translator("everyday-en-de")


@pytest.fixture(scope="module")
def unknown_words() -> UnknownWords:
    with open_model(resolve_model("everyday-en-de")) as file:
        return UnknownWords(Vocabulary(file.vocabulary()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My name is Łukasz.", ["Łukasz"]),
        ("Łukasz's dog", ["Łukasz"]),
        ("I live in São Paulo now.", ["São Paulo"]),  # which has "ã", but in no longer piece
        ("Yesterday Zoë and Dvořák met Tom.", ["Zoë", "Dvořák"]),
        ("Click [Save] or `ls`, please.", ["[Save]", "`ls`"]),
        ("AT&T and R&D", ["AT&T", "R&D"]),
        ("Raúl is here", ["Raúl"]),
        ("Über", []),  # "ü" is in pieces
        ("We met Łukasz Nowak, Dvořák", ["Łukasz Nowak", "Dvořák"]),
        ("I met President Erdoğan today", ["Erdoğan"]),
        ("[Music] is on", []),
        ("1+1=2, 10+ years, item#5 and C++11", []),
        ("THIS CAFÉ IS AT&T", []),
        ("The WHO, the ICE and the CAT", ["WHO", "ICE", "CAT"]),
        ("NASA", ["NASA"]),
        ("AT&T", ["AT&T"]),
        ("C++", ["C++"]),
        ("STOP", []),
        ("DANGEROUSLY", []),
        ("ООН здесь", ["ООН", "здесь"]),
        ("I like C++ and C# here", ["C++", "C#"]),
        ("NASA and the BBC2", ["NASA", "BBC2"]),
        ("HE LEFT NASA", []),
        ("It is 5 PM in World War II, in the USA", []),
        ("This is VERY important, said Tom", []),
        ("See http://a.b/NASA, {NASA} and <BR/>.", []),
        ("I saw 中文 and ภาษาไทย there.", ["中文", "ภาษาไทย"]),
        ("NASA 中文", ["NASA", "中文"]),
        ("私はŁukaszです", ["私は", "Łukasz", "です"]),
        ("I am here.", []),
        ("", []),
    ],
)
def test_words_that_the_vocabulary_lacks(unknown_words: UnknownWords, text: str, expected: list[str]) -> None:
    found = unknown_words.find(text, "en")
    assert [part.text for part in found] == expected
    assert all(text[part.start : part.end] == part.text for part in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This is VERY important.", "This is very important."),
        ("STOP right there!", "Stop right there!"),
        ("“NEVER say that”", "“Never say that”"),
        ("The US and the BBC", "The US and the BBC"),
        ("I do NOT; the WHO says", "I do not; the WHO says"),
        ("I love TOM", "I love Tom"),
        ("Tom & Mary, R&D", "Tom and Mary, R&D"),
        ("THIS IS VERY IMPORTANT", "THIS IS VERY IMPORTANT"),
        ("See {VERY} and http://a.b/VERY", "See {VERY} and http://a.b/VERY"),
        ("I ẅant it", "I want it"),
        ("I was in the USA", "I was in the USA"),
        ("", ""),
        ("Good morning, **friend**.", "Good morning, friend."),
        ("*Good* _morning_, ~~my~~ ***friend***!", "Good morning, my friend!"),
        ("This is *very, very* good", "This is very, very good"),
        ("2 * 3 * 4, a*b*c, * this *, **this*, _a_b_", "2 * 3 * 4, a*b*c, * this *, **this*, _a_b_"),
        ("See http://a.b/_c_/d, __name__ and *{name}*", "See http://a.b/_c_/d, __name__ and *{name}*"),
    ],
)
def test_stress_and_accents_go_where_the_vocabulary_has_the_word(
    unknown_words: UnknownWords, text: str, expected: str
) -> None:
    assert unknown_words.respelled(text, "en") == expected


@pytest.mark.parametrize(
    ("text", "translation", "lost"),
    [
        ("I am Łukasz", "Ich bin Stippen", ["Łukasz"]),
        ("I am Łukasz", "Ich bin Łukasz", []),
        ("I am in Ōsaka", "Ich bin in Osaka", []),
        ("NASA is here", "NASEN ist hier", ["NASA"]),
        ("NASA is here", "Die NASA ist hier", []),
        ("Where is the ATM?", "Wo ist der Geldautomat?", []),
        ("The ATM of NASA", "Der Automat der NASA", []),
        ("The OTAN is here", "Die NATO ist hier", []),
        ("AT&T is here", "Die Firma ist hier", ["AT&T"]),
        ("The WHO is here", "Die, die hier sind", []),
    ],
)
def test_acronyms_may_become_words(unknown_words: UnknownWords, text: str, translation: str, lost: list[str]) -> None:
    assert [part.text for part in unknown_words.lost(text, translation, "en")] == lost


def test_a_language_without_a_word_for_the_sign_keeps_it(unknown_words: UnknownWords) -> None:
    assert unknown_words.respelled("Tom & Mary", "ja") == "Tom & Mary"
    assert unknown_words.respelled("Obst & Gemüse", "de-AT") == "Obst und Gemüse"


def test_marks_of_emphasis_do_not_disturb_a_translation(everyday: Translator) -> None:
    marked, plain = everyday.translate(["*Good* morning, **friend**.", "Good morning, friend."])
    assert marked == plain


def test_translations_keep_unknown_words(everyday: Translator) -> None:
    found = everyday.translate(["My name is Łukasz.", "I live in São Paulo. I love AT&T.", "I love Tom."])
    assert "中文" in everyday.translate(["I can read 中文."])[0]
    assert "Łukasz" in found[0] and "São Paulo" in found[1] and "AT&T" in found[1]
    assert found[2] == everyday.translate(["I love Tom."], protect=False)[0]
    assert "Łukasz" not in everyday.translate(["My name is Łukasz."], protect=False)[0]
    [[detailed]] = everyday.translate_detailed(["My name is Łukasz."])
    assert detailed.text == found[0] and detailed.alignment is not None
    links = [
        (detailed.alignment.source_words[a], detailed.alignment.target_words[b])
        for a, b in detailed.alignment.word_links()
    ]
    assert ("Łukasz.", "Łukasz.") in links


def test_terms_replace_unknown_words(everyday: Translator) -> None:
    terms = {"Łukasz": "Lukas", "R&D": "Forschung"}
    found = everyday.translate(["I know Łukasz.", "We spend money on R&D."], terms=terms, check=False)
    assert "Lukas" in found[0] and "Forschung" in found[1]


def test_a_term_concerns_its_sentence_alone(everyday: Translator) -> None:
    terms = {"dog": "Köter"}
    alone = everyday.translate(["This is NOT good.", "I LOVE IT!", "I like C++."])
    found = everyday.translate(
        [f"{line} The dog barks." for line in ("This is NOT good.", "I LOVE IT!", "I like C++.")], terms=terms
    )
    assert all(line.startswith(first) and "Köter" in line for line, first in zip(found, alone, strict=True))


def test_words_beside_a_term_are_kept(everyday: Translator) -> None:
    terms = {"bike": "Rad", "Dvořák": "Dvorak", "Łódź bike": "Lodzer Rad"}
    lines = ["Łukasz bought a bike.", "Goethe bought a bike in Ljubljana.", "Łukasz met Dvořák. I have a bike."]
    first, second, third = everyday.translate(lines, terms=terms, check=False)
    assert "Łukasz" in first and "Rad" in first
    assert "Goethe" in second and "Ljubljana" in second and "Rad" in second
    assert "Łukasz" in third and "Dvorak" in third and "Rad" in third
    assert "Lodzer Rad" in everyday.translate(["Łukasz has a Łódź bike."], terms=terms, check=False)[0]
    across = {"bike. Łukasz": "Haus", "house": "Haus"}
    line = "This is my house. I have a bike. Łukasz is here."
    assert "Łukasz" in everyday.translate([line], terms=across, check=False)[0]


def test_spellings_are_known_in_sentences_with_terms(everyday: Translator) -> None:
    lines = {
        "“I bought a bike.”": '"I bought a bike."',
        "This bike is VERY good.": "This bike is very good.",
        "I need a bike, a dog, etc.": "I need a bike, a dog, and so on.",
        "Tom & Mary have a bike.": "Tom and Mary have a bike.",
    }
    found = everyday.translate(list(lines), terms={"bike": "Rad"}, check=False)
    for line, known in zip(lines, everyday.translate(list(lines.values()), terms={"bike": "Rad"}), strict=True):
        assert found.pop(0) == known and "Rad" in known, line
    terms = {"VERY": "SEHR", "&": "plus", "etc": "usf", "“": "Zitat"}
    found = everyday.translate(["A VERY good day.", "Tom & Mary", "A dog, etc."], terms=terms, check=False)
    assert "SEHR" in found[0] and "plus" in found[1] and "usf" in found[2]


def test_another_spelling_makes_no_term(everyday: Translator) -> None:
    german = Translator("everyday-de-en")
    for line in ("Das ist mein HUND.", "DAS IST MEIN HUND."):
        assert german.translate([line], terms={"Hund": "pooch", "hund": "cur"}) == german.translate([line])
    line = "I BOUGHT A BIKE."
    assert everyday.translate([line], terms={"bike": "Rad"}) == everyday.translate([line])


def test_german_words_with_a_known_part_are_no_names() -> None:
    with open_model(resolve_model("everyday-de-en")) as file:
        words = UnknownWords(Vocabulary(file.vocabulary()))
    assert [part.text for part in words.find("Die Eiscrème und Raúl", "de-CH")] == ["Raúl"]


def test_many_unknown_words_do_not_keep_a_number_from_its_stand_in(everyday: Translator) -> None:
    line = "My number is 482913, and Łukasz, Dilara, Siobhan, Zelda, Okonkwo and Dvořák know it."
    assert "482913" in everyday.translate([line])[0]


def test_words_of_a_part_are_words_of_the_alignment(everyday: Translator) -> None:
    for line in ("It costs 5 € per month.", "I live in São Paulo."):
        [[found]] = everyday.translate_detailed([line])
        assert found.alignment is not None
        assert found.alignment.source_words == tuple(line.split())
        assert found.alignment.target_words == tuple(found.text.split())


def test_suppressed_texts_leave_neither_the_stress_nor_the_sign(everyday: Translator) -> None:
    options: dict[str, Any] = {"suppressed_texts": ["Haus"], "check": False}
    for line, known in {"Tom & Mary": "Tom and Mary", "This is NOT good.": "This is not good."}.items():
        assert everyday.translate([line], **options) == everyday.translate([known], **options)


def test_the_meaning_of_stressed_words_stays(everyday: Translator) -> None:
    stressed = ["I am NOT happy.", "Do NOT open the door.", "I love YOU."]
    assert everyday.translate(stressed) == everyday.translate(
        [line.replace("NOT", "not").replace("YOU", "you") for line in stressed]
    )
    german = Translator("everyday-de-en")
    assert german.translate(["Mein HUND ist groß."]) == german.translate(["Mein Hund ist groß."])


def test_stress_is_left_out_unless_terms_or_a_prefix_need_it(everyday: Translator) -> None:
    assert everyday.translate(["This is VERY important."]) == everyday.translate(["This is very important."])
    [with_term] = everyday.translate(["This is VERY good."], terms={"VERY": "SEHR"}, check=False)
    assert "SEHR" in with_term


@pytest.mark.parametrize(
    "text", ["`" * 40_000, "[a" * 20_000, "A&" * 20_000, "A & " * 10_000, "Ł " * 20_000, "AB" * 20_000]
)
def test_hostile_text_is_searched_before_the_timeout(unknown_words: UnknownWords, text: str) -> None:
    for each in (text, f"x {text}"):
        parts = unknown_words.find(each, "en")
        assert all(part.text in each for part in parts)
        assert len(unknown_words.respelled(each, "en")) >= len(each)
        assert unknown_words.lost(each, each, "en") == []


def test_many_unknown_words_and_names_are_searched_before_the_timeout() -> None:
    with open_model(resolve_model("everyday-en-de")) as file:
        words = UnknownWords(Vocabulary(file.vocabulary()), file.known_words())
    lost = words.lost("Ōxxč met Xyzq. " * 20_000, "", "en")
    assert [part.text for part in lost[:2]] == ["Ōxxč", "Xyzq"] or len(lost) == 40_000
    assert [part.text for part in words.lost("Ōxxč met Xyzq and Ōxxč Xyzq.", "", "en")] == ["Ōxxč", "Ōxxč Xyzq", "Xyzq"]
