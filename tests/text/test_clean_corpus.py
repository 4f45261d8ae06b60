"""Cleaning of two files: the same result by any number of processes, and bounded memory."""

import gc
import os
import random
import sys
import tracemalloc
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Final

import pytest

from pocketmt.errors import DataError
from pocketmt.text import clean_corpus as clean_corpus_module
from pocketmt.text import cross_entropy_filter, external_sort, several_processes
from pocketmt.text.clean_corpus import CrossEntropyFilter, clean_corpus
from pocketmt.text.cleaning import Cleaning, Reason
from pocketmt.text.external_sort import ExternalSort

CAP: Final = 150  # Records that a sort under test holds in memory.


def write_pairs(folder: Path, count: int) -> tuple[Path, Path]:
    """Write pairs of few words, of which many are repeated and some are empty."""
    draw = random.Random(1)
    words = [f"w{number}" for number in range(30)]
    lines = [" ".join(draw.choices(words, k=draw.randint(0, 4))) for _ in range(count)]
    paths = folder / "source", folder / "target"
    paths[0].write_text("".join(f"{line}\n" for line in lines))
    paths[1].write_text("".join(f"ein {line}\n" for line in lines))
    return paths


def clean(
    sides: tuple[Path, Path], name: str, model_text: Path | None = None
) -> tuple[dict[Reason, int], bytes, bytes]:
    outputs = sides[0].with_name(f"{name}-source"), sides[0].with_name(f"{name}-target")
    report = clean_corpus(*sides, *outputs, Cleaning(), CrossEntropyFilter(0.1, "target", model_text))
    return report.removed, outputs[0].read_bytes(), outputs[1].read_bytes()


def use_processes(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(several_processes, "available_cores", lambda: count)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a small text have many chunks."""
    monkeypatch.setattr(cross_entropy_filter, "kenlm_is_installed", lambda: False)
    monkeypatch.setattr(cross_entropy_filter, "LINES_AT_ONCE", 70)
    monkeypatch.setattr(clean_corpus_module, "PAIRS_AT_ONCE", 90)


def test_a_language_model_learns_from_its_side_of_a_parallel_format(tmp_path: Path) -> None:
    sides = write_pairs(tmp_path, 300)
    good = [f"ein w{number} w{number + 1}" for number in range(9)]
    (tmp_path / "good").write_text("".join(f"{line}\n" for line in good))
    (tmp_path / "good.tsv").write_text("".join(f"w20 w{number} w29\t{line}\n" for number, line in enumerate(good)))
    assert clean(sides, "tsv", tmp_path / "good.tsv") == clean(sides, "text", tmp_path / "good")


def test_several_processes_write_the_bytes_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = write_pairs(tmp_path, 1500)
    use_processes(monkeypatch, 1)
    alone = clean(sides, "one")
    use_processes(monkeypatch, 3)
    assert clean(sides, "three") == alone
    assert min(alone[0][reason] for reason in (Reason.EMPTY, Reason.DUPLICATE, Reason.IMPROBABLE)) > 20


def test_scores_and_rules_are_computed_by_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processes = tmp_path / "processes"
    processes.mkdir()

    def noting(line: str) -> Sequence[Hashable]:
        (processes / str(os.getpid())).touch()
        return line.split()

    sides = write_pairs(tmp_path, 1500)
    use_processes(monkeypatch, 3)
    outputs = tmp_path / "a", tmp_path / "b"
    clean_corpus(*sides, *outputs, Cleaning(), split=noting)
    assert len(list(processes.iterdir())) == 3
    clean_corpus(*sides, *outputs, Cleaning(), CrossEntropyFilter(0.1, "target"), noting)
    # Three for the rules, three for each half of the text, and this one, which trains the models.
    assert len(list(processes.iterdir())) == 3 + 9 + 1


def test_an_error_in_another_process_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(line: str) -> Sequence[Hashable]:
        if line.startswith("w7 "):
            raise ValueError("not a word")
        return line.split()

    sides = write_pairs(tmp_path, 1500)
    use_processes(monkeypatch, 3)
    with pytest.raises(ValueError, match="not a word"):
        clean_corpus(*sides, tmp_path / "a", tmp_path / "b", Cleaning(), split=failing)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["source", "target"]


def test_a_missing_package_is_found_before_a_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pocketmt.text.cross_entropy_filter", None)
    with pytest.raises(ModuleNotFoundError):
        clean((tmp_path / "missing", tmp_path / "missing too"), "clean")


class Capped(ExternalSort):
    """A sort that holds few records in memory, and counts the pieces that it writes to the disk."""

    spilled = 0

    def __init__(self, folder: Path, length: int) -> None:
        super().__init__(folder, length, records=CAP)

    def add(self, record: bytes) -> None:
        super().add(record)
        Capped.spilled += self.count % CAP == 0


def cap_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean_corpus_module, "ExternalSort", Capped)
    monkeypatch.setattr(cross_entropy_filter, "ExternalSort", Capped)
    monkeypatch.setattr(external_sort, "FAN_IN", 4)
    monkeypatch.setattr(external_sort, "_READ_BYTES", 1 << 10)


def peak_memory(sides: tuple[Path, Path], name: str) -> int:
    """Return the most bytes that Python and NumPy held during a cleaning by this process alone."""
    peaks = []
    for _ in range(2):  # What is allocated once, such as by a collection of garbage of other tests, does not count.
        gc.collect()
        tracemalloc.start()
        try:
            clean(sides, name)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)


def test_memory_does_not_grow_with_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_processes(monkeypatch, 1)
    monkeypatch.setattr(cross_entropy_filter, "MOST_LINES", 200)
    texts = []
    for count in (3000, 12_000):
        (tmp_path / str(count)).mkdir()
        texts.append(write_pairs(tmp_path / str(count), count))
    expected = clean(texts[1], "uncapped")
    uncapped = peak_memory(texts[1], "uncapped")
    cap_memory(monkeypatch)
    assert clean(texts[1], "capped") == expected
    assert Capped.spilled > 100
    short, long = (peak_memory(text, "capped") for text in texts)
    assert long < 1.5 * short  # Of four times as many lines; the files of a sort grow with the logarithm.
    assert uncapped > 4 * long


def test_carriage_returns_and_byte_order_marks_within_lines_are_kept(tmp_path: Path) -> None:
    sides, outputs = (tmp_path / "a.en", tmp_path / "a.de"), (tmp_path / "b.en", tmp_path / "b.de")
    # Of the start and the line ends, one is dropped by reading the corpus.
    sides[0].write_bytes("\ufeff\ufeffA dog.\nA man.\r\r\nA man.\r\r\n".encode())
    sides[1].write_bytes("\ufeffEin Hund.\nEin Mann.\r\nEin Mann.\r\n".encode())
    clean_corpus(*sides, *outputs, Cleaning())
    assert outputs[0].read_bytes() == "\ufeffA dog.\nA man.\r\n".encode()
    assert outputs[1].read_bytes() == b"Ein Hund.\nEin Mann.\n"


def test_an_error_without_pairs_names_the_option_that_turns_off_the_rule_of_letters(tmp_path: Path) -> None:
    sides, outputs = (tmp_path / "source", tmp_path / "target"), (tmp_path / "clean", tmp_path / "clean2")
    sides[0].write_text("a cat\n")
    sides[1].write_text("bir mushuk\n")
    cleaning = Cleaning(languages=("en", "uz-Cyrl"), minimum_letters=0.5)
    with pytest.raises(DataError, match=r"\(letters 1\).*, or turn off the rule 'letters' by --minimum-letters 0$"):
        clean_corpus(*sides, *outputs, cleaning)
