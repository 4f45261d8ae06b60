"""Figures that pages and the model card state without the tables of records, compared with the records."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import Translator

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "benchmarks" / "records"
CARD = (ROOT / "src" / "pocketmt" / "bundled" / "README.md").read_text(encoding="utf-8")
DIRECTIONS = {"en-de": "English to German", "de-en": "German to English"}
MEMORY_PAGES = ("docs/index.md", "docs/reference/platforms.md", "docs/results/index.md")


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def rows_of(table: str) -> list[list[str]]:
    """Return the rows of the card's table with this first line, without that line."""
    _, _, rest = CARD.partition(f"{table}\n")
    lines = rest.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_card_has_the_scores_of_the_everyday_models() -> None:
    expected = []
    for direction, name in DIRECTIONS.items():
        bleu, chrf = record(f"everyday/{direction}")["differences"]
        loss = bleu["baseline"] - bleu["system"]
        figures = [f"{bleu['baseline']:.2f}", f"{bleu['system']:.2f}", f"{loss:.2f}", f"{bleu['p_value']:.3f}"]
        expected.append([name, *figures, f"{chrf['baseline']:.2f}", f"{chrf['system']:.2f}"])
    heading = "| direction | BLEU, uncompressed | BLEU, 4 bits | loss | p | chrF, uncompressed | chrF, 4 bits |"
    assert rows_of(heading) == expected


def test_the_card_has_the_scores_of_8_and_4_bits() -> None:
    expected = []
    for direction, name in DIRECTIONS.items():
        files = record(f"everyday/bundled-{direction}")["rows"][-2:]
        assert [row["model"].partition("wider, ")[2] for row in files] == ["8 bits", "4 bits"]
        figures = [f"{row['tests'][metric]:.2f}" for metric in ("bleu", "chrf") for row in files]
        expected.append([name, *figures])
    assert rows_of("| direction | BLEU, 8 bits | BLEU, 4 bits | chrF, 8 bits | chrF, 4 bits |") == expected


def test_the_card_has_the_scores_of_other_spellings() -> None:
    spellings = ("as_it_is", "without_punctuation", "lower_case", "lower_case_without_punctuation", "capitals")
    expected = []
    for direction, name in DIRECTIONS.items():
        row = record(f"everyday/spellings-{direction}")["rows"][-1]
        expected.append([name, *(f"{row[spelling]['bleu']:.2f}" for spelling in spellings)])
    heading = "| direction | as it is | without final punctuation | lower case | both | capitals |"
    assert rows_of(heading) == expected


def test_the_card_has_the_shares_of_words_and_phrases_alone() -> None:
    expected = []
    for direction, name in DIRECTIONS.items():
        rows = record(f"everyday/words-alone-{direction}")["rows"]
        shares = {row["group"]: f"{row['labels']:.1%}" for row in rows if row["model"] == rows[-1]["model"]}
        expected.append([name, *shares.values()])
        assert list(shares) == ["known words", "new words", "known phrases", "new phrases"]
    assert rows_of("| direction | known words | new words | known phrases | new phrases |") == expected


def test_the_card_has_the_shares_of_kept_numbers() -> None:
    expected = []
    for direction, name in DIRECTIONS.items():
        row = record(f"everyday/numbers-kept-{direction}")["rows"][-1]
        expected.append([name, f"{row['alone']:.1%}", f"{row['protected']:.1%}"])
    assert rows_of("| direction | by itself | with the engine |") == expected


def test_the_card_has_the_shares_of_kept_names() -> None:
    expected = []
    for direction, name in DIRECTIONS.items():
        rows = record(f"everyday/names-kept-{direction}")["rows"]
        [row] = (row for row in rows if row["model"] == rows[-1]["model"] and row["kind"] == "names")
        expected.append([name, f"{row['alone']:.1%}", f"{row['protected']:.1%}"])
    assert rows_of("| direction | names by itself | with the engine |") == expected


def test_the_examples_of_the_card_are_translations_of_the_model() -> None:
    examples = rows_of("| English | translation |")
    assert len(examples) == 9
    written = Translator("everyday-en-de").translate([source for source, _ in examples], check=False)
    assert written == [target for _, target in examples]


@pytest.mark.parametrize("page", MEMORY_PAGES)
def test_the_memory_of_one_worker_is_within_the_stated_range(page: str) -> None:
    stated = re.search(r"(\d+) to (\d+) MB", (ROOT / page).read_text(encoding="utf-8"))
    assert stated is not None
    over = [
        row["peak_over_file_megabytes"]
        for path in RECORDS.glob("peer*.json")
        for found in [record(path.stem)]
        if found.get("threads", 1) == 1
        for row in found["rows"]
    ]
    assert float(stated[1]) <= min(over) + 1 and max(over) <= float(stated[2])
