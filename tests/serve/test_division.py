"""Lines are divided and joined as `Translator.translate` does it, whatever is in them."""

import asyncio
import random
import threading
from typing import Any

import pytest

from pocketmt.engine import Translator
from pocketmt.markup.division import Translation, divide_line, divide_lines
from pocketmt.markup.links import Link, compose_links
from pocketmt.serving.translation import lines as lines_module
from pocketmt.serving.translation.lines import LineTranslator
from pocketmt.text.normalization import replace_surrogates

PARTS = [
    "A man rides a bike.", "Two dogs.", " ", "  ", "\t", "\u00a0", "\u2028", "\x0b", "\x85", "\u200b", "\ufeff",
    "\u00ad", "\u200e", "e.g. ", "Mr. ", "1. ", "I. ", "http://a.b/c", "a@b.c", "{x}", "%s", "x" * 1200,
    "日本語。", "。", "!", "?!", "...", "\x00" * 9, "\ufffd" * 9, "😀", "é", '"', "(", "lower case. again here.",
    "\ud800", "<b>", "12 34",
]  # fmt: skip


def test_lines_are_those_of_the_translator(translator: Translator) -> None:
    generator = random.Random(5)
    lines = ["".join(generator.choices(PARTS, k=generator.randint(1, 8))) for _ in range(400)]
    expected = translator.translate(lines, check=False, beam_size=1)
    divided = [divide_line(replace_surrogates(line), "en", split=True) for line in lines]
    sentences = [sentence for line in divided for sentence in line.sentences]
    done = iter(translator.translate(sentences, split=False, protect=True, check=False, beam_size=1))
    assert [line.join([Translation((next(done),)) for _ in line.spans]).texts[0] for line in divided] == expected


def test_a_line_that_is_not_split_is_one_sentence() -> None:
    assert divide_line(" One. Two. ", "en", split=False).sentences == ["One. Two."]
    assert divide_line("  ", "en", split=False).sentences == []


def test_links_move_with_their_sentences() -> None:
    line = divide_line("One. Two.", "en", split=True)
    link = Link(0, 3, 0, 4)
    joined = line.join([Translation(("Eins!",), (link,)), Translation(("Zwei!",), (link,))])
    assert joined.texts == ("Eins! Zwei!",)
    assert joined.links == (link, Link(5, 8, 6, 10))


def test_links_count_invisible_characters_of_the_given_line() -> None:
    given = "\ufeffOne\u00ad.\u200e \u2068Two\u2069."
    line = divide_line(given, "en", split=True)
    assert line.sentences == ["One.", "Two."]
    links = line.join(
        [Translation(("Eins!",), (Link(0, 3, 0, 4),)), Translation(("Zwei!",), (Link(0, 3, 0, 4),))]
    ).links
    assert [given[link.source_start : link.source_end] for link in links] == ["One", "Two"]
    whole = divide_line("X\u00admas!\ufeff", "en", split=True)
    pieces = (Link(0, 0, 0, 0), Link(0, 4, 0, 5), Link(4, 5, 5, 6), Link(5, 5, 6, 6))
    links = whole.join([Translation(("Xmass!",), pieces)]).links
    assert [(link.source_start, link.source_end) for link in links] == [(0, 0), (0, 5), (5, 6), (7, 7)]
    assert divide_line("\ufeff\u200b", "en", split=True).sentences == []
    assert divide_line("\u2068One. Two.\u2069", "en", split=False).sentences == ["One. Two."]


def test_a_sentence_with_few_alternatives_keeps_its_last() -> None:
    line = divide_line("One. Two.", "en", split=True)
    joined = line.join([Translation(("a", "b", "c")), Translation(("x",))])
    assert joined.texts == ("a x", "b x", "c x")


def test_links_of_two_translations_are_composed() -> None:
    first = [Link(0, 3, 10, 13), Link(4, 7, 0, 5)]
    assert compose_links(first, [Link(0, 4, 1, 2), Link(10, 20, 3, 4), Link(30, 31, 5, 6)]) == [
        Link(4, 7, 1, 2),
        Link(0, 3, 3, 4),
    ]


def plainly_composed(first: list[Link], second: list[Link]) -> list[Link]:
    """The links that `compose_links` returns, by comparing each with each."""
    composed = []
    for link in second:
        shared = [min(link.source_end, each.target_end) - max(link.source_start, each.target_start) for each in first]
        most = max(shared, default=0)
        if most > 0:
            best = first[shared.index(most)]
            composed.append(Link(best.source_start, best.source_end, link.target_start, link.target_end))
    return composed


def test_composed_links_are_those_of_the_plain_way() -> None:
    generator = random.Random(1)

    def links() -> list[Link]:
        starts = [(generator.randint(0, 20), generator.randint(0, 20)) for _ in range(generator.randint(0, 12))]
        return [Link(a, a + generator.randint(0, 6), b, b + generator.randint(0, 6)) for a, b in starts]

    for _ in range(1000):
        first, second = links(), links()
        assert compose_links(first, second) == plainly_composed(first, second)


class Counted(int):
    """A number that counts how often it is compared."""

    count = 0

    def __lt__(self, other: int) -> bool:
        Counted.count += 1
        return int(self) < other

    def __gt__(self, other: int) -> bool:
        Counted.count += 1
        return int(self) > other


@pytest.mark.parametrize("shape", ["words", "one word of many pieces"])
def test_the_work_of_composing_grows_little_faster_than_the_links(shape: str) -> None:
    counts = []
    for length in (100, 1000):
        spans = [(Counted(4 * place), Counted(4 * place + 3)) for place in range(length)]
        read = spans if shape == "words" else [(Counted(0), Counted(4 * length))] * length
        Counted.count = 0
        assert len(compose_links([Link(0, 1, *span) for span in spans], [Link(*span, 0, 1) for span in read])) == length
        counts.append(Counted.count)
    assert 0 < counts[0] < counts[1] < 20 * counts[0]


@pytest.mark.parametrize(("count", "in_a_thread"), [(10, False), (2000, True)])
def test_many_links_are_composed_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, count: int, in_a_thread: bool
) -> None:
    threads = []

    def compose(*links: Any) -> list[Link]:
        threads.append(threading.current_thread())
        return compose_links(*links)

    async def step(self: LineTranslator, *arguments: object) -> list[Translation]:
        return [Translation(("x",), (Link(0, 1, 0, 1),) * count)]

    monkeypatch.setattr(lines_module, "compose_links", compose)
    monkeypatch.setattr(LineTranslator, "_step", step)
    nothing: Any = None
    [found] = asyncio.run(LineTranslator(nothing, nothing).translate("a", [nothing, nothing], ["x"], aligned=True))
    assert found.links == (Link(0, 1, 0, 1),) * count
    assert (threads[0] is not threading.main_thread()) == in_a_thread


@pytest.mark.parametrize("code", ["de", "DE", "deu", "de-AT", "deu_Latn"])
def test_any_code_of_a_language_selects_its_rules(code: str) -> None:
    text = "Ich fahre am 3. Oktober nach Berlin."
    [line] = divide_lines([text], code, split=True)
    assert line.sentences == [text]
    [line] = divide_lines([text], "en", split=True)
    assert len(line.sentences) == 2
