"""The benchmark of stored forms: all recipes have one, and files have their form. No time is asserted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.peer.models import random_sources
from benchmarks.recipe_files import find_recipe, recipe_names
from benchmarks.schemes.files import FileMaker
from benchmarks.schemes.forms import EIGHT_BIT, Form, every_form
from benchmarks.schemes.record import render, row_of
from pocketmt.compression.plan import row_groups
from pocketmt.compression.planning import make_plan
from pocketmt.engine import Translator
from pocketmt.model_file import open_model
from pocketmt.model_file.activations.activation_quantization import (
    StoredLogarithmicActivations,
    StoredStaticActivations,
)
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.reference.network import load_reference
from pocketmt.text.vocabulary import BOS, EOS

TINY = preset("tiny", 320)
FORMS = {form.name: form for form in every_form(TINY)}


# For their scores alone: they quantize operations that no model file holds.
WITHOUT_FILE = ["prato/8bit-naive", "aji/log4-every-dot-product", "aji/log4-every-dot-product-scale-4"]
FULLY_QUANTIZED = {bits: f"affine, {bits} bit, fully quantized" for bits in (8, 6, 4)}
STATIC_SCALES = "uniform, 8 bit, static scales"
LOG_PRODUCTS = "aji/log4-dot-products"


def test_every_recipe_that_quantizes_and_has_a_file_has_one_form() -> None:
    named = [name for form in FORMS.values() for name in form.recipes]
    quantizing = [name for name in recipe_names() if make_plan(find_recipe(name), TINY).stages[-1].matrices]
    assert sorted([*named, *WITHOUT_FILE]) == sorted(quantizing)
    assert next(iter(FORMS)) == EIGHT_BIT
    assert "8bit" in FORMS[EIGHT_BIT].recipes
    assert FORMS["mixed-2.6-bits-distilled"].recipes == ["mixed-2.6-bits-distilled", "chung/mixed-2.6-bits"]


def test_recipes_that_quantize_activations_alike_share_a_form_that_others_do_not_have() -> None:
    assert "prato/8bit-weights-only" in FORMS["affine, 8 bit"].recipes
    fully_quantized = {"prato/8bit", "prato/8bit-after-training", "prato/8bit-without-gradient-clipping"}
    assert fully_quantized <= set(FORMS[FULLY_QUANTIZED[8]].recipes)
    assert FORMS[FULLY_QUANTIZED[6]].recipes == ["prato/6bit", "prato/6bit-after-training"]
    assert FORMS[FULLY_QUANTIZED[4]].recipes == ["prato/4bit"]
    assert FORMS["prato/8bit-without-buckets"].recipes == ["prato/8bit-without-buckets"]
    assert {"8bit-static", "behnke/8bit-static-fine-tuned"} <= set(FORMS[STATIC_SCALES].recipes)
    assert FORMS[LOG_PRODUCTS].recipes == [LOG_PRODUCTS, "aji/log4-dot-products-scale-4"]


@pytest.fixture(scope="module")
def maker() -> FileMaker:
    return FileMaker(TINY, seed=1)


@pytest.mark.parametrize(
    "name",
    [
        "affine, 6 bit",
        "binary, 3 bit",
        "chung/mixed-2.2-bits",
        "cheong/binarization-attention-flexible",
        "aji/log4-biases/after-training",  # stacks of vectors, too
    ],
)
def test_a_file_has_its_form_and_translates(tmp_path: Path, maker: FileMaker, name: str) -> None:
    path, form = tmp_path / "form.pocketmt", FORMS[name]
    maker.write(form, path)
    counts = {"embedding.weight": range(TINY.vocabulary_size)}
    groups = row_groups(form.assignments, make_network(TINY).state_dict(), counts)
    with open_model(path) as file:
        assert set(file.matrices) == set(groups)
        for matrix, each in groups.items():
            assert [group.form.bits for group in file.matrices[matrix]] == [group.scheme.bits for group in each]
        assert (file.activation_ranges, file.activation_quantization) == (None, None)
    assert_translates(path)


def assert_translates(path: Path) -> None:
    (words,) = Translator(path).translate_ids([[7, 8, 9]], min_length=6, max_length=6)
    assert len(words) in (5, 6)  # the last may be eos


@pytest.mark.parametrize(
    ("name", "bits", "buckets"),
    [*((FULLY_QUANTIZED[b], b, True) for b in (8, 6, 4)), ("prato/8bit-without-buckets", 8, False)],
)
def test_a_fully_quantized_file_has_its_form_and_translates(
    tmp_path: Path, maker: FileMaker, name: str, bits: int, buckets: bool
) -> None:
    path = tmp_path / "form.pocketmt"
    maker.write(FORMS[name], path)
    with open_model(path) as file:
        assert file.activation_quantization is None and file.activation_ranges is not None
        assert (file.activation_ranges.bits, bool(file.activation_ranges.bucketed)) == (bits, buckets)
    assert_translates(path)


@pytest.mark.parametrize(
    ("name", "products"), [(STATIC_SCALES, StoredStaticActivations), (LOG_PRODUCTS, StoredLogarithmicActivations)]
)
def test_a_file_with_quantized_products_has_its_form_and_translates(
    tmp_path: Path, maker: FileMaker, name: str, products: type
) -> None:
    path = tmp_path / "form.pocketmt"
    maker.write(FORMS[name], path)
    with open_model(path) as file:
        assert file.activation_ranges is None and isinstance(file.activation_quantization, products)
    assert_translates(path)


@pytest.mark.parametrize(
    ("name", "weights_alone", "least"),
    [
        (FULLY_QUANTIZED[8], "affine, 8 bit", 0.99),
        (FULLY_QUANTIZED[4], "affine, 4 bit", 0.95),
        (STATIC_SCALES, EIGHT_BIT, 0.995),
    ],
)
def test_ranges_and_scales_are_those_of_the_network(
    tmp_path: Path, maker: FileMaker, name: str, weights_alone: str, least: float
) -> None:
    """With those of other weights its logits would correlate less: by 0.14, 0.10 and 0.98."""
    path = tmp_path / "form.pocketmt"
    source, target = random_sources(TINY.vocabulary_size, 2, seed=99)
    logits = []
    for each in (name, weights_alone):
        maker.write(FORMS[each], path)
        with torch.no_grad():
            found = load_reference(path)(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target]]))
        logits.append(found.numpy().ravel())
    assert least < np.corrcoef(*logits)[0, 1] < 1


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
        "engine": {"instruction_set": "avx2"},
    }


def test_a_row_compares_round_by_round() -> None:
    form = Form("a form", recipes=["a recipe"])
    row = row_of(form, measurement([4.0, 6.0, 9.0], 7), measurement([2.0, 6.0, 3.0], 3_500_000))
    assert (row["lowest_times_8_bit"], row["times_8_bit"], row["highest_times_8_bit"]) == (1.0, 2.0, 3.0)
    assert row["fastest_times_8_bit"] == 2.0
    assert row["peak_over_file_megabytes"] == 2.5
    assert row["core_share"] == 0.5
    assert "a form" in render([row])
