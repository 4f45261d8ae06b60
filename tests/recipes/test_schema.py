"""Errors in recipes are reported with their place and the allowed values, before any work starts."""

import re
from pathlib import Path

import msgspec
import pytest

from pocketmt.compression.planning import make_plan
from pocketmt.errors import ConfigurationError
from pocketmt.recipes.schema import Periodic, Recipe, change_retraining, limit_updates, read_recipe
from pocketmt.training.schedule import stage_rate
from tests.small_network import architecture

RECIPE = """
name = "a test"
[[stages]]
[[stages.quantize]]
matrices = ["embedding"]
scheme = "binary"
bits = 3
[stages.retraining]
method = "periodic"
period = 5
updates = 10
learning_rate = { rate = 1e-3 }
[[stages]]
[[stages.quantize]]
matrices = ["encoder.*"]
scheme = "logarithmic"
bits = 4
granularity = "row"
[[stages.quantize]]
matrices = ["decoder.self_attention", "decoder.cross_attention"]
scheme = "codebook"
bits = 4
"""


def planned(path: Path, text: str) -> None:
    path.write_text(text)
    make_plan(read_recipe(path), architecture())


def test_the_recipe_of_these_tests_is_valid(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    first, second = make_plan(read_recipe(tmp_path / "recipe.toml"), architecture()).stages
    assert set(first.matrices) == {"embedding.weight"}
    assert len(second.matrices) == 1 + 2 * 4 + 2 + 3
    assert second.matrices["embedding.weight"].schemes[0].bits == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bits = 3", "bits = 9", "recipe.toml: stages[0].quantize[0].bits: expected `int` <= 8"),
        ("bits = 3", "bits = 0", "recipe.toml: stages[0].quantize[0].bits: expected `int` >= 1"),
        ("bits = 3", "bits = 8", "stages[0].quantize[0]: binary: bits is 8, expected one of 1, 2, 3, 4"),
        ("bits = 3", "bit = 3", "stages[0].quantize[0]: unknown field `bit` (allowed: matrices, "),
        (
            '"binary"',
            '"binery"',
            "stages[0].quantize[0]: unknown scheme 'binery': choose one of uniform, uniform7, affine, ",
        ),
        (
            '"row"',
            '"column"',
            "stages[1].quantize[0].granularity: invalid value 'column' (allowed: 'matrix', 'row')",
        ),
        (
            '"row"',
            '"row"\noptions = { scale = "best" }',
            "stages[1].quantize[0]: logarithmic: scale is 'best', expected",
        ),
        ('"row"', '"row"\noptions = { bits = 3 }', "bits belongs next to `scheme`"),
        (
            '"embedding"',
            '"embeding"',
            "stages[0].quantize[0].matrices: 'embeding' matches no matrix of the network: give",
        ),
        ('["embedding"]', "[]", "stages[0].quantize[0].matrices: expected `array` of length >= 1"),
        ('"encoder.*"', '"*"', "embedding.weight already has a scheme from stages[0].quantize[0]"),
        (
            '"encoder.*"',
            '"*attention*"',
            "stages[1].quantize[1]: decoder.layers.0.self_attention.query_key_value.weight",
        ),
        ('"row"', '"row"\nfrequency_ratio = 2', "stages[1].quantize[0].frequency_ratio: only the embedding's rows"),
        ('"row"', '"row"\nfrequency_ratio = 0', "stages[1].quantize[0].frequency_ratio: expected `int` >= 1"),
        (
            '"periodic"',
            '"sometimes"',
            "retraining.method: invalid value 'sometimes' (allowed: 'none', 'straight_through",
        ),
        ('"periodic"\nperiod = 5', '"none"', "stages[0].retraining: method 'none' trains in full precision, but embed"),
        (
            '"binary"\nbits = 3\n[stages.retraining]\nmethod = "periodic"\nperiod = 5',
            '"logarithmic"\nbits = 3\n[stages.retraining]\nmethod = "trained_parameters"',
            "embedding.weight (stages[0].quantize[0]): the scheme logarithmic has no parameters to train",
        ),
        (
            '"binary"\nbits = 3\n[stages.retraining]\nmethod = "periodic"\nperiod = 5',
            '"entropy_constrained"\nbits = 3\n[stages.retraining]\nmethod = "trained_parameters"',
            "embedding.weight (stages[0].quantize[0]): the scheme entropy_constrained has no parameters to train",
        ),
        ("period = 5", "", "stages[0].retraining: the field `period` is missing: add it"),
        (
            "rate = 1e-3",
            'rate = 1e-3, schedule = "cosine"',
            "recipe.toml: stages[0].retraining.learning_rate.schedule: invalid value 'cosine' (allowed: 'constant', ",
        ),
        ("updates = 10", "updates = 10\nobjective = 3", "retraining.objective: invalid value 3 (allowed: 'mixed', "),
        ("rate = 1e-3", "rate = 0.0", "stages[0].retraining.learning_rate.rate: expected `float` > 0.0"),
        ("rate = 1e-3", "rate = nan", "stages[0].retraining.learning_rate.rate: expected `float` > 0.0"),
        ("rate = 1e-3", "rate = inf", "stages[0].retraining.learning_rate.rate: expected `float` <= 1e+30"),
        ("updates = 10", "updates = 0", "stages[0].retraining.updates: expected `int` >= 1"),
        (
            "updates = 10",
            "updates = 10\ncross_entropy_weight = 0.3",
            "cross_entropy_weight has no effect with the objec",
        ),
        (
            "updates = 10",
            'updates = 10\nobjective = "word_distillation"\nlabel_smoothing = 0.2',
            "label_smoothing has no effect with the objective 'word_distillation'",
        ),
        ("period = 5", "period = 11", "stages[0].retraining: period (11) is larger than updates (10)"),
        (
            '"periodic"\nperiod = 5',
            '"straight_through"\nparameters = "fixed"\nrefit_every = 2',
            "refit_every has no effect with fixed parameters",
        ),
        (
            "rate = 1e-3",
            'rate = 1e-3, schedule = "linear", warmup_updates = 10',
            "learning_rate.warmup_updates (10) leaves none of 10 updates for the decay",
        ),
        (
            "rate = 1e-3",
            'rate = 1e-3, schedule = "linear", constant_updates = 20',
            "learning_rate.constant_updates (20) leaves none of 10 updates for the decay",
        ),
        ("rate = 1e-3", "rate = 1e-3, constant_updates = 5", "constant_updates has no effect with the schedule 'const"),
        ("bits = 3", "bits = 1\nfrequency_ratio = 2", "quantize[0]: `frequency_ratio` has no effect with 1 bit"),
        (
            '"binary"\nbits = 3',
            '"uniform"\nbits = 8\nfrequency_ratio = 2',
            "stages[0].quantize[0]: frequency_ratio needs a scheme that has 8, 7, 6, 5, 4, 3, 2, 1 bits, and uniform "
            "does not have 7: choose binary",
        ),
        (
            "bits = 3",
            'bits = 3\nfrequency_ratio = 2\ngranularity = "matrix"',
            "stages[0].quantize[0]: binary: granularity is 'matrix', expected",
        ),
        (
            '"logarithmic"\nbits = 4\ngranularity = "row"',
            '"uniform"\nbits = 8\ngranularity = "matrix"\noptions = { scales = "float32" }',
            "stages[1].quantize[0]: uniform: scales has no effect with the granularity 'matrix'",
        ),
        ('name = "a test"', "", "recipe.toml: the field `name` is missing: add it"),
        ('"a test"', '"a test"\nstage = 1', "unknown field `stage` (allowed: name, stages, paper, description, seed, "),
        ("[[stages]]", "[[stages", "recipe.toml: "),
    ],
)
def test_errors_are_reported_with_their_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in RECIPE
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        planned(tmp_path / "recipe.toml", RECIPE.replace(old, new, 1))


def test_a_stage_that_does_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"stages\[1\]: it neither prunes, quantizes nor retrains"):
        recipe = {
            "name": "x",
            "stages": [{"quantize": [{"matrices": ["*"], "scheme": "uniform", "bits": 8}]}, {"name": "nothing"}],
        }
        make_plan(msgspec.convert(recipe, Recipe), architecture())


def test_a_method_without_a_matrix_is_refused() -> None:
    retraining = {"method": "error_feedback", "updates": 1, "learning_rate": {"rate": 1.0}}
    with pytest.raises(ConfigurationError, match="nothing is quantized"):
        make_plan(msgspec.convert({"name": "x", "stages": [{"retraining": retraining}]}, Recipe), architecture())


def test_updates_are_limited_and_the_rest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    recipe = read_recipe(tmp_path / "recipe.toml")
    limited = limit_updates(recipe, 4)
    assert isinstance(limited.stages[0].retraining, Periodic)
    assert limited.stages[0].retraining.updates == 4
    assert limit_updates(limited, 100) == limited
    assert limited.stages[1] == recipe.stages[1]


@pytest.mark.parametrize("most", [1, 3, 7, 19])
@pytest.mark.parametrize("schedule", ["linear", "inverse_square_root"])
def test_periods_and_warm_ups_that_do_not_fit_into_the_limit_keep_their_share(
    tmp_path: Path, most: int, schedule: str
) -> None:
    rate = f'rate = 1e-3, schedule = "{schedule}", warmup_updates = 4, constant_updates = 8'
    (tmp_path / "recipe.toml").write_text(RECIPE.replace("rate = 1e-3", rate).replace("updates = 10", "updates = 20"))
    retraining = limit_updates(read_recipe(tmp_path / "recipe.toml"), most).stages[0].retraining
    assert isinstance(retraining, Periodic)
    warmup_updates = {1: 0, 3: 4 * 3 // 20, 7: 4, 19: 4}[most]
    assert (retraining.period, retraining.refit_every) == ({1: 1, 3: 1, 7: 5, 19: 5}[most], 1)
    assert retraining.learning_rate.warmup_updates == warmup_updates
    assert retraining.learning_rate.constant_updates == (8 if most == 19 else 8 * most // 20)
    # As `read_recipe` demands.
    assert retraining.period <= most and max(warmup_updates, retraining.learning_rate.constant_updates) < most


def test_the_warm_up_of_a_constant_rate_ends_within_the_limit(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE.replace("rate = 1e-3", "rate = 1e-3, warmup_updates = 6"))
    limited = limit_updates(read_recipe(tmp_path / "recipe.toml"), 5).stages[0].retraining
    assert isinstance(limited, Periodic)
    assert limited.learning_rate.schedule == "constant" and limited.learning_rate.warmup_updates == 3


def test_every_update_is_in_the_precision_that_is_set(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    recipe = read_recipe(tmp_path / "recipe.toml")
    mixed = change_retraining(recipe, precision="bfloat16-mixed")
    assert isinstance(mixed.stages[0].retraining, Periodic)
    assert mixed.stages[0].retraining.precision == "bfloat16-mixed"
    assert change_retraining(mixed, precision="float32") == recipe


def test_mixed_precision_with_quantized_activations_is_refused() -> None:
    retraining = {"method": "straight_through", "updates": 1, "learning_rate": {"rate": 1.0}}
    stage = {
        "quantize": [{"matrices": ["*"], "scheme": "logarithmic", "bits": 4}],
        "matrix_inputs": {"scheme": "logarithmic", "bits": 4},
        "retraining": {**retraining, "precision": "bfloat16-mixed"},
    }
    with pytest.raises(ConfigurationError, match=r"stages\[0\].retraining.precision.*choose float32"):
        make_plan(msgspec.convert({"name": "x", "stages": [stage]}, Recipe), architecture())
    stage["retraining"] = retraining
    make_plan(msgspec.convert({"name": "x", "stages": [stage]}, Recipe), architecture())


def test_rates_by_hand() -> None:
    # Chung et al. 2020, eq. 3, with c_lr = 3, d = 400 and steps_peak = 900: 3 / 20 / 30 = 0.005, a half at 3,600.
    eq3 = [stage_rate("inverse_square_root", update, 9999, 0.005, 0, 900) for update in (1, 900, 3600)]
    assert eq3 == pytest.approx([0.005, 0.005, 0.0025])
    assert [stage_rate("constant", update, 99, 1.0, 4, 0) for update in (1, 2, 4, 99)] == [0.25, 0.5, 1.0, 1.0]
    linear = [stage_rate("linear", update, 10, 1.0, 2, 3) for update in range(1, 11)]
    assert linear == pytest.approx([0.5, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8])
    assert stage_rate("linear", 1, 1, 1.0, 0, 0) == 1.0
