"""Regular expressions that are compiled when they are first used."""

import re

import pytest

from pocketmt import lazy_pattern as module
from pocketmt.lazy_pattern import lazy_pattern


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    lazy, compiled = (
        lazy_pattern(r"(?P<word>[a-z]+)\d", re.IGNORECASE),
        re.compile(r"(?P<word>[a-z]+)\d", re.IGNORECASE),
    )
    text = "A1 bc2 d"
    assert [match["word"] for match in lazy.finditer(text)] == ["A", "bc"]
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub(r"<\g<word>>", text) == compiled.sub(r"<\g<word>>", text) == "<A> <bc> d"
    assert (lazy.search(text, 2) or [""])[0] == "bc2"
    assert lazy.fullmatch(text) is None
    assert (lazy.pattern, lazy.flags, lazy.groupindex) == (compiled.pattern, compiled.flags, compiled.groupindex)


def test_it_is_compiled_at_its_first_use_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def compile_pattern(pattern: str, flags: re.RegexFlag) -> re.Pattern[str]:
        compiled.append(pattern)
        return re.compile(pattern, flags)

    class Re:
        compile = staticmethod(compile_pattern)

    monkeypatch.setattr(module, "re", Re)
    lazy = lazy_pattern("a+", re.NOFLAG)
    assert compiled == []
    assert [lazy.match("aa") is not None for _ in range(3)] == [True] * 3
    assert compiled == ["a+"]
