"""Files keep a target size, also with entropy coding, whose codes may grow in retraining."""

from bisect import bisect_left
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import pocketmt.compression.choosing.allocation as allocation
import pocketmt.compression.choosing.target as target_module
import pocketmt.compression.texts as texts
from benchmarks.recipe_files import find_recipe
from pocketmt.compression.choosing.allocation import (
    Choices,
    Target,
    default_retraining,
    recipe_of_loss,
    recipe_of_size,
)
from pocketmt.compression.choosing.budget import Choice, least_loss_increase
from pocketmt.compression.choosing.sensitivity import validation_text
from pocketmt.compression.choosing.target import compress_run_to
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.model_file.writer import OversizedError
from pocketmt.packing.model_source import start_engine
from pocketmt.packing.run import pack_run
from pocketmt.recipes.schema import Quantize, Recipe, Stage
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from tests.compression.tiny_run import one_stage, write_tiny_run
from tests.model_file import sample


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"), dimension=64)


@pytest.fixture(scope="module")
def choices(tiny_run: Path) -> Choices:
    model = read_trained_model(tiny_run)
    return Choices(model, partial(validation_text, model), lambda done, total: None, entropy_coding=True)


def test_counted_bytes_are_those_of_the_file(choices: Choices, tiny_run: Path, tmp_path: Path) -> None:
    # Without retraining the codes are those that were counted: only the manifest may differ.
    sizes = []
    for size in range(20_000, 32_000, 3_000):
        recipe = recipe_of_size(choices, "a test", size, None)
        file = tmp_path / "model.pocketmt"
        sizes.append(
            compress_run(
                CompressionTask(run=tiny_run, folder=tmp_path / str(size), entropy_coding=True, maximum_size=size),
                recipe,
                file,
            )
        )
    assert len(set(sizes)) == len(sizes)


def test_entropy_coding_lowers_the_loss_increase_at_equal_size(choices: Choices) -> None:
    plain = Choices(choices.model, lambda: choices.corpus, lambda done, total: None)
    increases = [
        [least_loss_increase(each.parts, size).loss_increase for size in range(14_000, 30_000, 1_000)]
        for each in (choices, plain)
    ]
    assert all(coded <= whole for coded, whole in zip(*increases, strict=True))
    assert increases[0] != increases[1]


class InteractingParts(Choices):
    """Choices of two parts that together raise the loss three times as much as the sum of their rises."""

    def __init__(self) -> None:
        sizes = {8: 0.001, 4: 0.01, 2: 0.02, 1: 0.1}
        self.entries = {}
        self.parts = {
            part: [Choice(f"{bits} bit", bits, increase) for bits, increase in sizes.items()] for part in ("a", "b")
        }

    def loss_increase(self, recipe: Recipe) -> float:
        names = [each.split(" ", 1) for each in recipe.description.split(", ")]
        return 3 * sum(each.loss_increase for part, name in names for each in self.parts[part] if each.name == name)


@pytest.mark.parametrize(
    ("tolerated", "chosen"), [(1.0, "a 1 bit, b 1 bit"), (0.1, "a 4 bit, b 4 bit"), (0.01, "a 8 bit, b 8 bit")]
)
def test_the_loss_of_the_whole_network_is_within_the_tolerated_increase(tolerated: float, chosen: str) -> None:
    choices = InteractingParts()
    found = recipe_of_loss(choices, "a test", tolerated, None)
    assert choices.loss_increase(found) <= tolerated
    assert found.description == chosen


class PartsThatMustNotBothBeCoarse(Choices):
    """Choices of two parts that together raise the loss far more than the sum of their rises."""

    def __init__(self) -> None:
        self.entries = {}
        self.parts = {
            part: [Choice("8 bit", 8, 0.0001), Choice("4 bit", 4, increase)]
            for part, increase in (("a", 0.008), ("b", 0.009))
        }

    def loss_increase(self, recipe: Recipe) -> float:
        return {0: 0.0002, 1: 0.012, 2: 0.045}[recipe.description.count("4 bit")]


@pytest.mark.parametrize(("tolerated", "chosen"), [(0.02, "a 4 bit, b 8 bit"), (0.0003, "a 8 bit, b 8 bit")])
def test_a_recipe_is_found_where_the_excess_is_more_than_the_estimate(tolerated: float, chosen: str) -> None:
    assert recipe_of_loss(PartsThatMustNotBothBeCoarse(), "a test", tolerated, None).description == chosen


@pytest.mark.parametrize("tolerated", [0.0001, -1.0])
def test_an_increase_below_that_of_the_most_precise_file_is_named(tolerated: float) -> None:
    message = rf"at most {tolerated:g} nats a token was found, and the most precise one raises it by 0\.0002: tolerate"
    with pytest.raises(ConfigurationError, match=message):
        recipe_of_loss(PartsThatMustNotBothBeCoarse(), "a test", tolerated, None)


def test_some_bytes_are_reserved_for_codes_that_retraining_changes(
    choices: Choices, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fits(size: int) -> bool:
        try:
            recipe_of_size(choices, "a test", size, default_retraining(1))
        except ConfigurationError:
            return False
        return True

    with monkeypatch.context() as without:
        without.setattr(allocation, "_RESERVE", 0.0)
        sizes = range(8_000, 25_000, 100)
        size = sizes[bisect_left(sizes, True, key=fits)]
    assert not fits(size)
    assert fits(size + size // 50)


def test_a_file_that_became_too_large_is_made_again_for_fewer_bytes(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The estimate is too low, as if codes compressed worse after retraining.
    monkeypatch.setattr(allocation, "_RESERVE", -0.15)
    file = tmp_path / "model.pocketmt"
    chosen: list[Recipe] = []
    warnings: list[str] = []
    target = Target(size=30_000, updates=2, entropy_coding=True)
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work", warn=warnings.append)
    size = compress_run_to(target, task, file, chosen=chosen.append)
    assert len(warnings) == len(chosen) - 1
    assert "bytes instead of 30,000: a recipe for" in warnings[0]
    assert size == file.stat().st_size <= 30_000
    assert len(chosen) > 1
    with open_model(file) as model:
        assert model.manifest["recipe"]["name"] == chosen[-1].name  # type: ignore[index]
    assert (tmp_path / "work" / "smaller" / "compression.json").exists()


def test_the_text_is_translated_once_for_all_files(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipes = iter((8, 4))

    def choose(*arguments: Any) -> Recipe:
        make_corpus = arguments[4]
        assert len(make_corpus().training) == 2
        return one_stage("affine", next(recipes), method="straight_through", objective="sequence_distillation")

    monkeypatch.setattr(target_module, "choose_recipe", choose)
    model, text = tmp_path / "float.pocketmt", tmp_path / "plain.en"
    pack_run(tiny_run, "float32", model)
    # The untrained network never ends a translation: lines are long enough to keep their translations.
    text.write_text("".join(f"red cat {word} tree red cat {word} tree\n" for word in ("blue", "green", "dog")))
    started: list[Path] = []

    def start(model: TrainedModel, packed: Path, workers: int) -> Translator:
        started.append(packed)
        return start_engine(model, packed, workers)

    monkeypatch.setattr(texts, "start_engine", start)
    task = CompressionTask(run=model, folder=tmp_path / "work", source_text=text)
    compress_run_to(Target(size=60_000), task, tmp_path / "model.pocketmt")
    assert next(recipes, None) is None
    assert len(started) == 1
    assert not (tmp_path / "work" / "smaller" / "translations").exists()


def test_a_folder_of_another_recipe_is_refused_before_choices_are_scored(tiny_run: Path, tmp_path: Path) -> None:
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work")
    compress_run_to(Target(size=60_000), task, tmp_path / "first.pocketmt")
    scored: list[int] = []
    with pytest.raises(ConfigurationError, match="'size-60000-updates-0' there and 'size-50000-updates-0' here"):
        compress_run_to(
            Target(size=50_000), task, tmp_path / "second.pocketmt", scored=lambda done, total: scored.append(done)
        )
    assert not scored


def test_a_file_that_is_too_large_is_not_written(tiny_run: Path, tmp_path: Path, choices: Choices) -> None:
    file = tmp_path / "model.pocketmt"
    sample.write_sample(file)
    before = file.read_bytes()
    recipe = recipe_of_size(choices, "a test", 43_000, None)
    with pytest.raises(OversizedError, match="more than 20,000") as raised:
        compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "work", maximum_size=20_000), recipe, file)
    assert raised.value.size > 20_000
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.pocketmt", "work"]


def test_entropy_coding_shrinks_the_file_and_keeps_the_translations(tiny_run: Path, tmp_path: Path) -> None:
    recipe = find_recipe("aji/log4-after-training")
    plain, coded = tmp_path / "plain.pocketmt", tmp_path / "coded.pocketmt"
    compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "work"), recipe, plain)
    compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "work", entropy_coding=True), recipe, coded)
    assert coded.stat().st_size < plain.stat().st_size
    words = ["red cat", "blue dog tree", ""]
    assert Translator(coded).translate(words) == Translator(plain).translate(words)


def test_schemes_that_need_entropy_coding_are_coded_by_default(tiny_run: Path, tmp_path: Path) -> None:
    entry = Quantize(matrices=["encoder.*"], scheme="entropy_constrained", bits=4, options={"rate": 1.5})
    other = Quantize(matrices=["embedding", "decoder.*"], scheme="logarithmic", bits=4)
    recipe = Recipe(name="a test", stages=[Stage(quantize=[entry, other])])
    file = tmp_path / "model.pocketmt"
    compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "work"), recipe, file)
    with open_model(file) as model:
        coded = {name.removesuffix(".0.codes.deflate") for name in model.tensors if name.endswith(".deflate")}
        matrices = model.manifest["matrices"]
        assert isinstance(matrices, dict)
        assert coded == {name for name in matrices if name.startswith("encoder.")}


def test_vectors_are_quantized_if_the_target_requires_it(choices: Choices) -> None:
    recipe = recipe_of_size(choices, "a test", 24_000, None)
    assert [entry.vectors for entry in recipe.stages[-1].quantize] == [["*"]]
    assert all(not entry.vectors for entry in recipe.stages[0].quantize)
    whole, small = choices.parts["vectors"]
    numbers = sum(weight.numel() for weight in choices.model.weights.values() if weight.dim() == 1)
    assert whole.loss_increase == 0 and whole.size - small.size > 2 * numbers
