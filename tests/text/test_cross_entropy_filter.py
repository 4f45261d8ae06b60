"""The lines that are least probable given the rest, or given another text."""

import random
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

import pytest

import pocketmt.text.cross_entropy_filter as cross_entropy_filter
from pocketmt.errors import DataError
from pocketmt.text.cross_entropy_filter import improbable_lines as yield_improbable_lines
from pocketmt.text.language_model import LanguageModel

STRANGE = "zxq wvu"


def improbable_lines(text: Path, share: float, model_text: Path | None = None) -> list[int]:
    return list(yield_improbable_lines(text, share, str.split, text.parent, model_text))


@pytest.fixture(autouse=True)
def without_kenlm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_entropy_filter, "kenlm_is_installed", lambda: False)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A hundred lines of a language of few words, and two of none, at an even and at an odd place."""
    draw = random.Random(1)
    lines = [" ".join(["the", draw.choice(["cat", "dog"]), draw.choice(["sleeps", "runs"])]) for _ in range(98)]
    lines.insert(10, STRANGE)
    lines.insert(51, STRANGE + " too")
    path = tmp_path / "text"
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_unusual_lines_are_found_in_both_halves(text: Path) -> None:
    assert improbable_lines(text, 0.02) == [10, 51]


def test_a_line_is_not_scored_by_a_model_that_has_read_it(tmp_path: Path) -> None:
    path = tmp_path / "text"
    # Once read, this line would be probable: nothing else follows any of its words.
    path.write_text("a b\n" * 20 + "k l m n o p q r s t\n" + "b a a\n" * 21)
    assert improbable_lines(path, 1 / 42) == [20]


def test_the_model_may_be_trained_on_another_text(text: Path, tmp_path: Path) -> None:
    model_text = tmp_path / "good"
    model_text.write_text(f"{STRANGE}\n\n{STRANGE} too\nthe cat runs\n")
    assert {10, 51}.isdisjoint(improbable_lines(text, 0.02, model_text))
    model_text.write_text("\n \n")
    with pytest.raises(DataError, match="every line is empty"):
        improbable_lines(text, 0.02, model_text)


@pytest.mark.parametrize(
    ("share", "count"), [(0.0, 0), (0.009, 0), (0.05, 5), (0.059, 5), (0.29, 29), (0.57, 57), (1.0, 100)]
)
def test_the_share_is_rounded_down(text: Path, share: float, count: int) -> None:
    assert len(improbable_lines(text, share)) == count


def test_training_uses_an_evenly_spread_part_of_a_large_text(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learnt: list[int] = []

    def watching(sentences: Iterable[Sequence[Hashable]]) -> LanguageModel:
        read = list(sentences)
        learnt.append(len(read))
        return LanguageModel(read)

    monkeypatch.setattr(cross_entropy_filter, "LanguageModel", watching)
    monkeypatch.setattr(cross_entropy_filter, "MOST_LINES", 20)
    assert improbable_lines(text, 0.02) == [10, 51]
    assert learnt == [17, 17]  # each third of the fifty lines of a half


def test_little_or_no_text_loses_no_line(tmp_path: Path) -> None:
    path = tmp_path / "text"
    for lines in ("", "one line\n"):
        path.write_text(lines)
        assert improbable_lines(path, 1.0) == []
