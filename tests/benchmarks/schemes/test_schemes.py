"""The benchmark of stored forms: all recipes are among them, files hold what they say. No time is asserted."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.schemes.files import FileMaker
from benchmarks.schemes.forms import EIGHT_BIT, Form, every_form
from benchmarks.schemes.record import render, row_of
from pocketmt.engine import Translator
from pocketmt.model_file import open_model
from pocketmt.models.presets import preset
from pocketmt.recipes.description.catalogue import find_recipe, recipe_names
from pocketmt.recipes.description.plan import make_plan

TINY = preset("tiny", 320)
FORMS = {form.name: form for form in every_form(TINY)}


def test_every_recipe_that_quantizes_has_one_form() -> None:
    named = [name for form in FORMS.values() for name in form.recipes]
    assert sorted(named) == [name for name in recipe_names() if make_plan(find_recipe(name), TINY)[-1].matrices]
    assert next(iter(FORMS)) == EIGHT_BIT
    assert "uniform8" in FORMS[EIGHT_BIT].recipes
    assert {"b4-mixed-2.6-bits", "mixed-2.6-bits-distilled"} <= set(FORMS["b4-mixed-2.6-bits"].recipes)


@pytest.fixture(scope="module")
def maker() -> FileMaker:
    return FileMaker(TINY, seed=1)


@pytest.mark.parametrize("name", ["affine, 6 bit", "binary, 3 bit", "b4-mixed-2.2-bits", "z1-codebook-attention-1bit"])
def test_a_file_has_its_form_and_translates(tmp_path: Path, maker: FileMaker, name: str) -> None:
    path, form = tmp_path / "form.pocketmt", FORMS[name]
    maker.write(form, path)
    with open_model(path) as file:
        assert set(file.matrices) == set(form.matrices)
        for matrix, division in form.matrices.items():
            assert [group.bits for group in file.matrices[matrix]] == [each.bits for each in division.schemes]
    (words,) = Translator(path).translate_ids([[7, 8, 9]], min_length=6, max_length=6)
    assert len(words) in (5, 6)  # the last may be eos


def test_entropy_coding_makes_the_file_smaller_and_changes_no_word(tmp_path: Path, maker: FileMaker) -> None:
    plain, coded = tmp_path / "plain.pocketmt", tmp_path / "coded.pocketmt"
    maker.write(FORMS["affine, 6 bit"], plain)
    maker.write(FORMS["affine, 6 bit, entropy-coded"], coded)
    assert coded.stat().st_size < plain.stat().st_size
    outputs = [Translator(path).translate_ids([[7, 8, 9]], max_length=8) for path in (plain, coded)]
    assert outputs[0] == outputs[1]


def measurement(seconds: list[float], peak: int) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "processor_seconds": [0.5 * each for each in seconds],
        "milliseconds_per_sentence": 1.0,
        "fastest_milliseconds": min(seconds),
        "file_bytes": 1_000_000,
        "peak_memory_bytes": peak,
        "load_seconds": 0.1,
    }


def test_a_row_compares_round_by_round() -> None:
    form = Form("a form", {}, ["a recipe"])
    row = row_of(form, measurement([4.0, 6.0, 9.0], 7), measurement([2.0, 6.0, 3.0], 3_500_000))
    assert (row["lowest_times_8_bit"], row["times_8_bit"], row["highest_times_8_bit"]) == (1.0, 2.0, 3.0)
    assert row["fastest_times_8_bit"] == 2.0
    assert row["peak_over_file_megabytes"] == 2.5
    assert row["core_share"] == 0.5
    assert "a form" in render([row])
