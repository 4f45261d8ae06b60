"""The figures of the documentation: reproducible from their records, or an error that names what is missing."""

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pictures.__main__ import PICTURES, ROOT, draw
from benchmarks.pictures.kernels import MARKERS, PLACES, SHAPES
from benchmarks.pictures.peers import CASES
from benchmarks.record_files import write_record
from pocketmt.errors import ConfigurationError, DataError

NAMES = re.compile(r"\b[mp][0-9a-f]{10}\b")  # that Matplotlib makes of a part's digits
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def side(name: str, weights: str, milliseconds: float) -> dict[str, Any]:
    times = {"fastest_milliseconds": milliseconds - 1, "slowest_milliseconds": milliseconds + 1}
    return {"side": name, "weights": weights, "milliseconds_per_sentence": milliseconds, **times}


def peer_record(model: str, decoder: str, shortlist: bool) -> dict[str, Any]:
    """Return a record in which PocketMT is 2.0 times as fast as the slower peer, and 1.5 times as the faster."""
    places = [
        {"model": f"{model}, random weights", "decoder": decoder, "shortlist": with_shortlist, "case": case}
        for with_shortlist in sorted({False, shortlist})
        for case in CASES
    ]
    sides = [side("Marian", "int8", 40.0), side("CTranslate2", "int8", 30.0), side("PocketMT", "uniform8", 20.0)]
    ratios = ({"peer_milliseconds": 40.0, "speed_ratio": 2.0}, {"peer_milliseconds": 30.0, "speed_ratio": 1.5})
    return {
        "rows": [{**place, "weights": "uniform8", **ratio} for place in places for ratio in ratios],
        "measurements": [*({**place, "sides": sides} for place in places), {"model": model, "settings": []}],
    }


def kernel_row(instruction_set: str, shape: str, weights: str, count: int) -> dict[str, Any]:
    place = {"instruction_set": instruction_set, "shape": shape, "weights": weights, "count": count}
    return {**place, "floor_share": dict.fromkeys(MARKERS, 0.5)}


def made_up() -> dict[str, dict[str, Any]]:
    return {
        "peer": peer_record("base", "self-attention", False),
        "peer-students": peer_record("6-2.tiny", "self-attention", True),
        "peer-deep-students": peer_record("12-1.tiny", "ssru", True),
        "kernels": {
            "rows": [
                kernel_row(instruction_set, shape, weights, count)
                for instruction_set in ("newest", "oldest")
                for shape in SHAPES
                for weights in PLACES
                for count in (1, 32)
            ]
        },
    }


def parts(picture: Path) -> tuple[list[str], list[float]]:
    """Return what is drawn, and all numbers of where: another processor may round their last digits otherwise."""
    text = NAMES.sub("name", picture.read_text(encoding="utf-8"))
    return NUMBER.split(text), [float(number) for number in NUMBER.findall(text)]


def drawn(picture: str, records: dict[str, dict[str, Any]], folder: Path) -> str:
    for name, record in records.items():
        write_record(record, folder / f"{name}.json")
    draw(picture, folder, folder)
    return (folder / picture).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_the_figures_of_the_documentation_are_up_to_date(name: str, tmp_path: Path) -> None:
    draw(name, ROOT / "benchmarks" / "records", tmp_path)
    (shapes, places), (shown_shapes, shown_places) = (parts(folder / name) for folder in (tmp_path, ROOT / "docs"))
    same = shapes == shown_shapes and shown_places == pytest.approx(places, abs=0.05)
    assert same, f"docs/{name} is not what its records say: run `python -m benchmarks.pictures`"


@pytest.mark.parametrize("name", ["speed.svg", "students.svg"])
def test_each_engine_has_its_time_and_ours_the_ratio_to_the_faster_peer(name: str, tmp_path: Path) -> None:
    text = drawn(name, made_up(), tmp_path)
    for shown in ("Marian int8", "40.0", "CTranslate2 int8", "30.0", "PocketMT uniform8", "20.0  (1.5 ×)"):
        assert f">{shown}</text>" in text
    assert "(2.0 ×)" not in text


def test_a_peer_that_is_faster_without_a_shortlist_is_marked(tmp_path: Path) -> None:
    records = made_up()
    assert drawn("students.svg", records, tmp_path).count("stroke: #ffffff; stroke-width: 2") == 0
    records["peer-students"]["measurements"][0]["sides"] = [side("Marian", "int8", 35.0)]
    assert drawn("students.svg", records, tmp_path).count("stroke: #ffffff; stroke-width: 2") == 1


def test_kernels_are_drawn_on_the_best_instruction_set(tmp_path: Path) -> None:
    text = drawn("kernels.svg", made_up(), tmp_path)
    assert "newest" in text and "oldest" not in text
    assert all(f">{family}</text>" in text for family in MARKERS)


def test_a_record_that_lacks_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"peer\.json: no such record"):
        draw("speed.svg", tmp_path, tmp_path)
    records = made_up()
    del records["peer"]["measurements"][0]
    records["peer-students"]["measurements"][4]["sides"][2]["weights"] = "ternary"
    records["kernels"]["rows"] = [row for row in records["kernels"]["rows"] if row["weights"] == "cache"]
    with pytest.raises(ConfigurationError, match=r"no measurements of .*base, random weights.*one by one, greedy"):
        drawn("speed.svg", records, tmp_path)
    with pytest.raises(ConfigurationError, match="no color, or no rows, of the weights ternary of PocketMT"):
        drawn("students.svg", records, tmp_path)
    with pytest.raises(ConfigurationError, match="no row of newest, 2048 x 512, memory"):
        drawn("kernels.svg", records, tmp_path)
    assert not list(tmp_path.glob("*.svg"))
