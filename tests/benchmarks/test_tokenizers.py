"""Ids equal those of the original tokenizers, on a sample of the lines that `benchmarks.tokenizers` compares."""

import json
from pathlib import Path

import pytest

from benchmarks.data import data_folder
from benchmarks.tokenizers import BERGAMOT, OPUS_MT, differences, firefox_pair, lines_of, main, opus_mt_pair, texts
from pocketmt.errors import DataError

pytestmark = [
    pytest.mark.skipif(not (data_folder() / OPUS_MT).is_dir(), reason="OPUS-MT's tokenizers are not on this machine"),
    pytest.mark.filterwarnings("ignore:Recommended"),
]
EQUAL = {"source": 0, "target": 0, "decoded": 0}
HARD_LINES = (
    "",
    " ",
    "\t two  spaces \u3000 and\u00a0more ",
    ">>por<< Hello.",
    ">>por<<Hello. >>pob<<",
    " >>por<< after a space",
    ">> no code",
    ">>unknown<< a",
    ">><<",
    "a </s> b<unk><pad> c</s",
    "</s>>>por<< after an end",
    "— – ― … „“ «»",
    "\u200bzero\u200dwidth\ufeff",
    "ﬁne ½ ① Å Å",
    "日本語 中文 हिन्दी العربية",
    "🇩🇪 👩‍👩‍👧 ☃",
    "▁ a▁b <0x41>",
)


def opus_mt_folders() -> list[Path]:
    folder = data_folder() / OPUS_MT
    return sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []


def firefox_files() -> list[Path]:
    return sorted((data_folder() / BERGAMOT).glob("*.spm"))


def sample() -> list[str]:
    return [*HARD_LINES, *(line for path in texts() for line in lines_of(path, step=997))]


@pytest.mark.parametrize("folder", opus_mt_folders(), ids=lambda folder: folder.name)
def test_opus_mt(folder: Path) -> None:
    assert differences(opus_mt_pair(folder), sample()) == EQUAL


@pytest.mark.parametrize("path", firefox_files(), ids=lambda path: path.name)
def test_firefox(path: Path) -> None:
    assert differences(firefox_pair(path), sample()) == EQUAL


def test_the_record_has_a_row_for_each_tokenizer_and_text(tmp_path: Path) -> None:
    assert main(["--step", "50000", "--output", str(tmp_path / "record.json")]) == 0
    record = json.loads((tmp_path / "record.json").read_text())
    assert len(record["rows"]) == len(texts()) * (len(opus_mt_folders()) + len(firefox_files()))
    assert record["total"]["lines"] == sum(row["lines"] for row in record["rows"]) > 0


def test_corpora_that_are_not_there_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    with pytest.raises(DataError, match="opus-mt: there is no such corpus"):
        main([])
