"""Sorting with few records in memory, and cleaning with it."""

import random
from pathlib import Path

import pytest

import pocketmt.text.clean_corpus as clean_corpus_module
from pocketmt.text import external_sort
from pocketmt.text.clean_corpus import CrossEntropyFilter, clean_corpus
from pocketmt.text.cleaning import Cleaning, Reason
from pocketmt.text.external_sort import ExternalSort


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 1000])
def test_records_come_in_order_and_few_files_are_open(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_sort, "FAN_IN", 3)
    draw = random.Random(1)
    records = [draw.randbytes(2) for _ in range(count)]
    ordered = ExternalSort(tmp_path, 2, records=10)
    for record in records:
        ordered.add(record)
    assert list(ordered) == sorted(records)
    assert list(ordered) == sorted(records)
    assert ordered.count == count
    # At most two runs of each length are left unmerged: of 10, 30, 90, 270 and 810 records.
    assert len(list(tmp_path.iterdir())) <= 10
    assert (count >= 10) == any(tmp_path.iterdir())


def test_cleaning_on_disk_removes_what_cleaning_in_memory_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    words = ["red", "green", "blue", "house", "tree", "bird"]
    lines = [" ".join(draw.choices(words, k=draw.randint(1, 3))) for _ in range(600)]
    (tmp_path / "source").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "target").write_text("".join(f"ein {line}\n" for line in lines))

    def clean(name: str) -> tuple[dict[Reason, int], list[str]]:
        sides = tmp_path / "source", tmp_path / "target"
        report = clean_corpus(
            *sides, tmp_path / name, tmp_path / f"{name}-target", Cleaning(), CrossEntropyFilter(0.1, "target")
        )
        return report.removed, (tmp_path / name).read_text().splitlines()

    in_memory = clean("memory")
    on_disk = []

    class Small(ExternalSort):
        def __init__(self, folder: Path, length: int) -> None:
            super().__init__(folder, length, records=7)
            on_disk.append(self)

    monkeypatch.setattr(clean_corpus_module, "ExternalSort", Small)
    monkeypatch.setattr("pocketmt.text.cross_entropy_filter.ExternalSort", Small)
    assert clean("disk") == in_memory
    assert len(on_disk) == 4
    distinct = list(dict.fromkeys(lines))
    assert in_memory[0][Reason.DUPLICATE] == 600 - len(distinct)
    assert in_memory[0][Reason.IMPROBABLE] == len(distinct) // 10
    assert [line for line in distinct if line in set(in_memory[1])] == in_memory[1]
