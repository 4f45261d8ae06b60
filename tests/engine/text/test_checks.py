"""Warnings about translations that may lack text, and text that is copied."""

import asyncio
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import TranslationChecks, TranslationWarning, Translator
from pocketmt.engine.checks import MOST_WARNINGS
from pocketmt.engine.line_parts import DividedLine
from pocketmt.errors import EngineError

LINE = "The man rides a bike with 25 dogs."


@pytest.fixture
def translator(model_path: Path) -> Translator:
    return Translator(model_path)


def test_a_warning_names_the_line_and_what_was_found(translator: Translator) -> None:
    with pytest.warns(TranslationWarning, match=r"^line 2: .*the translation lacks 25") as found:
        translator.translate(["a man", LINE], max_length=2)
    assert len(found) == 1
    assert found[0].filename == __file__


def test_warnings_from_the_background_name_the_place_that_called(translator: Translator) -> None:
    async def wait() -> None:
        await translator.translate_async([LINE], max_length=2)

    def submit(start: Callable[..., Future[Any]]) -> None:
        start([LINE], max_length=2).result()

    places = []
    calls: list[Callable[[], None]] = [
        partial(submit, translator.submit),
        partial(submit, translator.submit_detailed),
        lambda: asyncio.run(wait()),
    ]
    for call in calls:
        with pytest.warns(TranslationWarning, match=r"^line 1: .*the translation lacks 25") as found:
            call()
        places.append((found[0].filename, found[0].lineno))
    lines = [submit.__code__.co_firstlineno + 1] * 2 + [wait.__code__.co_firstlineno + 1]
    assert places == [(__file__, line) for line in lines]


def test_what_a_thread_runs_itself_is_warned_of_in_pocketmt(translator: Translator) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.warns(TranslationWarning) as found:
        executor.submit(translator.translate, [LINE], max_length=2).result()
    assert Path(found[0].filename).parent.name == "engine"


def test_a_program_without_a_name_is_warned(translator: Translator) -> None:
    with pytest.warns(TranslationWarning, match="the translation lacks 25"):
        exec("translator.translate([line], max_length=2)", {"translator": translator, "line": LINE})


def test_warnings_are_off_if_asked(translator: Translator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translator.translate([LINE], max_length=2, check=False)
        list(translator.translate_stream([LINE], max_length=2, check=False))


def test_missing_and_repeated_words_are_found() -> None:
    messages: list[str] = []
    checks = TranslationChecks(messages.append)
    words = "w " * 20
    checks.check([DividedLine(words)] * 3, ["v " * 7, "v " * 20, "v " * 61])
    assert messages == [
        "line 1: 20 words became 7: text may be missing",
        "line 3: 20 words became 61: text may be repeated",
    ]
    checks.check([DividedLine(words)], [""])
    assert messages[2].startswith("line 4: ")
    assert (checks.lines, checks.suspicious) == (4, 3)


@pytest.mark.parametrize(("parts", "end"), [(1, ""), (6, ""), (20, ""), (23, " and 3 more")])
def test_a_warning_names_every_part_that_is_missing(parts: int, end: str) -> None:
    messages: list[str] = []
    names = [f"{{name{index}}}" for index in range(parts)]
    TranslationChecks(messages.append).check([DividedLine(" ".join(names))], ["w " * parts])
    assert messages == [f"line 1: the translation lacks {', '.join(names[:20])}{end}"]


def test_only_the_first_lines_are_reported() -> None:
    messages: list[str] = []
    checks = TranslationChecks(messages.append)
    checks.check([DividedLine("{a}")] * 50, [""] * 50)
    assert len(messages) == MOST_WARNINGS
    assert checks.suspicious == 50


def test_chunks_are_counted_together(translator: Translator) -> None:
    messages: list[str] = []
    checks = TranslationChecks(messages.append)
    list(translator.translate_chunks([["a", "a"], ["", LINE]], max_length=2, check=checks))
    assert [message.partition(":")[0] for message in messages] == ["line 4"]
    translator.translate_n_best([LINE], 1, max_length=2, check=checks)
    assert messages[1].startswith("line 5: ")


@pytest.mark.parametrize("line", ["http://a.b/c?d", "  me@example.com", "{name} %s", "1,000.5 - 20 %", "...", "→ 😀"])
def test_a_line_without_words_stays_as_it_is(translator: Translator, line: str) -> None:
    assert translator.translate([line]) == [line]
    [[hypothesis]] = translator.translate_n_best([line], 1)
    assert (hypothesis.text, hypothesis.score) == (line, 0.0)


def test_control_characters_are_not_copied(translator: Translator) -> None:
    assert translator.translate(["1\x1b[2\x852\ud800"]) == ["1 [2 2\ufffd"]


def test_a_sentence_beyond_the_limit_is_copied(model_path: Path) -> None:
    translator = Translator(model_path, longest_sentence=30)
    long = "The man rides a bike and reads a book"
    [first] = translator.translate(["A dog sees."], max_length=8)
    message = r"text was copied, not translated: a sentence has 37 characters; the limit is 30 \(longest_sentence\)$"
    with pytest.warns(TranslationWarning, match=message):
        assert translator.translate([f"A dog sees. {long}"], max_length=8) == [f"{first} {long}"]
    with pytest.raises(EngineError, match="longest_sentence is 0"):
        Translator(model_path, longest_sentence=0)


def test_a_very_long_word_is_copied(translator: Translator) -> None:
    with pytest.warns(TranslationWarning, match="a word has 40,000 characters"):
        [found] = translator.translate([f"{'y' * 40_000} a dog."], max_length=8)
    assert found.startswith("y" * 40_000 + " ")
