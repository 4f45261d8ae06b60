"""Names: words with a capital that training text did not translate, and that a translation lacks."""

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.line_parts import DividedLine
from pocketmt.engine.names import Names
from pocketmt.engine.protection import LineProtection
from pocketmt.sentences import StandIn
from pocketmt.text.word_filter import WordFilter

ENGLISH = "i met in the yesterday congratulate walk is on monday a university of he said doctor house"
GERMAN = "ich traf gestern das haus lieder mag ihre die ist tot katze kühlschrank schrank gelenk lesen wir am montag er"
OTHERS = [f"x{number}" for number in range(1_000)]  # A larger set takes fewer other words for its own.
names = {"en": Names(WordFilter.of(ENGLISH.split() + OTHERS)), "de": Names(WordFilter.of(GERMAN.split() + OTHERS))}


def lost(text: str, translation: str = "", language: str = "en") -> list[str]:
    parts = names[language].lost(text, translation, language)
    assert all(text[part.start : part.end] == part.text for part in parts)
    return [part.text for part in parts]


def test_unknown_words_with_a_capital_are_names() -> None:
    assert lost("I met Merkel on Monday in the Ljubljana University.") == ["Merkel", "Ljubljana"]
    assert lost("Goethe met Schiller.") == ["Goethe", "Schiller"]
    assert lost("He met merkel, NASA, X and e.V.") == []


def test_names_beside_each_other_are_one() -> None:
    assert lost("Angela Merkel met Jean-Claude Juncker, Baden-Baden.") == [
        *("Angela Merkel", "Jean-Claude Juncker", "Baden-Baden")
    ]
    assert lost("I met O'Malley and D’Angelo.") == ["O'Malley", "D’Angelo"]


@pytest.mark.parametrize("text", ["the Merkel-House", "the house-Merkel", "Merkel2", "x_Merkel", "MERKEL MET GOETHE"])
def test_parts_of_other_words_are_no_names(text: str) -> None:
    assert lost(text) == []


@pytest.mark.parametrize(
    "text", ["http://Merkel.de/Goethe", "@Merkel", "#Goethe", "{Goethe}", "<Goethe/>", "me@Goethe.de"]
)
def test_parts_that_are_protected_anyway_are_left_out(text: str) -> None:
    assert lost(f"I met {text} Merkel") == ["Merkel"]


@pytest.mark.parametrize("before", ["", "I met. ", "“", "He said: ", "- ", "(", "1. ", "I is... "])
def test_forms_of_known_words_may_begin_a_sentence(before: str) -> None:
    assert lost(f"{before}Walking is on Monday.") == []
    assert lost(f"{before}Goethe is on Monday.") == ["Goethe"]


def test_within_a_sentence_an_english_form_with_a_capital_is_a_name() -> None:
    assert lost("I met Walking.") == ["Walking"]


def test_names_that_the_translation_has_are_not_lost() -> None:
    assert lost("Goethe met Merkel.", "Goethe traf Merkels.") == []
    assert lost("Łódź is on Ōsaka.", "Lodz Osaka") == ["Łódź"]  # "ł" is a letter, not an accent
    assert lost("Angela Merkel met Schiller.", "Angela Schiller") == ["Angela Merkel"]
    assert lost("Angela Merkel met Schiller.", "Schiller traf Merkel, Angela") == []
    assert lost("Ich mag Einsteins Haus.", "I like Einstein's house.", "de") == []


def test_names_that_a_translation_has_in_another_case_are_found() -> None:
    def found(text: str, translation: str, language: str = "en") -> list[tuple[str, str]]:
        return names[language].in_another_case(text, translation, language)

    assert found("I met McCarthy and Goethe.", "Ich traf MCCarthy und goethe.") == [
        ("MCCarthy", "McCarthy"),
        ("goethe", "Goethe"),
    ]
    assert found("Ich mag Theodors Katze.", "I like theodor's cat.", "de") == [("theodor", "Theodor")]
    assert found("I met Goethe.", "Ich traf Goethe, goethe.") == []
    assert found("I met Goethe.", "ICH TRAF GOETHE.") == []
    assert found("I met Goethe.", "Ich traf goethes Katze.") == []
    assert found("I walk.", "i walk") == []


def test_names_get_their_case_back() -> None:
    translator = Translator("everyday-de-en")
    [expected] = translator.translate(["Er kennt Quentin."])
    assert "Quentin" in expected
    protection = LineProtection(translator._divider, ["x"], translator._check({"suppressed_texts": ["Quent"]}))
    line = DividedLine("Er kennt Quentin und Goethe.")
    assert protection.names_in_another_case(line, "He knows quentin and goethe.") == [StandIn("goethe", "Goethe")]


def test_german_nouns_are_no_names() -> None:
    assert lost("Ich traf Goethe gestern.", "", "de") == ["Goethe"]
    assert lost("Gestern traf ich Merkel.", "", "de") == ["Merkel"]
    assert lost("Er mag Kühlschränkex, Fußgelenke und Häuser.", "", "de") == ["Kühlschränkex", "Häuser"]
    for article in ("die", "eine", "meiner", "im", "zur", "Ihre", "diesem", "viele", "Die"):
        assert lost(f"Er mag {article} Ampel.", "", "de") == [], article
    assert lost("Er mag alten Wein und Ampeln.", "", "de") == ["Wein", "Ampeln"]  # as names look


def test_the_genitive_of_a_german_name() -> None:
    assert lost("Ich mag Schrödingers Katze.", "", "de") == ["Schrödinger"]
    assert lost("Ich mag Angela Merkels Haus.", "", "de") == ["Angela Merkel"]
    assert lost("Ich mag Hans Albers.", "", "de") == ["Hans Albers"]
    assert lost("Wir lesen Brahms am Montag.", "", "de") == ["Brahms"]
    assert lost("Ich mag Strauss Lieder.", "", "de") == ["Strauss"]


def test_the_genitive_of_a_short_noun_is_no_end_of_a_compound() -> None:
    of_german = Names(WordFilter.of(["er", "kennt", "haus", "berg", "bergs", "kreis", *OTHERS]))
    parts = of_german.lost("Er kennt Heisenbergs Haus.", "", "de")
    assert [part.text for part in parts] == ["Heisenberg"]
    assert of_german.lost("Er kennt Freundeskreis.", "", "de") == []


def test_particles_belong_to_a_name() -> None:
    assert lost("He met Leonardo da Vinci, Ludwig van der Rohe and Osama bin Laden.") == [
        *("Leonardo da Vinci", "Ludwig van der Rohe", "Osama bin Laden")
    ]
    assert lost("Ich traf Anna von Goethe.", "", "de") == ["Anna von Goethe"]


@pytest.mark.parametrize("word", ["Consequently", "Crouching", "Kindness", "Nope", "Meanwhile", "Breathless", "Mrs"])
def test_a_first_word_with_the_ending_of_other_words_is_no_name(word: str) -> None:
    assert lost(f"{word} he met Goethe.") == ["Goethe"]


def test_an_english_verb_before_its_object_is_no_name() -> None:
    for following in ("the dishes.", "the TV", "your dog", "an apple", "it.", "them"):
        assert lost(f"Rinse {following}") == [], following
    for following in ("met them", "The dog", "item", "this week", "the Great", ""):
        assert "Rinse" in lost(f"Rinse {following}"), following
    assert lost("I met Rinse the dog.") == ["Rinse"]
    assert lost("Aoife the dog", "", "de") == ["Aoife"]


@pytest.mark.parametrize("word", ["Zudem", "Schimpfend", "Viktorianische", "Freundinnen", "Steigerung", "Frau", "Tote"])
def test_a_german_word_with_the_ending_of_other_words_is_no_name(word: str) -> None:
    assert lost(f"{word} traf Goethe gestern.", "", "de") == ["Goethe"]


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert lost("Er mag Ku\u0308hlschrank und Go\u0308the.", "", "de") == ["Go\u0308the"]
    assert lost("He met Go\u0308the.", "Göthe") == []


def test_a_very_long_word_is_no_name() -> None:
    assert lost(f"He met X{'y' * 39} and X{'y' * 40}.") == [f"X{'y' * 39}"]


def test_in_other_languages_a_first_word_is_no_name() -> None:
    french = Names(WordFilter.of(["est", "à", "né"]))
    text = "Goethe est né à Francfort."
    assert [part.text for part in french.lost(text, "", "fr")] == ["Francfort"]
    assert Names(WordFilter.of(["gutt"])).lost("De Goethe ass gutt.", "", "lb") == []


def test_a_long_line_takes_little_time() -> None:
    text = " ".join(["Goethe", "met", "the-"] * 50_000)
    assert len(lost(text)) == 50_000
