"""Students: training on real and synthetic text together, with a teacher's vocabulary, and by a teacher's words."""

import json
import re
from pathlib import Path

import pytest
import torch

from pocketmt.cli.main import run as run_command
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.recipes.any_model import open_teacher
from pocketmt.recipes.run_folder import pack_run
from pocketmt.training.checkpoints import load_weights
from pocketmt.training.configuration import Configuration, read_configuration
from pocketmt.training.data import load_corpus, make_batch, read_vocabulary
from pocketmt.training.loop import train
from pocketmt.training.objectives import drop_padding, output_cross_entropy, output_divergence, taught_loss
from tests.models.test_transformer import small
from tests.recipes.tiny_run import write_tiny_run

DATA = """[data]
source_language = "en"
target_language = "up"
training_source = {source}
training_target = {target}
validation_source = "dev.en"
validation_target = "dev.up"
{data}
[model]
model_dimension = 16
feed_forward_dimension = 24
attention_heads = 2
attention_dimension = 16
encoder_layers = 1
decoder_layers = 1
dropout = 0.0
[training]
seed = 3
threads = 1
batch_tokens = 96
maximum_updates = 4
warmup_updates = 2
validate_every = 2
checkpoint_every = 1
averaged_checkpoints = 1
accelerator = "cpu"
{training}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A teacher's run in `run`, its text train.* and dev.* beside it, and synthetic text more.*."""
    write_tiny_run(tmp_path)
    (tmp_path / "more.en").write_text("red house\ngreen tree\n")
    (tmp_path / "more.up").write_text("RED HOUSE\nGREEN TREE\n")
    return tmp_path


def configured(
    folder: Path, source: str = '"train.en"', target: str = '"train.up"', data: str = "", training: str = ""
) -> Configuration:
    path = folder / "student.toml"
    path.write_text(DATA.format(source=source, target=target, data=data, training=training))
    return read_configuration(path)


TAUGHT = 'teacher = "run"\nobjective = "word_distillation"'


def test_text_of_several_files_is_learnt_from(folder: Path) -> None:
    given = 'vocabulary = "run"'
    alone = load_corpus(configured(folder, data=given).data, folder / "a.model")
    both = configured(folder, '["train.en", "more.en"]', '["train.up", "more.up"]', given)
    corpus = load_corpus(both.data, folder / "b.model")
    encode = alone.vocabulary.encode
    assert corpus.training == [
        *alone.training,
        (encode("red house"), encode("RED HOUSE")),
        (encode("green tree"), encode("GREEN TREE")),
    ]
    train(both, folder / "student")
    log = [json.loads(line) for line in (folder / "student" / "log.jsonl").read_text().splitlines()]
    assert log[0]["pairs"] == 62


def test_the_vocabulary_is_learnt_from_all_files(folder: Path) -> None:
    (folder / "more.en").write_text("zebra quiz\n" * 50)
    (folder / "more.up").write_text("ZEBRA QUIZ\n" * 50)
    both = configured(folder, '["train.en", "more.en"]', '["train.up", "more.up"]', "vocabulary_size = 64")
    vocabulary = load_corpus(both.data, folder / "b.model").vocabulary
    assert vocabulary.decode(vocabulary.encode("zebra quiz")) == "zebra quiz"


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ('["train.en", "more.en"]', '["train.up"]', "names 2 files, training_target 1"),
        ('["train.en", "more.en"]', '"train.up"', "names 2 files, training_target 1"),
        ("[]", "[]", "training_source"),
        ("3", '"train.up"', "training_source"),
    ],
)
def test_files_that_do_not_pair_are_refused(folder: Path, source: str, target: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"student\.toml: .*{re.escape(message)}"):
        configured(folder, source, target)


def test_each_pair_of_files_must_be_parallel(folder: Path) -> None:
    (folder / "more.up").write_text("RED HOUSE\n")
    with pytest.raises(DataError, match=r"more\.en has 2 lines but .*more\.up has 1"):
        load_corpus(configured(folder, '["train.en", "more.en"]', '["train.up", "more.up"]').data, folder / "a.model")


@pytest.mark.parametrize("form", ["run", "run/vocabulary.model", "packed.pocketmt"])
def test_a_vocabulary_may_be_given_in_each_form(folder: Path, form: str) -> None:
    pack_run(folder / "run", "float32", folder / "packed.pocketmt")
    data = configured(folder, data=f'vocabulary = "{form}"').data
    wanted = (folder / "run" / "vocabulary.model").read_bytes()
    assert load_corpus(data, folder / "a.model").vocabulary.model == wanted
    assert (folder / "a.model").read_bytes() == wanted


def test_a_vocabulary_that_is_none_is_refused(folder: Path) -> None:
    for name, message in (("missing", "missing: cannot be read"), ("dev.en", "not a SentencePiece model")):
        with pytest.raises(DataError, match=message):
            load_corpus(configured(folder, data=f'vocabulary = "{name}"').data, folder / "a.model")
        assert not (folder / "a.model").exists()


def test_the_loss_is_what_the_objective_says() -> None:
    student, teacher = small(), small(model_dimension=24)
    batch = make_batch([([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13])], "cpu")
    output = student.embedding.weight

    def decoded(model: TranslationNetwork) -> torch.Tensor:
        return drop_padding(model(batch.source, batch.target_inputs), batch.targets)[0]

    targets = batch.targets[batch.targets != 0]
    references = output_cross_entropy(decoded(student), output, targets, 0.1)
    words = output_divergence(decoded(student), output, decoded(teacher), teacher.embedding.weight)
    assert taught_loss(student, output, batch, 0.1).item() == pytest.approx(references.item())
    assert taught_loss(student, output, batch, 0.1, teacher).item() == pytest.approx(words.item())
    mixed = taught_loss(student, output, batch, 0.1, teacher, references_share=0.25)
    assert mixed.item() == pytest.approx(0.25 * references.item() + 0.75 * words.item(), rel=1e-5)


def test_a_student_comes_nearer_to_its_teacher(folder: Path) -> None:
    training = TAUGHT.replace('"run"', '"{}"') + "\nlearning_rate = 0.01"
    pack_run(folder / "run", "float32", folder / "teacher.pocketmt")
    results = []
    for form in ("run", "teacher.pocketmt"):
        configuration = configured(folder, data='vocabulary = "run"', training=training.format(form))
        train(configuration, folder / form.replace(".", "-") / "student", open_teacher)
        results.append(load_weights(folder / form.replace(".", "-") / "student" / "model.safetensors")[0])
    for name, tensor in results[0].items():
        assert torch.allclose(tensor, results[1][name], atol=1e-5), name
    teacher, vocabulary = open_teacher(str(folder / "run"))
    pairs = load_corpus(configuration.data, folder / "a.model").training
    batch = make_batch(pairs[:16], "cpu")
    torch.manual_seed(3)  # as the run's own start
    student = make_network(configuration.model.architecture(len(vocabulary)))
    before = taught_loss(student, student.embedding.weight, batch, 0.0, teacher).item()
    student.load_state_dict(results[0])
    assert taught_loss(student, student.embedding.weight, batch, 0.0, teacher).item() < 0.9 * before


def test_what_is_taught_is_not_what_the_references_say(folder: Path) -> None:
    weights = {}
    for name, training in (("none", ""), ("words", TAUGHT), ("mixed", TAUGHT.replace("word_distillation", "mixed"))):
        configuration = configured(folder, data='vocabulary = "run"', training=training)
        train(configuration, folder / name, open_teacher)
        weights[name] = load_weights(folder / name / "model.safetensors")[0]["embedding.weight"]
    assert not torch.allclose(weights["none"], weights["words"])
    assert not torch.allclose(weights["mixed"], weights["words"])


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ('objective = "word_distillation"', "needs a teacher"),
        ('teacher = "run"', "no objective learns from it"),
        ('objective = "words"', "objective"),
        (TAUGHT + "\nreferences_share = 1.0", "references_share"),
    ],
)
def test_objectives_that_make_no_sense_are_refused(folder: Path, training: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        configured(folder, training=training)


def test_a_teacher_of_another_vocabulary_is_refused_before_there_is_a_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_tiny_run(folder / "other", seed=5)
    assert read_vocabulary(other).model != read_vocabulary(folder / "run").model
    for data in ("", f'vocabulary = "{other}"'):
        configured(folder, data=data, training=TAUGHT)
        assert run_command(["train", str(folder / "student.toml"), "-o", str(folder / "student")]) == 1
        error = capsys.readouterr().err
        assert error.startswith("error: the vocabulary of the teacher") and "run'" in error
        assert not (folder / "student").exists()
    configured(folder, data='vocabulary = "run"', training=TAUGHT)
    assert run_command(["train", str(folder / "student.toml"), "-o", str(folder / "student")]) == 0
