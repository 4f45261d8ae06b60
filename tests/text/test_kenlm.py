"""KenLM's language model beside ours: the same scores and the same lines to remove; without KenLM, its errors alone."""

import os
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

import pocketmt.text.cross_entropy_filter as cross_entropy_filter
from benchmarks.data import corpus
from pocketmt.errors import DataError
from pocketmt.text.kenlm import KenLanguageModel, kenlm_is_installed
from pocketmt.text.language_model import LanguageModel

needs_kenlm = pytest.mark.skipif(
    not kenlm_is_installed(), reason="KenLM (the program lmplz and the package kenlm) is not installed"
)


def real_lines(count: int) -> list[str]:
    return (corpus("multi30k") / "train.de").read_text(encoding="utf-8").splitlines()[:count]


@needs_kenlm
def test_scores_equal_ours(tmp_path: Path) -> None:
    lines = [line.split() for line in real_lines(1500)]
    training, others = lines[:1000], [*lines[1000:], [], ["<s>", "new"], ["<unk>"]]
    theirs, ours = KenLanguageModel(training, tmp_path), LanguageModel(training)
    for sentences in (training, others):
        assert theirs.cross_entropies(sentences) == pytest.approx(ours.cross_entropies(sentences), abs=2e-4)
    assert list(tmp_path.iterdir()) == []


@needs_kenlm
def test_a_small_text_of_pieces_and_symbols_scores_as_ours(tmp_path: Path) -> None:
    for training in ([[17, 4, 17], [4]], [["<s>", "</s>", "<unk>", "ä\udc80"], ["<unk>"]]):
        theirs, ours = KenLanguageModel(training, tmp_path), LanguageModel(training)
        others = [*training, ["unknown", "words"]]
        assert theirs.cross_entropies(others) == pytest.approx(ours.cross_entropies(others), abs=1e-4)


@needs_kenlm
@pytest.mark.parametrize("model_text", [False, True])
def test_the_same_lines_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_text: bool) -> None:
    lines, draw = real_lines(1200), random.Random(1)
    for number in range(0, 1000, 50):
        lines[number] = " ".join(draw.sample(lines[number].split() * 3, 8))
    text, other = tmp_path / "text", tmp_path / "other" if model_text else None
    text.write_text("".join(f"{line}\n" for line in lines[:1000]), encoding="utf-8")
    if other is not None:
        other.write_text("".join(f"{line}\n" for line in lines[1000:]), encoding="utf-8")
    found = []
    for installed in (True, False):
        monkeypatch.setattr(cross_entropy_filter, "kenlm_is_installed", lambda installed=installed: installed)
        found.append(list(cross_entropy_filter.improbable_lines(text, 0.1, str.split, tmp_path, other)))
    assert found[0] == found[1]
    assert len(found[0]) == 100


def make_program(folder: Path, content: str) -> None:
    program = folder / "lmplz"
    program.write_text(f"#!/bin/sh\n{content}\n")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose programs come before all others."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def test_both_the_program_and_the_package_are_needed(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "kenlm", raising=False)
    assert not kenlm_is_installed()
    make_program(programs, "exit 0")
    assert not kenlm_is_installed()
    (programs / "kenlm.py").touch()
    monkeypatch.setattr(sys, "path", [str(programs)])
    assert kenlm_is_installed()


@pytest.mark.parametrize("reads", ["cat > /dev/null", ""])
def test_an_error_of_the_program_is_shown(programs: Path, tmp_path: Path, reads: str) -> None:
    make_program(programs, f"{reads}\necho Step 1 >&2\necho 'No space left on device' >&2\nexit 3")
    text = [["some", "words"] * 100] * 2000
    with pytest.raises(DataError, match="lmplz of KenLM ended with status 3: No space left on device"):
        KenLanguageModel(text, tmp_path)
    with pytest.raises(DataError, match="every line is empty"):
        KenLanguageModel([], tmp_path)
    assert list(tmp_path.iterdir()) == [programs]


class FakeModel:
    """Finds one line more probable than the others."""

    def __init__(self, path: str, config: object) -> None:
        self.learnt = Path(path).read_bytes()

    def score(self, line: bytes) -> float:
        return -1.0 if line in self.learnt else -99.0


def test_it_is_used_where_it_is_installed(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("kenlm")
    package.__dict__.update(Config=type("Config", (), {}), ARPALoadComplain=type("C", (), {"NONE": 0}), Model=FakeModel)
    monkeypatch.setitem(sys.modules, "kenlm", package)
    # Its model is the text itself.
    make_program(programs, 'while [ "$1" != --arpa ]; do shift; done; cat > "$2"')
    monkeypatch.setattr(cross_entropy_filter, "kenlm_is_installed", lambda: True)
    text, good = tmp_path / "text", tmp_path / "good"
    text.write_text("a cat\na dog\nzxq\na cat\n")
    good.write_text("a cat\n\na dog\n")
    assert list(cross_entropy_filter.improbable_lines(text, 0.25, str.split, tmp_path, good)) == [2]
