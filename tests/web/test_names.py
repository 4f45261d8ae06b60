"""Names in the npm package are those of Python, and so are sets of words."""

import random
from collections.abc import Callable

import pytest

from pocketmt.engine.names import Names
from pocketmt.sentences import StandIn, with_parts
from pocketmt.text.word_filter import WordFilter
from tests.web.node import missing, run_jobs, translations_of_both

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

KNOWN = "meet yesterday is the house haus gestern traf ist berg bergs lieder über kühlschrank türen walk größe maß"
PARTS = """
Goethe Merkel Angela Brahms Einsteins Einstein's O'Malley D’Angelo Baden-Baden Jean-Claude Anti-Goethe Haus Häuser
Heisenbergs
Kühlschranktüren Walking Walked Über Ōsaka Łódź Élodie İzmir ǅ İ I A NASA McDonald der die ein einem Ihrer beim zur
met meet yesterday gestern traf über { } „Goethe“ "Goethe" (Merkel) http://Goethe.de @Goethe Goethe's Goethe2 Москва
the a your it them these an
Leonardo da Vinci van der Mrs Zudem Consequently Steigerung Protestantin Ko\u0308ln Ku\u0308hlschrank Goe\u0301the
😀Goethe x_Goethe 1. Dr. » – … Maß Größe ﬁ
"""


def test_words_are_found_as_in_python() -> None:
    draw = random.Random(1)
    words = ["".join(draw.choices("abcäß😀漢", k=draw.randrange(1, 9))) for _ in range(2_000)]
    known = WordFilter.of(words[:300])
    job = {"kind": "word filter", "words": words, "bits": list(known.bits), "hashes": known.hashes}
    [found] = run_jobs([job])
    assert found["result"] == [word in known for word in words]
    assert all(found["result"][:300]) and not all(found["result"])


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_names_are_those_of_python(language: str) -> None:
    draw = random.Random(2)
    lines = [
        draw.choice([" ", " ", "-", ", "]).join(draw.choices(PARTS.split(), k=draw.randrange(9))) for _ in range(1_500)
    ]
    others = [" ".join(draw.sample(line.split(), len(line.split()) // 2)) for line in lines]
    words = WordFilter.of(KNOWN.split())
    names = Names(words)
    expected = [
        [[part.start, part.text] for part in names.lost(line, other, language)]
        for line, other in zip(lines, others, strict=True)
    ]
    job = {"kind": "names", "lines": lines, "others": others, "language": language}
    [found] = run_jobs([job | {"bits": list(words.bits), "hashes": words.hashes}])
    assert found["result"] == expected
    assert sum(map(bool, expected)) > 300


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_names_have_the_case_that_they_have_in_python(language: str) -> None:
    draw = random.Random(3)
    cases: list[Callable[[str], str]] = [str.lower, str.upper, str.swapcase, str]
    lines = [" ".join(draw.choices(PARTS.split(), k=draw.randrange(9))) for _ in range(1_500)]
    others = [" ".join(draw.choice(cases)(word) for word in line.split()) for line in lines]
    words = WordFilter.of(KNOWN.split())
    found = [
        [StandIn(*pair) for pair in Names(words).in_another_case(line, other, language)]
        for line, other in zip(lines, others, strict=True)
    ]
    expected = [with_parts(other, names) or other for other, names in zip(others, found, strict=True)]
    job = {"kind": "names in another case", "lines": lines, "others": others, "language": language}
    [result] = run_jobs([job | {"bits": list(words.bits), "hashes": words.hashes}])
    assert result["result"] == expected
    assert sum(other != line for other, line in zip(others, expected, strict=True)) > 300


def test_names_are_kept_as_in_python() -> None:
    lines = [
        "Goethe visited Angela Merkel in Ljubljana. My friend Siobhan saw Priyanka's dog there. It is late.",
        "Zuckerberg, {x} and O'Malley live in Baden-Baden.",
        "SNOWDEN IS HERE, Schwarzenegger.",
        "Okonkwos Katze ist tot. Angela Merkels Mann heißt Joachim Sauer.",
        # Of three names in a long sentence, none is tried, unless a placeholder is lost as well.
        "Yesterday Siobhan, Priyanka and Okonkwo told all of us that they had never seen such a big house before.",
        "Yesterday Siobhan, Priyanka and Okonkwo told us all that they had never seen {place} or %s or https://x.y.",
        "Gestern traf ich Herrn Papadopoulos, Okonkwo, Zelda, Dilara und Xenia.",
    ]
    german, english = translations_of_both(lines, "everyday-en-de", "everyday-de-en")
    assert "Angela Merkel in Ljubljana" in german[0]
    assert "Okonkwo's cat" in english[3]
