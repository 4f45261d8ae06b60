"""The text of training runs: files of parallel formats instead of two files of plain text."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.text.cleaning import CleaningReport, clean
from pocketmt.training.configuration import Data, read_configuration
from pocketmt.training.data import load_corpus, make_cleaning

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"
PAIRS = [("a red cat", "TAC DER A"), ("two dogs & a bird", "DRIB A & SGOD OWT"), ("the house", "ESUOH EHT")]


def memory(pairs: list[tuple[str, str]]) -> str:
    units = "".join(
        f'<tu><tuv xml:lang="de-AT"><seg>{target}</seg></tuv><tuv xml:lang="en"><seg>{source}</seg></tuv></tu>'
        for source, target in pairs
    ).replace("&", "&amp;")
    return f"<tmx><body>{units}</body></tmx>"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    contents = {
        "text.en": "".join(f"{source}\n" for source, _ in PAIRS),
        "text.de": "".join(f"{target}\n" for _, target in PAIRS),
        "text.tsv": "".join(f"{source}\t{target}\n" for source, target in PAIRS),
        "text.jsonl": "".join(json.dumps({"en": source, "de": target}) + "\n" for source, target in PAIRS),
        "text.tmx": memory(PAIRS),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return {name: str(tmp_path / name) for name in contents}


@pytest.mark.parametrize("name", ["text.tsv", "text.jsonl", "text.tmx"])
def test_a_file_of_both_sides_is_the_same_text_as_two_files(files: dict[str, str], tmp_path: Path, name: str) -> None:
    plain = Data("en", "de", files["text.en"], files["text.en"], files["text.de"], files["text.de"], vocabulary_size=40)
    both = Data("en", "de", files[name], files[name], vocabulary_size=40)
    mixed = msgspec.structs.replace(
        both, training_source=[files[name], files["text.en"]], training_target=[files[name], files["text.de"]]
    )
    expected = load_corpus(plain, tmp_path / "plain.model")
    found = load_corpus(both, tmp_path / "both.model")
    twice = load_corpus(mixed, tmp_path / "both.model")
    assert found.vocabularies.stored == expected.vocabularies.stored
    assert (list(found.training), found.validation) == (list(expected.training), expected.validation)
    assert found.validation_references == [target for _, target in PAIRS]
    assert list(twice.training) == 2 * list(found.training)


@pytest.mark.parametrize(
    ("field", "value"),
    [("maximum_length", 7), ("maximum_ratio", 1.5), ("remove_identical", True), ("remove_duplicates", True)],
)
def test_each_rule_of_cleaning_is_that_of_the_configuration(field: str, value: Any) -> None:
    data = Data("en", "de", "a.en", "b.en", "a.de", "b.de")
    change: dict[str, Any] = {field: value}
    assert getattr(make_cleaning(data), field) == getattr(data, field) != value
    cleaning = make_cleaning(msgspec.structs.replace(data, **change))
    assert cleaning == dataclasses.replace(make_cleaning(data), **change)


def test_the_longer_side_may_have_some_pieces_more_than_the_ratio() -> None:
    pairs = [("a b", " ".join("c" * length)) for length in (13, 14)]
    kept = clean(pairs, make_cleaning(Data("en", "de", "a.en", "b.en", "a.de", "b.de")), CleaningReport())
    assert list(kept) == pairs[:1]
    [documented] = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "| `maximum_ratio` |" in line]
    assert "`4.0`" in documented and "the longer one may have 5 more" in documented


def test_cleaning_counts_what_it_leaves_out(files: dict[str, str], tmp_path: Path) -> None:
    more = tmp_path / "more.tsv"
    more.write_text("the house\tthe house\na\tA A A A A A A A A A A A A A A A\n")
    data = Data("en", "de", [files["text.tsv"], str(more)], files["text.tsv"], vocabulary_size=40)
    assert load_corpus(data, tmp_path / "a.model").left_out == {"ratio": 1}
    wide = msgspec.structs.replace(data, maximum_ratio=99.0, remove_identical=True)
    assert load_corpus(wide, tmp_path / "a.model").left_out == {"identical": 1}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('training_source = "a.en"\nvalidation_source = "b.tsv"', "data: .*a.en is plain text: name the file of its"),
        ('training_source = "a.tsv"\nvalidation_source = "b.en"', "data: .*b.en is plain text: name the file of its"),
        (
            'training_source = "a.en"\ntraining_target = "a.en"\nvalidation_source = "b.tsv"',
            "data: .*a.en is given for both sides",
        ),
    ],
)
def test_plain_text_needs_both_sides(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(f'[data]\nsource_language = "en"\ntarget_language = "de"\n{lines}\n')
    with pytest.raises(ConfigurationError, match=message):
        read_configuration(path)


def test_the_path_of_a_file_of_both_sides_starts_at_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(
        '[data]\nsource_language = "en"\ntarget_language = "de"\ntraining_source = ["a.tsv", "b.tmx"]\n'
        'validation_source = "c.jsonl"\n'
    )
    data = read_configuration(tmp_path / "c.toml").data
    assert data.training_files == [(tmp_path / name, tmp_path / name) for name in ("a.tsv", "b.tmx")]
    assert data.validation_files == (tmp_path / "c.jsonl", tmp_path / "c.jsonl")
