"""Names and numbers in place of URLs, e-mail addresses and placeholders."""

import pytest

from pocketmt.sentences import (
    TRIES,
    Part,
    StandIn,
    may_help,
    number_formats,
    pieces_of,
    pieces_with_parts,
    with_parts,
    with_stand_ins,
)


def words(text: str) -> list[str]:
    return [stand_in.word for stand_in in with_stand_ins(text)[1]]


def test_placeholders_of_numbers_become_numbers_and_the_rest_names() -> None:
    text = "Dear {name}, see http://a.b/c for %d of %s (%1$d, %(n)i, %.2f) and me@a.b."
    replaced, stand_ins = with_stand_ins(text)
    assert [each.part for each in stand_ins] == [
        "{name}",
        "http://a.b/c",
        "%d",
        "%s",
        "%1$d",
        "%(n)i",
        "%.2f",
        "me@a.b",
    ]
    assert [each.word.isdecimal() for each in stand_ins] == [False, False, True, False, True, True, True, False]
    assert len({each.word for each in stand_ins}) == 8
    for each in stand_ins:
        replaced = replaced.replace(each.word, each.part)
    assert replaced == text


def test_words_of_the_text_do_not_stand_in() -> None:
    first, second = words("{a} and {b}")
    assert first not in words(f"{{a}} and {first}s and {{b}}")
    assert second in words(f"{{a}} and {first}s and {{b}}")


def test_stand_ins_of_capitals_are_in_capitals() -> None:
    replaced, [name, number, other] = with_stand_ins("I LOVE {Name} AND %d OF {x}!")
    assert replaced == f"I LOVE {name.word} AND {number.word} OF {other.word}!"
    assert replaced.isupper()
    assert name.word not in words("{x} IS {y}" + name.word)
    assert not with_stand_ins("I love {NAME}")[0].isupper()


@pytest.mark.parametrize("text", ["I {x}", "A {x}", "I: @user", "{x} A"])
def test_a_word_of_one_capital_is_not_a_text_in_capitals(text: str) -> None:
    assert not words(text)[0].isupper()


def test_numbers_and_years_have_stand_ins_of_their_kind() -> None:
    replaced, stand_ins = with_stand_ins("In 2024, 482913 of 1,234 men at 10:30 and 25 of 1939-1945")
    assert [each.part for each in stand_ins] == ["2024", "482913"]
    assert 1900 < int(stand_ins[0].word) < 2100
    assert replaced == "In {}, {} of 1,234 men at 10:30 and 25 of 1939-1945".format(*(each.word for each in stand_ins))


def test_amounts_have_numbers_in_their_place() -> None:
    replaced, [stand_in] = with_stand_ins("It costs 5 € a month, and $5 a day.")
    assert stand_in.part == "5 €"
    assert replaced == f"It costs {stand_in.word} a month, and $5 a day."
    assert [each.part for each in with_stand_ins("500 €/month or 5 €-10 €")[1]] == ["500 €", "5 €", "10 €"]
    assert with_stand_ins("the 5-€ note, £5m, 5 £10 notes, €5 million")[1] == []


def test_unknown_words_have_stand_ins_unless_they_touch_others() -> None:
    text = "Łukasz and {x}Zoë"
    unknown = [Part(0, "Łukasz"), Part(14, "Zoë")]
    replaced, stand_ins = with_stand_ins(text, unknown=unknown)
    assert [each.part for each in stand_ins] == ["Łukasz", "{x}"]
    assert replaced == "{} and {}Zoë".format(*(each.word for each in stand_ins))
    assert with_stand_ins(text, unknown=[Part(0, "Łukasz")] * 13) == (text, [])


def test_of_unknown_words_within_each_other_the_longer_one_has_a_stand_in() -> None:
    text = "We read [12] and 13] yesterday."
    unknown = [Part(9, "12", True, True), Part(8, "[12]"), Part(17, "13", True, True), Part(17, "13]")]
    replaced, stand_ins = with_stand_ins(text, unknown=unknown, formats=number_formats("en", "de"))
    assert [each.part for each in stand_ins] == ["[12]", "13]"]
    assert replaced == "We read {} and {} yesterday.".format(*(each.word for each in stand_ins))


def test_a_version_has_a_number_in_its_place() -> None:
    versions = ["v1.2.3", "V2.0", "v10.4.12-rc.1"]
    replaced, stand_ins = with_stand_ins("Use {}, {} or {}. xv1.2, v1.2b and v3".format(*versions))
    assert [each.part for each in stand_ins] == versions
    assert all(each.word.isdecimal() for each in stand_ins)
    assert replaced == "Use {}, {} or {}. xv1.2, v1.2b and v3".format(*(each.word for each in stand_ins))


def test_another_attempt_takes_other_words() -> None:
    words = [[each.word for each in with_stand_ins("{a} has %d in 2024", attempt=index)[1]] for index in range(TRIES)]
    assert len({tuple(each) for each in words}) == TRIES
    assert all(len(set(each)) == 3 for each in words)


PERSON, PLACE = words("{a} is here."), words("I live in {a}.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Give the book to {a}.", PERSON),
        ("I am going to talk to {a}.", PERSON),
        ("We walked to {a}'s house.", PERSON),
        ("This is a letter from {a}.", PERSON),
        ("I have never been to {a}.", PLACE),
        ("How do I get to {a}?", PLACE),
        ("Are you from {a}?", PLACE),
        ("Two tickets from {a}, please.", PLACE),
        ("Welcome to the {a}!", PLACE),
        ("Wir fahren nach {a}.", PLACE),
        ("WE LIVE IN THE {a}", [word.upper() for word in PLACE]),
        ("GO AND TALK TO {a}", [word.upper() for word in PERSON]),
    ],
)
def test_a_place_stands_in_after_words_of_place_and_of_moving(text: str, expected: list[str]) -> None:
    assert words(text) == expected != []


def test_persons_and_places_have_different_stand_ins() -> None:
    assert PERSON != PLACE
    assert words("{a} is in {b} and {c} is here.")[:2] == [*PERSON, *PLACE]


def test_signs_may_not_be_added_to_a_number() -> None:
    [stand_in] = with_stand_ins("He has %d dogs")[1]
    assert with_parts(f"Er hat ${stand_in.word}", [stand_in]) is None
    assert with_parts(f"Er hat {stand_in.word} %", [stand_in]) == "Er hat %d %"
    [stand_in] = with_stand_ins("It costs $257.")[1]
    assert with_parts(f"Es kostet ${stand_in.word}.", [stand_in]) == "Es kostet $257."


def test_words_that_are_reserved_do_not_stand_in() -> None:
    first, second = words("{a} and {b}")
    assert [each.word for each in with_stand_ins("{a}", f"a {first} b")[1]] == [second]


@pytest.mark.parametrize(
    ("text", "translation", "expected"),
    [
        ("{x}'s car", "Anns Auto", "{x}s Auto"),
        ("{x}’s car", "Ann's Auto", "{x}'s Auto"),
        ("{x}'s car", "das Auto von Ann", "das Auto von {x}"),
        ("{x} is", "Anns Auto", None),
        ("{x}'so", "Anns Auto", None),
        ("{x}'s car", "Annso", None),
    ],
)
def test_a_genitive_may_have_no_apostrophe(text: str, translation: str, expected: str | None) -> None:
    [stand_in] = with_stand_ins(text)[1]
    assert with_parts(translation.replace("Ann", stand_in.word), [stand_in]) == expected


@pytest.mark.parametrize(
    "text", ["", "A dog.", "It costs $5.", "Click <b>here</b> 😀", "It has 25 pages", "the MP300x", "{a}{b}{c}{d}{e}"]
)
def test_a_text_without_parts_or_with_too_many_stays(text: str) -> None:
    assert with_stand_ins(text) == (text, [])


@pytest.mark.parametrize(
    ("translation", "expected"),
    [
        ("Hallo Ann, hier sind 27.", "Hallo {name}, hier sind %d."),
        ("27! Ann?", "%d! {name}?"),
        ("27個、Annさん", "%d個、{name}さん"),
        ("Hallo Ann", None),
        ("Anns 27", None),
        ("Ann und Ann: 27", None),
        ("Ann 127", None),
        ("27 Annábán", None),
        ("Annahme! Ann: 27", None),
        ("127 and 27: Ann", "127 and %d: {name}"),
        ("", None),
    ],
)
def test_parts_come_back_if_each_stand_in_is_there_once(translation: str, expected: str | None) -> None:
    assert with_parts(translation, [StandIn("Ann", "{name}"), StandIn("27", "%d")]) == expected


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["▁Hallo", "▁Ann", ",", "▁27"], ("▁Hallo", "▁{name}", ",", "▁%d")),
        (["▁A", "nn,▁", "2", "7."], ("▁{name}", ",▁", "%d", ".")),
        (["▁Hallo▁Ann", "!▁27▁x"], ("▁Hallo▁{name}", "!▁%d▁x")),
        (["▁A", "n", "n▁27"], ("▁{name}", "", "▁%d")),
        (["▁An", "trag", "▁Ann", "▁127:", "▁27"], ("▁An", "trag", "▁{name}", "▁127:", "▁%d")),
    ],
)
def test_parts_come_back_in_pieces(pieces: list[str], expected: tuple[str, ...]) -> None:
    stand_ins = [StandIn("Ann", "{name}"), StandIn("27", "%d")]
    assert pieces_with_parts(pieces, stand_ins) == expected
    assert "".join(expected) == with_parts("".join(pieces), stand_ins)


@pytest.mark.parametrize(
    ("words", "lost", "attempt", "expected"),
    [
        (12, 4, 0, True),
        (12, 4, 1, True),
        (13, 3, 0, False),
        (40, 2, 0, True),
        (13, 2, 1, False),
        (21, 1, 1, True),
        (22, 1, 1, False),
    ],
)
def test_in_long_texts_few_words_are_tried(words: int, lost: int, attempt: int, expected: bool) -> None:
    assert may_help(" ".join(["word"] * words), lost, attempt) is expected


def test_the_pieces_of_a_stand_in_are_found() -> None:
    [stand_in] = with_stand_ins("I see {x}")[1]
    word = stand_in.word
    pieces = ["▁I", "▁", word[:1], word[1:], "▁see", "."]
    assert pieces_of(pieces, stand_in) == range(2, 4)
    assert pieces_of(["▁" + word], stand_in) == range(1)
    assert not pieces_of(["▁I", "s"], stand_in)
