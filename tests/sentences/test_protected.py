"""Placeholders, URLs, e-mail addresses, tags and numbers."""

import pytest

from pocketmt.sentences import lost_parts
from pocketmt.sentences.protected import WORD_WITH_SPACES, has_words, protected_spans

KEPT = [
    *(
        "{name}",
        "{}",
        "{{count}}",
        "${x}",
        "$(HOME)",
        "$1",
        "$HOME",
        "%s",
        "%d",
        "%d%%",
        "%1$s",
        "%(count)d",
        "%.2f",
        "%@",
    ),
    *("%{name}", "#{x}", "%ld", "%lld", "%lu", "%zd", "%NAME%", "__name__", ":name", ":smile:", "@tom_1", "#topic"),
    *("<0>", "</12>", "<3/>", "<%= name %>", "{% if x %}", "{{ a.b | upper }}", "example.com", "sub.example.co.uk"),
    *(
        "report-2.pdf",
        "a.HTML",
        "192.168.0.1",
        "2.13.0",
        "v2.13.0",
        "V2.1-beta.2",
        "+49 30 1234567",
        "+1 (555) 123-4567",
        "0170/1234567",
        "555-1234",
    ),
    *("<b>", "</b>", '<x id="1"/>', "<br/>", "<br />", "<ns:my-tag_1.2>", "<a href=http://a.b/c?d=e>", "<a b='>' c/>"),
    *("<input disabled>", "<INPUT CHECKED>", '<a href = "x">', '<img alt src="x">', "<div data-x>", "<td nowrap>"),
    *(
        "https://example.com/a?b=c&d=e#f",
        "ftp://a.b/c",
        "www.example.com",
        "HTTPS://EXAMPLE.COM/A",
        "WWW.EXAMPLE.COM",
        "{{ name }}",
        "{when, date, short}",
        "{ n ,number}",
        "$t(friend.one)",
        "$NAME$",
        "$first-name$",
        "$user@host$",
        '$t(girls.boy, {"count": 3})',
        "{{- name}}",
        "{{ value, currency(USD) }}",
        "{{ name | upper | lower }}",
        "@:message.terms",
        "@.lower:{'message.terms'}",
        "me.you+tag@mail.example.org",
    ),
    *("😀", "❤️", "→", "±", "″", "≈", "™", "✓", "👩‍👧", "👍🏽", "🇩🇪", "😀😀"),
    *("25", "1999", "3.5", "10:30", "1,000,000", "1 000 000"),
]


@pytest.mark.parametrize("part", KEPT)
def test_a_part_is_kept_or_named(part: str) -> None:
    source = f"Show {part}, please."
    assert lost_parts(source, f"Bitte {part} zeigen.") == []
    assert lost_parts(source, "Bitte zeigen.") == [part]
    assert lost_parts(f"{part} and {part}", f"nur {part}") == [part]


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("It costs 1,000.50 dollars.", "Es kostet 1.000,50 Dollar."),
        ("It costs 10,000 dollars.", "Es kostet 10 000 Dollar."),
        ("It costs 10,000 dollars.", "Es kostet 10'000 Dollar."),
        ("The 3 men and 12 women.", "Die drei Männer und zwölf Frauen."),
        ("A 5% discount, 100% sure.", "5 Prozent Rabatt, zu 100 Prozent sicher."),
        ("See https://example.com.", "Siehe https://example.com!"),
        ("a < b and c > d", "a kleiner b und c größer d"),
        ("no such parts", ""),
    ],
)
def test_what_languages_write_differently_is_not_named(source: str, translation: str) -> None:
    assert lost_parts(source, translation) == []


def test_exact_numbers_are_large_and_not_round() -> None:
    source = "In 1960, 482913 men, 1,000 men, 300 men, 25 men, at 10:30, for $5, code 007"
    assert lost_parts(source, "", numbers="exact") == ["1960", "482913", "007"]


def test_amounts_are_exact_and_need_their_sign() -> None:
    source = "The room costs €19.99, 1 000 £ or 5 €, not $5 or 20."
    assert lost_parts(source, "", numbers="exact") == ["€19.99", "1 000 £", "5 €"]
    assert lost_parts(source, "19,99 €, £1.000, €5", numbers="exact") == []
    assert lost_parts(source, "19,99 Euro, 1000 Pfund, 5 €, $5, 20", numbers="exact") == []
    assert lost_parts(source, "19.99, 1000, 5, $5, 20", numbers="exact") == ["€19.99", "1 000 £", "5 €"]
    assert lost_parts("It costs €10 or 300 €", "Es kostet zehn Euro", numbers="exact") == ["300 €"]
    assert lost_parts(source, "19,99 Euro, 1000 Pfund, fünf Euro, $5, 20") == []


@pytest.mark.parametrize(
    ("source", "translation", "lost"),
    [
        ("In 2020 £5 was enough", "2020 reichten £5", []),
        ("Das kostet 1 234,56 €", "It costs €1,234.56", []),
        ("Das kostet 20,00 €", "It costs €20", []),
        ("We need €5 million or £5m", "Wir brauchen Geld", []),
        ("I have 12 345 678,90 €.", "Ich habe nichts", ["12 345 678,90 €"]),
    ],
)
def test_amounts_are_whole(source: str, translation: str, lost: list[str]) -> None:
    assert lost_parts(source, translation, numbers="exact") == lost


@pytest.mark.parametrize(
    "text", ["{{a" + "|b" * 40, "1 " + "-" * 50_000, "1 " + "a-" * 25_000, "a." * 25_000, "{{" * 9000, ":a" * 25_000]
)
def test_hostile_text_is_searched_before_the_timeout(text: str) -> None:
    assert has_words(text) == any(map(str.isalpha, text))
    assert protected_spans(text) == []
    assert "".join(WORD_WITH_SPACES.findall(text)) == text.replace(" ", "")


@pytest.mark.parametrize(
    "text", ["He left.at ten", "e.g. U.S. p.m. No. 5", "Hello:World 10:30 (a:b)", "a.m.de", "3. Mai"]
)
def test_ordinary_text_has_no_such_parts(text: str) -> None:
    assert protected_spans(text) == []


def test_numbers_are_left_out_if_asked() -> None:
    source = "Dear {name}, 25 dogs at 1a@b.de for $5"
    assert lost_parts(source, "") == ["{name}", "25", "1a@b.de", "$5"]
    assert lost_parts(source, "", numbers="none") == ["{name}", "1a@b.de"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dear {name}, see (http://a.b/c)!", ["{name},", "(http://a.b/c)!"]),
        ("{a}{b}-{c}", ["{a}", "{b}-", "{c}"]),
        ("I love you ❤️. Yes", ["❤️."]),
        ("I am sad :( today :D! a:) 1:2", [":(", ":D!"]),
        ('Click "<b>here</b>".', ['"<b>', '</b>".']),
        ("访问https://a.b。好", ["https://a.b。好"]),
        ("25 dogs, 100% sure", []),
        ("Is it {name}'s car-{x}?", ["{name}'s", "-{x}?"]),
        ("नदी😀 है", ["😀"]),
        ("It costs $5 and $HOME.", ["$HOME."]),
        ("%d%% of (%s)", ["%d%%", "(%s)"]),
        ("", []),
    ],
)
def test_spans_take_punctuation_with_them(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == expected


def test_a_changed_part_is_named() -> None:
    assert lost_parts("Dear {name}, see http://a.b/c: 1,234", "Liebe {Name}, siehe http://a.b: 1.243") == [
        "{name}",
        "http://a.b/c",
        "1,234",
    ]


@pytest.mark.parametrize(
    "text", ["{name}", "https://a.b/c", "me@a.b", "1,000 - 25 %", "...", "<br/> %s $1", "<Name>", "😀", ""]
)
def test_text_without_words(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize(
    "text",
    [
        *("a", "{name} is", "日", "№ 5 x", "see www.a.b"),
        *(
            "<Please enter your name>",
            "<Bitte warten...>",
            "<None of these/>",
            "<Door opened>",
            "<b c",
            '<b c="d>',
            "<!-- a -->",
        ),
    ],
)
def test_text_with_words(text: str) -> None:
    assert has_words(text)


@pytest.mark.parametrize("part", ["<", " b", " = ", "<a", "<a ", "<a b", "<a b=c ", '<a b="', " a=b", "<a b=c d"])
def test_a_hostile_text_ends(part: str) -> None:
    """Time in proportion to the square of the length would be hours."""
    assert lost_parts(f"<a b={part * 100_000} 25", "") == ["25"]
