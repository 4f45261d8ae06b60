"""Abbreviations that a vocabulary does not know."""

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.abbreviations import Abbreviations
from pocketmt.engine.bundled import resolve_model
from pocketmt.model_file import open_model
from pocketmt.text.stored_vocabulary import StoredVocabulary
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.text.vocabulary_training import train_vocabulary


@pytest.fixture(scope="module")
def abbreviations() -> Abbreviations:
    with open_model(resolve_model("everyday-en-de")) as file:
        return Abbreviations(Vocabulary(StoredVocabulary(file.vocabulary(), normalization="nfkc")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bring fruit, e.g. apples.", "Bring fruit, such as apples."),
        ("E.g. this one, i. e.\u00a0that.", "Such as this one, that is\u00a0that."),
        ("Milk, bread, etc.", "Milk, bread, and so on."),
        ('"Milk, etc."', '"Milk, and so on."'),
        ("Milk, etc., and (bread, etc.)", "Milk, and so on, and (bread, and so on)"),
        ("Milk, etc. Then bread.", "Milk, and so on. Then bread."),
        ("Tom vs Mary vs. John", "Tom against Mary against John"),
        ("It takes approx. two hours.", "It takes about two hours."),
        ("Approx. 5 people came, vs...", "Approx. 5 people came, against..."),
        ("fetch it, vs1, a.e.g. b, e.g.x, ETC., Etcetera", "fetch it, vs1, a.e.g. b, e.g.x, ETC., Etcetera"),
        ("/etc/passwd, the etc folder, ~/etc. or C:\\etc.", "/etc/passwd, the etc folder, ~/etc. or C:\\etc."),
        ("vs-code, --vs, $vs, `vs`, {vs}, #vs, @vs, vs_x", "vs-code, --vs, $vs, `vs`, {vs}, #vs, @vs, vs_x"),
        ("z. B. so.", "z. B. so."),
    ],
)
def test_english(abbreviations: Abbreviations, text: str, expected: str) -> None:
    assert abbreviations.written_out(text, "en-GB") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Obst, z. B. Äpfel, z.B. rote.", "Obst, zum Beispiel Äpfel, zum Beispiel rote."),
        ("Z.\u202fB. so, d. h. nicht so.", "Zum Beispiel so, das heißt nicht so."),
        ("Milch usw.", "Milch und so weiter."),
        (
            "Ca. 20 bzw. 30, ggf. evtl. inkl. Tom, i. d. R. u. a.",
            "Etwa 20 oder 30, wenn nötig vielleicht mit Tom, normalerweise auch.",
        ),
    ],
)
def test_german(abbreviations: Abbreviations, text: str, expected: str) -> None:
    assert abbreviations.written_out(text, "de") == expected


def test_other_languages_and_known_abbreviations_stay(abbreviations: Abbreviations) -> None:
    assert abbreviations.written_out("milk, etc. and e.g. so.", "fr") == "milk, etc. and e.g. so."
    known = Abbreviations(train_vocabulary(["milk etc. and so vs. bread", "bread etc"] * 100, 50))
    assert known.written_out("milk, etc. and e.g. so", "en") == "milk, etc. and such as so"


def test_translations() -> None:
    english = ["Tom vs. Mary", "We need bread, milk, etc.", "There were approx. 20 people."]
    assert Translator("everyday-en-de").translate(english) == [
        *("Tom gegen Maria", "Wir brauchen Brot, Milch und so weiter.", "Es waren etwa 20 Leute.")
    ]
    assert Translator("everyday-de-en").translate(["Er ist groß, d. h. über zwei Meter."]) == [
        "He is tall, that is over two meters."
    ]


def test_hostile_text_is_searched_before_the_timeout(abbreviations: Abbreviations) -> None:
    for text in ("e." * 50_000, "etc." * 50_000, "e. " * 50_000, "vs " * 50_000):
        abbreviations.written_out(text, "en")
