"""The pictures of the documentation: drawn from their records, or an error that names what is missing."""

import re
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data import ROOT
from benchmarks.pictures.__main__ import PICTURES, draw
from benchmarks.pictures.kernels import FAMILIES, PLACES, SHAPE
from benchmarks.pictures.overview import points
from benchmarks.pictures.peers import CASES
from benchmarks.pictures.sensitivity import PARTS
from benchmarks.record_files import read_record, write_record
from pocketmt.errors import ConfigurationError, DataError

RECIPES = ("fp32-continued", "8bit", "affine4-compensated", "mixed-2-bits-distilled")


def side(name: str, weights: str, milliseconds: float) -> dict[str, Any]:
    return {"side": name, "weights": weights, "milliseconds_per_sentence": milliseconds}


def peer_record(model: str, decoder: str, shortlist: bool) -> dict[str, Any]:
    """Return a record in which PocketMT is 2.0 times as fast as the slower peer, and 1.5 times as the faster."""
    places = [
        {"model": f"{model}, random weights", "decoder": decoder, "shortlist": with_shortlist, "case": case}
        for with_shortlist in sorted({False, shortlist})
        for case in CASES
    ]
    peers = [side("Marian", "int8", 40.0), side("CTranslate2", "int8", 30.0)]
    sides = [*peers, side("PocketMT", "uniform8", 20.0), side("PocketMT", "logarithmic4", 10.0)]
    ratios = ({"peer_milliseconds": 40.0, "speed_ratio": 2.0}, {"peer_milliseconds": 30.0, "speed_ratio": 1.5})
    return {
        "rows": [
            {**place, "weights": weights, **ratio}
            for place in places
            for weights in ("uniform8", "logarithmic4")
            for ratio in ratios
        ],
        "measurements": [*({**place, "sides": sides} for place in places), {"model": model, "settings": []}],
    }


def scored(recipe: str, size: int, bleu: float, bits: float = 4.1, updates: int = 0) -> dict[str, Any]:
    sizes = {"bytes": size, "entropy_coded_bytes": size + 1}
    return {"recipe": recipe, **sizes, "tests": {"bleu": bleu}, "bits": bits, "updates": updates}


def everyday() -> dict[str, Any]:
    """Return a record in which the uncompressed model, trained on or not, is at the front of the sizes, too."""
    whole = scored("float32", 16_000_000, 44.0, bits=32)
    trained_on = scored("fp32-continued", 16_000_001, 43.9, bits=32, updates=1000)
    best = [scored("log4-distilled", 2_000_000, 43.2, 4.04, 1000), scored("8bit", 4_000_000, 43.9, 8.1)]
    return {"rows": [whole, trained_on, *best], "frontier": [*best, whole, trained_on]}


def attention(kind: str) -> dict[str, Any]:
    models = [{"model": "codebook-4bit.pocketmt", "difference": 0.0, "weights": [[0.25, 0.75]]}]
    return {"kind": kind, "queries": ["▁Ein"], "keys": ["▁A", "</s>"], "models": models}


def made_up() -> dict[str, dict[str, Any]]:
    sizes = {"rows": [scored(name, 2_000_000 * (number + 1), 36.0) for number, name in enumerate(RECIPES)]}
    kernel_places = [(name, place, count) for name in ("newest", "oldest") for place in PLACES for count in (1, 32)]
    return {
        "peer": peer_record("base", "self-attention", False),
        "peer-students": peer_record("6-2.tiny", "self-attention", True),
        "peer-deep-students": peer_record("12-1.tiny", "ssru", True),
        "everyday/compression": everyday(),
        "multi30k/small": sizes,
        "multi30k/compression": sizes,
        "multi30k/sensitivity": {
            "rows": [{"part": part, "bleu2": 35.0, "bleu1": 10.0} for part in PARTS],
            "whole": {"bleu": 39.0},
        },
        **{f"attention-{kind}": attention(kind) for kind in ("cross", "encoder")},
        "kernels": {
            "rows": [
                {
                    "instruction_set": instruction_set,
                    "shape": SHAPE,
                    "weights": place,
                    "count": count,
                    "times_int8": dict.fromkeys(FAMILIES, 1.5),
                }
                for instruction_set, place, count in kernel_places
            ]
        },
    }


def drawn(picture: str, records: dict[str, dict[str, Any]], folder: Path) -> str:
    for name, record in records.items():
        write_record(record, folder / f"{name}.json")
    draw(picture, folder, folder)
    return (folder / picture).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_documentation_are_up_to_date(name: str, tmp_path: Path) -> None:
    draw(name, ROOT / "benchmarks" / "records", tmp_path)
    shown = ROOT / "docs" / "pictures" / name
    assert shown.read_text() == (tmp_path / name).read_text(), "run `python -m benchmarks.pictures`"


@pytest.mark.parametrize("name", PICTURES)
def test_each_picture_is_described_and_has_both_color_schemes(name: str, tmp_path: Path) -> None:
    text = drawn(name, made_up(), tmp_path)
    names = {element.tag.rpartition("}")[2] for element in xml.etree.ElementTree.fromstring(text)}
    assert {"title", "desc", "style"} <= names
    light, dark = text.partition("<style>")[2].partition("</style>")[0].split("@media(prefers-color-scheme:dark)")
    colored = [rule.partition("{")[0] for rule in light.split("}") if "#" in rule]
    assert colored
    assert all(f"{name}{{" in dark for name in colored)


@pytest.mark.parametrize("name", ["speed.svg", "students.svg", "overview.svg"])
def test_each_engine_has_its_time_and_ours_the_ratio_to_the_faster_peer(name: str, tmp_path: Path) -> None:
    text = drawn(name, made_up(), tmp_path)
    for shown in ("Marian 8 bit", "40.0", "CTranslate2 8 bit", "30.0", "PocketMT 8 bit", "20.0 (1.5×)"):
        assert f">{shown}</text>" in text
    assert "(2.0×)" not in text


def test_a_peer_that_is_faster_without_a_shortlist_is_shown_without_one(tmp_path: Path) -> None:
    records = made_up()
    assert "Marian 8 bit *" not in drawn("students.svg", records, tmp_path)
    records["peer-students"]["measurements"][0]["sides"] = [side("Marian", "int8", 25.0)]
    text = drawn("students.svg", records, tmp_path)
    assert text.count("Marian 8 bit *") == 1
    assert "20.0 (1.2×)" in text


def test_points_of_sizes_are_named(tmp_path: Path) -> None:
    text = drawn("size.svg", made_up(), tmp_path)
    assert all(f">{recipe}</text>" in text for recipe in RECIPES if recipe != "fp32-continued")
    assert ">uncompressed</text>" in text and ">8 MB</text>" in text


def test_the_first_picture_shows_the_files_of_the_first_table() -> None:
    record = read_record(ROOT / "benchmarks" / "records" / "everyday" / "compression.json")
    shown = [row["recipe"] for _, row in points(record)]
    assert shown[0] == "float32"
    assert {goal["recipe"] for goal in record["goals"]} <= set(shown)
    # A note of the picture says so, because the speed beside it is that of another scheme.
    assert all(row["recipe"].startswith("affine4") for name, row in points(record) if name.startswith("4 bits"))


def test_points_of_the_first_picture_are_named_by_their_bits_and_retraining(tmp_path: Path) -> None:
    assert [name for name, _ in points(everyday())] == ["32 bits", "4 bits, retrained", "8 bits"]
    text = drawn("overview.svg", made_up(), tmp_path)
    assert all(text.count(f">{name}</text>") == 1 for name, _ in points(everyday()))


def test_kernels_are_drawn_on_the_best_instruction_set(tmp_path: Path) -> None:
    text = drawn("kernels.svg", made_up(), tmp_path)
    assert "NEWEST" in text and "OLDEST" not in text
    assert all(text.count(f">{name}</text>") == len(PLACES) for name in FAMILIES.values())


def test_the_greatest_ratio_of_a_kernel_stays_below_the_titles_of_the_panels(tmp_path: Path) -> None:
    records = made_up()
    for row in records["kernels"]["rows"]:
        row["times_int8"] = row["times_int8"] | {"planes1": 4.0}
    text = drawn("kernels.svg", records, tmp_path)
    assert min(float(place) for place in re.findall(r'<circle[^>]* cy="(-?[0-9.]+)"', text)) > 120


def test_a_record_that_lacks_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"peer\.json: no such record"):
        draw("speed.svg", tmp_path, tmp_path)
    records = made_up()
    del records["peer"]["measurements"][0]
    records["peer-students"]["measurements"][4]["sides"][2]["weights"] = "ternary"
    records["kernels"]["rows"] = [row for row in records["kernels"]["rows"] if row["weights"] == "cache"]
    records["multi30k/sensitivity"]["rows"].pop()
    records["multi30k/small"]["rows"].pop(0)
    records["everyday/compression"]["rows"].pop(0)
    for name, message in (
        ("speed.svg", "no measurements of .*base, random weights.*one by one, greedy"),
        ("students.svg", "of the weights ternary of PocketMT"),
        ("kernels.svg", f"no row of newest, {SHAPE}, memory"),
        ("sensitivity.svg", "has no encoder.feed_forward"),
        ("size.svg", "no scores of fp32-continued"),
        ("overview.svg", "no scores of float32"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            drawn(name, records, tmp_path)
    assert not list(tmp_path.glob("*.svg"))
