"""Equal controls have the updates, rates and text of a recipe, and quantize nothing."""

import pytest

from benchmarks.multi30k.controls import comparable, equal_control
from benchmarks.recipe_files import find_recipe
from pocketmt.compression.planning import make_plan
from pocketmt.models.presets import preset
from pocketmt.recipes.schema import FullPrecision, Periodic, StraightThrough, limit_updates


def test_a_control_trains_as_its_recipe_does_in_full_precision() -> None:
    recipe = comparable(limit_updates(find_recipe("chung/mixed-2.6-bits"), 70))
    control = equal_control(recipe)
    assert control is not None
    plan = make_plan(control, preset("tiny", 100))
    assert [stage.updates for stage in plan.stages] == [70, 70, 70] and not plan.stages[-1].matrices
    for stage, of_recipe in zip(control.stages, recipe.stages, strict=True):
        assert isinstance(stage.retraining, FullPrecision) and not stage.retraining.keep_start
        assert isinstance(of_recipe.retraining, Periodic)
        assert stage.retraining.learning_rate == of_recipe.retraining.learning_rate


def test_recipes_with_the_same_retraining_share_their_control() -> None:
    names = ("aji/log4-error-feedback", "prato/8bit", "aji/log2-error-feedback")
    first, *others = [equal_control(find_recipe(name)) for name in names]
    assert first is not None and others == [first, first]  # in all, so that a later call resumes it
    continued = find_recipe("fp32-continued")
    assert equal_control(find_recipe("prato/8bit"), [continued]) is continued
    assert equal_control(limit_updates(find_recipe("prato/8bit"), 10), [continued]) is not continued
    assert equal_control(find_recipe("prato/8bit-after-training")) is None


@pytest.mark.parametrize(
    ("name", "objective", "learnt"),
    [
        ("log4-distilled", "word_distillation", "references"),
        ("log4-word-and-sequence-distilled", "word_and_sequence_distillation", "sequence_distillation"),
    ],
)
def test_the_control_of_a_distilled_network_learns_from_text(name: str, objective: str, learnt: str) -> None:
    recipe = find_recipe(name)
    control = equal_control(recipe)
    assert control is not None
    (stage,), (of_recipe,) = control.stages, recipe.stages
    assert isinstance(stage.retraining, FullPrecision) and isinstance(of_recipe.retraining, StraightThrough)
    assert (of_recipe.retraining.objective, of_recipe.retraining.dropout_scale) == (objective, 0)
    assert (stage.retraining.objective, stage.retraining.dropout_scale) == (learnt, 1)
    assert stage.retraining.learning_rate == of_recipe.retraining.learning_rate


def test_translations_of_a_teacher_are_text_of_the_control_too() -> None:
    control = equal_control(find_recipe("log4-sequence-distilled"))
    assert control is not None and isinstance(control.stages[0].retraining, FullPrecision)
    assert control.stages[0].retraining.objective == "sequence_distillation"
