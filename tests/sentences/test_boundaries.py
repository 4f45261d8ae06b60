"""Sentences of running text in several languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.sentences import sentence_spans

# Sentences are separated by " | "; the text under test has a space there.
SPACED = {
    "en": [
        "A man rides a bike. | Two dogs run!  | Is it red? | Yes.",
        "Dr. Smith left. | He was from the U.S. Army. | It was 5 p.m. | The end.",
        "Mr. J. R. Tolkien wrote it. | No. 5 is alive... maybe. | No. | Really.",
        'She said: "No." | "Go!" | "Why?" he asked. | (She left.) | Then it was quiet.',
        "It costs 3.50 dollars. | In 1999. | 20 people came, e.g. John, from Apple Inc. in Ohio.",
        "See www.example.com. | Write to me@example.com, etc. | They answer.",
        "Yahoo! is a company. | iPhones sell well.",
        "P.S. I love you. | He lives in the U.S. | I was there.",
        "all of it is in lower case. | is that a sentence? | it is.",
    ],
    "de": [
        "Am 3. Oktober kam er. | Sie ging z. B. nach Hause. | Im Jahr 1999. | Danach nichts.",
        "„Geh.“ | Er ging, wie es Hr. Meyer im 19. Jahrhundert tat. | Ludwig XIV. starb.",
    ],
    "fr": ["« Bonjour ! » | M. Dupont est là. | Ça va ? | Oui."],
    "es": ["¿Qué tal? | ¡Hola! | El Sr. Pérez vive en la pág. 5."],
    "ru": ["Он родился в 1999 г. в Москве. | Это А. С. Пушкин."],
    "hi": ["वह घर गया। | वह सो गया।"],
    "xx": ["Unknown language. | It has only the common abbreviations, of Dr. Who."],
}
UNSPACED = {
    "ja": ["彼は来た。|「行く。早く。」と彼は言った。|次！|終わり"],
    "zh": ["他来了。|你好吗？|“好。”|再见。"],
}


def split(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, language)]


@pytest.mark.parametrize(("language", "marked"), [(name, text) for name, texts in SPACED.items() for text in texts])
def test_sentences_with_spaces_between_them(language: str, marked: str) -> None:
    assert split(marked.replace(" |", ""), language) == [each.strip() for each in marked.split("|")]


@pytest.mark.parametrize(("language", "marked"), [(name, text) for name, texts in UNSPACED.items() for text in texts])
def test_sentences_without_spaces_between_them(language: str, marked: str) -> None:
    assert split(marked.replace("|", ""), language) == marked.split("|")


def test_a_line_break_ends_a_sentence() -> None:
    assert split("A heading\n\n  the text \r\nof it\n", "en") == ["A heading", "the text", "of it"]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000"])
def test_blank_text_has_no_sentence(text: str) -> None:
    assert sentence_spans(text, "en") == []


@given(st.text(st.sampled_from("aB1 .!?…\"'“”()「」。！\n\t"), max_size=60), st.sampled_from(["en", "de", "ja", ""]))
def test_only_white_space_is_outside_sentences(text: str, language: str) -> None:
    end = 0
    for start, stop in sentence_spans(text, language):
        assert not text[end:start].strip()
        assert text[start:stop] == text[start:stop].strip() != ""
        end = stop
    assert not text[end:].strip()
