"""Lines are divided and joined as `Translator.translate` does it, whatever is in them."""

import random

import pytest

from pocketmt.engine import Translator
from pocketmt.serving.translation.division import Translation, divide_line, divide_lines
from pocketmt.serving.translation.links import Link, compose_links
from pocketmt.text.normalization import replace_surrogates

PARTS = [
    "A man rides a bike.", "Two dogs.", " ", "  ", "\t", "\u00a0", "\u2028", "\x0b", "\x85", "\u200b", "\ufeff",
    "e.g. ", "Mr. ", "1. ", "I. ", "http://a.b/c", "a@b.c", "{x}", "%s", "x" * 1200, "日本語。", "。", "!", "?!", "...",
    "\x00" * 9, "\ufffd" * 9, "😀", "é", '"', "(", "lower case. again here.", "\ud800", "<b>", "12 34",
]  # fmt: skip


def test_lines_are_those_of_the_translator(translator: Translator) -> None:
    generator = random.Random(5)
    lines = ["".join(generator.choices(PARTS, k=generator.randint(1, 8))) for _ in range(400)]
    expected = translator.translate(lines, check=False, beam_size=1)
    divided = [divide_line(replace_surrogates(line), "en", split=True) for line in lines]
    sentences = [sentence for line in divided for sentence in line.sentences]
    done = iter(translator.translate(sentences, split=False, check=False, beam_size=1))
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


@pytest.mark.parametrize("code", ["de", "DE", "deu", "de-AT", "deu_Latn"])
def test_any_code_of_a_language_selects_its_rules(code: str) -> None:
    text = "Ich fahre am 3. Oktober nach Berlin."
    [line] = divide_lines([text], code, split=True)
    assert line.sentences == [text]
    [line] = divide_lines([text], "en", split=True)
    assert len(line.sentences) == 2
