"""pocketmt names: learning the words that a model translates, and keeping other words with a capital."""

import json
from itertools import product
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.model_file import open_model

from .conftest import Run

PAIRS = [
    ("Tom met Mary.", "Tom traf Maria."),
    ("The house is big.", "Das Haus ist groß."),
    ("Tom lives in Boston.", "Tom wohnt in Boston."),
]
KNOWN = "met mary the house is big lives in".split()  # noqa: SIM905
# Words of letters, as a text needs a hundred.
OTHERS = ["".join(letters) for letters in product("npqrstuvwxz", repeat=3)]


@pytest.fixture
def parallel(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "train.en", tmp_path / "train.de"
    names = "Alice Bob Carol Dave Erin Frank Grace Heidi Ivan Judy Mallory Niaj Olivia Peggy Sybil Trent Victor Walter"
    lines = [*PAIRS, (" ".join(OTHERS), "nichts"), (names, names)]
    source.write_text("".join(f"{line}\n" for line, _ in lines))
    target.write_text("".join(f"{line}\n" for _, line in lines))
    return source, target


@pytest.fixture
def learnt(pocketmt: Run, parallel: tuple[Path, Path], tmp_path: Path) -> Path:
    output = tmp_path / "learnt.pocketmt"
    answer = pocketmt("names", "captions-en-de", "-s", parallel[0], "-t", parallel[1], "-o", output)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == b"1,339 known words; 20 words are copied\n"
    assert f"{output}: {output.stat().st_size:,} bytes, before ".encode() in answer.stderr
    assert answer.stderr.endswith(f"next: pocketmt translate --model {output} < TEXT\n".encode())
    return output


def test_the_words_that_the_text_translates_are_added(learnt: Path) -> None:
    with open_model(learnt) as file:
        words = file.known_words()
    assert words is not None
    assert all(word in words for word in [*KNOWN, *OTHERS])
    assert len(words.bits) == 2 * (len(KNOWN) + len(OTHERS))


def test_the_model_keeps_other_names(learnt: Path) -> None:
    line = "A woman in Zuckerberg is walking down the street."
    assert "Zuckerberg" not in Translator("captions-en-de").translate([line], check=False)[0]
    assert "Zuckerberg" in Translator(learnt).translate([line], check=False)[0]


def test_they_are_copied_from_another_file(pocketmt: Run, learnt: Path, tmp_path: Path) -> None:
    output = tmp_path / "copied.pocketmt"
    answer = pocketmt("names", "captions-en-de-8bit", "--like", learnt, "-o", output, "--json")
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert record["bytes"] == output.stat().st_size and record["model"] == "captions-en-de-8bit"
    with open_model(output) as file, open_model(learnt) as other:
        found, expected = file.known_words(), other.known_words()
    assert found is not None and expected is not None and found.bits == expected.bits


def test_a_file_may_be_replaced_by_itself(pocketmt: Run, parallel: tuple[Path, Path], learnt: Path) -> None:
    before = learnt.read_bytes()
    answer = pocketmt("names", learnt, "-s", parallel[0], "-t", parallel[1], "-o", learnt)
    assert answer.returncode == 0, answer.stderr
    assert learnt.read_bytes() == before


def test_a_shortlist_and_known_words_go_together(
    pocketmt: Run, parallel: tuple[Path, Path], learnt: Path, tmp_path: Path
) -> None:
    output = tmp_path / "both.pocketmt"
    answer = pocketmt("shortlist", learnt, "-s", parallel[0], "-t", parallel[1], "-o", output)
    assert answer.returncode == 0, answer.stderr
    with open_model(output) as file:
        assert file.known_words() is not None and file.stored_shortlist is not None


def test_wrong_arguments_are_refused(pocketmt: Run, parallel: tuple[Path, Path], learnt: Path, tmp_path: Path) -> None:
    source, target = parallel
    output = tmp_path / "refused.pocketmt"
    for arguments, message in (
        ([], "Give text to learn from, --source and --target, or --like."),
        (["-s", source, "-t", target, "--like", learnt], "Give text to learn from"),
        (["--like", learnt, "-t", target], "--target needs --source."),
        (["-s", source], "is plain text: give --target too"),
        (["-s", source, "-t", tmp_path / "missing"], "missing"),
    ):
        answer = pocketmt("names", "captions-en-de", *arguments, "-o", output)
        assert answer.returncode == 2 or b"error: " in answer.stderr
        assert answer.returncode != 0 and message in answer.stderr.decode()
    assert b"Missing option '--output'" in pocketmt("names", "captions-en-de", "--like", learnt).stderr
    answer = pocketmt("names", "everyday-de-en", "--like", learnt, "-o", output)
    assert answer.returncode == 1 and b"are for en to de, " in answer.stderr
    answer = pocketmt("names", learnt, "--like", "captions-en-de", "-o", output)
    assert answer.returncode == 1
    assert not output.exists()


def test_translations_in_other_letters_are_refused(pocketmt: Run, tmp_path: Path) -> None:
    source, target, output = tmp_path / "s", tmp_path / "t", tmp_path / "refused.pocketmt"
    source.write_text(f"Tom met Mary {' '.join(OTHERS)}.\n")
    target.write_text("Том встретил Мэри.\n")
    answer = pocketmt("names", "captions-en-de", "-s", source, "-t", target, "-o", output)
    assert answer.returncode == 1 and b"100% of its words are not in Latin letters" in answer.stderr
    assert not output.exists()


def test_compressing_keeps_them(pocketmt: Run, learnt: Path, tmp_path: Path) -> None:
    output = tmp_path / "smaller.pocketmt"
    answer = pocketmt("compress", learnt, "8bit", "-o", output)
    assert answer.returncode == 0, answer.stderr
    with open_model(output) as file, open_model(learnt) as other:
        found, expected = file.known_words(), other.known_words()
    assert found is not None and expected is not None and found.bits == expected.bits


def test_an_export_says_that_it_lacks_them(pocketmt: Run, learnt: Path, tmp_path: Path) -> None:
    for model, folder, noted in ((learnt, "with", True), ("captions-en-de", "without", False)):
        answer = pocketmt("export", model, "--to", "ctranslate2", "-o", tmp_path / folder)
        assert answer.returncode == 0, answer.stderr
        assert (b"note: the known words, which `pocketmt names` adds" in answer.stderr) is noted


def test_text_with_few_words_is_refused(pocketmt: Run, tmp_path: Path) -> None:
    source, target, output = tmp_path / "s", tmp_path / "t", tmp_path / "refused.pocketmt"
    source.write_text("")
    target.write_text("")
    answer = pocketmt("names", "captions-en-de", "-s", source, "-t", target, "-o", output)
    assert answer.returncode == 1 and b"has 0 different words, fewer than 100" in answer.stderr
    assert not output.exists()


def test_the_name_of_a_bundled_model_may_be_given(pocketmt: Run, tmp_path: Path) -> None:
    answer = pocketmt("names", "captions-en-de", "--like", "everyday-en-de", "-o", tmp_path / "named.pocketmt")
    assert answer.returncode == 0, answer.stderr
