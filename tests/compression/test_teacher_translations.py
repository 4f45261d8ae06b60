"""Sequence-level distillation: stages trained on translations by the uncompressed model, also of plain text."""

import dataclasses
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

import pocketmt.compression.stage as stage_module
import pocketmt.training.translations as translations
from pocketmt.compression.planning import make_plan
from pocketmt.compression.teacher_translations import Teacher
from pocketmt.compression.texts import Texts, parallel_text, with_translations
from pocketmt.decoding.decoder import Decoder
from pocketmt.engine import devices
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.models.inputs import PADDING
from pocketmt.models.networks import make_network
from pocketmt.packing.model_source import start_engine
from pocketmt.recipes.schema import Recipe
from pocketmt.training.data import Batch
from pocketmt.training.objectives import TranslationObjective
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from pocketmt.training.validation import Validation
from tests.compression.tiny_run import assert_equal, compress, events, one_stage, write_tiny_run

UPDATES: dict[str, Any] = {"method": "straight_through", "updates": 4, "validate_every": 2, "checkpoint_every": 1}
REFERENCES = one_stage("logarithmic", 4, **UPDATES)
SEQUENCES = one_stage("logarithmic", 4, **UPDATES, objective="sequence_distillation")
BOTH = one_stage("logarithmic", 4, **UPDATES, objective="word_and_sequence_distillation")


@pytest.fixture
def short_translations() -> None:
    """Here, the reference search has the same limits as the engine."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def model(run: Path) -> TrainedModel:
    """A model whose translations are all kept; as it is untrained, they have the maximum length."""
    model = read_trained_model(run)
    assert model.configuration is not None
    data = msgspec.structs.replace(model.configuration.data, maximum_ratio=1e6)
    return dataclasses.replace(model, configuration=msgspec.structs.replace(model.configuration, data=data))


@pytest.fixture
def plain_text(tmp_path: Path) -> Path:
    """Thirty lines with enough words to keep the longest translation."""
    path = tmp_path / "plain.en"
    words = ["red", "blue", "cat", "dog", "house", "tree", "green"]
    lines = [" ".join(words[index * (3 + place) % 7] for place in range(9)) for index in range(30)]
    path.write_text("".join(line + "\n" for line in lines))
    return path


def texts_of(model: TrainedModel, recipe: Recipe, folder: Path, source_text: Path | None = None) -> Texts:
    plan = make_plan(recipe, model.architecture)
    corpus = parallel_text(model, plan, source_text)
    return with_translations(corpus, plan, source_text, teacher_of(model, folder))


def teacher_of(model: TrainedModel, folder: Path) -> Teacher:
    engine = partial(start_engine, model)
    return Teacher(model.digest, model.vocabularies, model.configuration, engine, folder, lambda done, total: None)


def test_the_teacher_translates_as_the_reference_search_does(model: TrainedModel, tmp_path: Path) -> None:
    texts = texts_of(model, SEQUENCES, tmp_path / "work")
    assert texts.corpus is not None and texts.translations is not None
    network = make_network(model.architecture)
    network.load_state_dict(model.weights)
    sources = [source for source, _ in texts.translations.validation]
    assert sources == [source for source, _ in texts.corpus.validation]
    vocabulary = texts.corpus.vocabularies.source
    wanted = [vocabulary.encode(vocabulary.decode(output)) for output in Decoder([network]).best(sources[:4], 4)]
    assert [target for _, target in texts.translations.validation[:4]] == wanted


def test_plain_text_is_added_to_the_training_text(model: TrainedModel, plain_text: Path, tmp_path: Path) -> None:
    alone = texts_of(model, SEQUENCES, tmp_path / "alone").translations
    both = texts_of(model, SEQUENCES, tmp_path / "both", plain_text).translations
    assert alone is not None and both is not None
    assert len(alone.training) == 60
    assert both.training[:60] == alone.training and len(both.training) == 90
    assert both.validation == alone.validation


def test_each_stage_is_trained_on_the_text_of_its_objective(
    model: TrainedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    loss = TranslationObjective.__call__
    texts = texts_of(model, SEQUENCES, tmp_path / "texts")
    assert texts.corpus is not None and texts.translations is not None
    own = {len(target) + 1 for _, target in texts.translations.training}
    assert own.isdisjoint(len(target) + 1 for _, target in texts.corpus.training)

    def watching(objective: TranslationObjective, batch: Batch) -> Any:
        lengths = {sum(token != PADDING for token in target) for target in batch.targets.tolist()}
        seen.append((lengths <= own, objective.teacher is not None))
        return loss(objective, batch)

    monkeypatch.setattr(TranslationObjective, "__call__", watching)
    later = [without_quantize(each) for each in (SEQUENCES, BOTH)]
    compress(model, Recipe(name="three", stages=[*REFERENCES.stages, *later]), tmp_path / "work")
    assert seen == [(False, False)] * 4 + [(True, False)] * 4 + [(True, True)] * 4


def without_quantize(recipe: Recipe) -> Any:
    return msgspec.structs.replace(recipe.stages[0], quantize=[])


def test_the_validation_with_the_lowest_loss_on_translations_is_kept(
    model: TrainedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([5.0, 4.0, 4.5])
    monkeypatch.setattr(stage_module, "validate", lambda *arguments: Validation(1.0, 0.0))
    monkeypatch.setattr(stage_module, "validation_loss", lambda *arguments: next(losses))
    result, _ = compress(model, SEQUENCES, tmp_path / "work")
    assert result.scores["update"] == 2
    assert (result.scores["distillation_loss"], result.scores["loss"]) == (4.0, 1.0)


def test_the_student_learns_the_teachers_translations(model: TrainedModel, tmp_path: Path) -> None:
    result, _ = compress(model, SEQUENCES, tmp_path / "work")
    losses = [event["distillation_loss"] for event in events(tmp_path / "work") if event["event"] == "validation"]
    assert result.scores["update"] == 4
    assert losses[2] < losses[0]


def test_a_run_stopped_while_it_translates_resumes_to_the_same_result(
    model: TrainedModel, plain_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translations, "LINES", 25)
    monkeypatch.setattr(devices, "LINES_AT_ONCE", 25)
    whole, _ = compress(model, BOTH, tmp_path / "whole", plain_text)
    translate, calls = Teacher._translate, 0

    def stopping(teacher: Teacher, lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return translate(teacher, lines, references)

    monkeypatch.setattr(Teacher, "_translate", stopping)
    with pytest.raises(KeyboardInterrupt):
        compress(model, BOTH, tmp_path / "stopped", plain_text)
    resumed, _ = compress(model, BOTH, tmp_path / "stopped", plain_text)
    assert calls == 3 + 1 + 2 + 1  # the rest of the training text, plain text, validation text
    assert_equal(whole, resumed)
    assert_equal(whole, compress(model, BOTH, tmp_path / "stopped", plain_text)[0])
    assert calls == 7


def test_a_folder_with_another_plain_text_is_refused(model: TrainedModel, plain_text: Path, tmp_path: Path) -> None:
    compress(model, SEQUENCES, tmp_path / "work", plain_text)
    plain_text.write_text("red cat\n" * 5)
    for text in (plain_text, None):
        with pytest.raises(ConfigurationError, match="with another source text"):
            compress(model, SEQUENCES, tmp_path / "work", text)


@pytest.mark.parametrize("recipe", [REFERENCES, BOTH], ids=["references", "word and sequence"])
def test_a_model_without_parallel_text_is_compressed_by_plain_text(
    run: Path, plain_text: Path, tmp_path: Path, recipe: Recipe
) -> None:
    bare = tmp_path / "run"
    shutil.copytree(run, bare)
    (bare / "configuration.json").unlink()
    model = read_trained_model(bare)
    with pytest.raises(DataError, match="give plain text with --source-text"):
        compress(model, recipe, tmp_path / "work")
    result, _ = compress(model, recipe, tmp_path / "work", plain_text)
    assert result.scores["update"] == 4 and result.scores["loss"] > 0
    corpus = texts_of(model, recipe, tmp_path / "texts", plain_text).corpus
    assert corpus is not None
    assert (len(corpus.training), len(corpus.validation)) == (27, 3)
    everything = [*corpus.training, *corpus.validation]
    assert sorted(everything) == sorted(pairs_of(model, plain_text, tmp_path / "texts"))


def pairs_of(model: TrainedModel, text: Path, folder: Path) -> list[Any]:
    return teacher_of(model, folder).pairs(text, "source-text")


@pytest.mark.parametrize("lines", ["", "\n \n\n", "red cat dog house tree\n"])
def test_too_little_plain_text_is_refused(run: Path, tmp_path: Path, lines: str) -> None:
    model = dataclasses.replace(read_trained_model(run), configuration=None)
    (tmp_path / "plain.en").write_text(lines)
    with pytest.raises(DataError, match=r"plain\.en: (every line is empty|at least two lines)"):
        compress(model, SEQUENCES, tmp_path / "work", tmp_path / "plain.en")


def test_translations_that_are_all_too_long_are_the_fault_of_the_model(model: TrainedModel, tmp_path: Path) -> None:
    assert model.configuration is not None
    data = msgspec.structs.replace(model.configuration.data, maximum_length=8)
    untrained = dataclasses.replace(model, configuration=msgspec.structs.replace(model.configuration, data=data))
    (tmp_path / "plain.en").write_text("red cat\nblue dog\n")
    with pytest.raises(DataError, match=r"plain\.en: none .*: those of the model are .* too long: train it longer, or"):
        pairs_of(untrained, tmp_path / "plain.en", tmp_path / "work")


def test_plain_text_that_no_stage_uses_is_refused(model: TrainedModel, plain_text: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"plain\.en: no stage of the recipe has the objective sequence"):
        compress(model, REFERENCES, tmp_path / "work", plain_text)
    with pytest.raises(DataError, match=r"missing\.en: cannot be read"):
        compress(model, SEQUENCES, tmp_path / "work", tmp_path / "missing.en")
    assert not (tmp_path / "work").exists()
