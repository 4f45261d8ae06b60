"""One environment variable names the folder of all corpora."""

from pathlib import Path

import pytest

from benchmarks.data import ROOT, corpus, data_folder
from benchmarks.multi30k.data import lines
from pocketmt.errors import DataError


def test_the_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    (tmp_path / "multi30k").mkdir()
    (tmp_path / "multi30k" / "val.de").write_text("Ein Satz.\n", encoding="utf-8")
    assert corpus("multi30k") == tmp_path / "multi30k"
    assert lines("val", "de") == ["Ein Satz."]


def test_the_default_is_beside_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POCKETMT_DATA", raising=False)
    assert data_folder() == ROOT.parent / "shared" / "data"


def test_a_missing_corpus_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"multi30k: there is no such corpus: set POCKETMT_DATA .* docs/appendices"):
        lines("val", "de")
