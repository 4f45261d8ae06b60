"""Students: training on several texts, with the vocabulary of a teacher, and by word-level distillation."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pocketmt.cli.main import run as run_command
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.model_file.architecture import Architecture
from pocketmt.models.inputs import PADDING
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.packing.decoded import read_model
from pocketmt.packing.model_source import AnyModel
from pocketmt.packing.run import pack_run
from pocketmt.training.checkpoints import load_weights
from pocketmt.training.configuration import Configuration, read_configuration
from pocketmt.training.data import load_corpus, make_batch
from pocketmt.training.given_vocabulary import read_vocabulary
from pocketmt.training.objectives import TranslationObjective, drop_padding, output_cross_entropy, output_divergence
from pocketmt.training.run import train
from tests.compression.tiny_run import write_tiny_run
from tests.models.test_transformer import small

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
    """A folder with a teacher in `run`, its text in train.* and dev.*, and synthetic text in more.*."""
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


WORD_LEVEL = 'teacher = "run"\nobjective = "word_distillation"'


def test_the_training_text_may_consist_of_several_files(folder: Path) -> None:
    vocabulary = 'vocabulary = "run"'
    alone = load_corpus(configured(folder, data=vocabulary).data, folder / "a.model")
    both = configured(folder, '["train.en", "more.en"]', '["train.up", "more.up"]', vocabulary)
    corpus = load_corpus(both.data, folder / "b.model")
    encode = alone.vocabularies.source.encode
    assert list(corpus.training) == [
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
    vocabulary = load_corpus(both.data, folder / "b.model").vocabularies.source
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
def test_unequal_numbers_of_files_are_refused(folder: Path, source: str, target: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"student\.toml: .*{re.escape(message)}"):
        configured(folder, source, target)


def test_each_pair_of_files_must_be_parallel(folder: Path) -> None:
    (folder / "more.up").write_text("RED HOUSE\n")
    with pytest.raises(DataError, match=r"more\.en has 2 lines but .*more\.up has 1"):
        load_corpus(configured(folder, '["train.en", "more.en"]', '["train.up", "more.up"]').data, folder / "a.model")


@pytest.mark.parametrize("form", ["run", "run/vocabulary.model", "packed.pocketmt"])
def test_the_vocabulary_may_be_a_run_a_file_or_a_model(folder: Path, form: str) -> None:
    pack_run(folder / "run", "float32", folder / "packed.pocketmt")
    data = configured(folder, data=f'vocabulary = "{form}"').data
    expected = (folder / "run" / "vocabulary.model").read_bytes()
    assert load_corpus(data, folder / "a.model").vocabularies.source.model == expected
    assert (folder / "a.model").read_bytes() == expected


def test_an_invalid_vocabulary_is_refused(folder: Path) -> None:
    for name, message in (("missing", "missing: cannot be read"), ("dev.en", "not a SentencePiece model")):
        with pytest.raises(DataError, match=message):
            load_corpus(configured(folder, data=f'vocabulary = "{name}"').data, folder / "a.model")
        assert not (folder / "a.model").exists()


@pytest.mark.parametrize("biased", [False, True])
def test_the_loss_is_that_of_the_objective(biased: bool) -> None:
    student, teacher = small(output_bias=biased), small(model_dimension=24, output_bias=biased)
    biases = [network.output.bias for network in (student, teacher)]
    for bias in biases:
        assert (bias is not None) == biased
        if bias is not None:
            torch.nn.init.normal_(bias)
    batch = make_batch([([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13])], student.architecture, "cpu")
    output = student.embedding.weight

    def decoded(model: TranslationNetwork) -> torch.Tensor:
        return drop_padding(model(batch.source, batch.target_inputs), batch.targets)[0]

    targets = batch.targets[batch.targets != PADDING]
    cross_entropy = output_cross_entropy(decoded(student), output, targets, 0.1, biases[0])
    divergence = output_divergence(decoded(student), output, decoded(teacher), teacher.embedding.weight, *biases)
    objective = TranslationObjective(model=student, network=student, smoothing=0.1)
    assert objective(batch).item() == pytest.approx(cross_entropy.item())
    distilled = replace(objective, teacher=teacher)
    assert distilled(batch).item() == pytest.approx(divergence.item())
    mixed = replace(distilled, cross_entropy_weight=0.25)(batch)
    assert mixed.item() == pytest.approx(0.25 * cross_entropy.item() + 0.75 * divergence.item(), rel=1e-5)


@pytest.mark.parametrize(("first", "of_teacher"), [("zero", "bos"), ("bos", "zero"), ("bos", "eos")])
def test_the_teacher_reads_its_own_first_decoder_input(first: str, of_teacher: str) -> None:
    student, teacher = small(first_decoder_input=first), small(model_dimension=24, first_decoder_input=of_teacher)
    pairs = [([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13])]
    batch, read = (make_batch(pairs, network.architecture, "cpu") for network in (student, teacher))
    decoded, expected = (
        drop_padding(network(each.source, each.target_inputs), each.targets)[0]
        for network, each in ((student, batch), (teacher, read))
    )
    divergence = output_divergence(decoded, student.embedding.weight, expected, teacher.embedding.weight)
    given = batch.target_inputs.clone()
    objective = TranslationObjective(model=student, network=student, smoothing=0.1, teacher=teacher)
    assert objective(batch).item() == pytest.approx(divergence.item())
    assert torch.equal(batch.target_inputs, given)


def test_a_teacher_that_reads_no_end_of_sources_is_refused(folder: Path) -> None:
    def without_end(dimension: int, pieces: int) -> Architecture:
        return replace(small().architecture, model_dimension=dimension, vocabulary_size=pieces, append_source_eos=False)

    teacher = write_tiny_run(folder / "other", network=without_end)
    configuration = configured(
        folder, data=f'vocabulary = "{teacher}"', training=WORD_LEVEL.replace("run", str(teacher))
    )
    with pytest.raises(DataError, match="reads sources without the piece for their end"):
        train(configuration, folder / "student", AnyModel)
    assert not (folder / "student").exists()


def test_distillation_reduces_the_divergence_from_the_teacher(folder: Path) -> None:
    training = WORD_LEVEL.replace('"run"', '"{}"') + "\nlearning_rate = 0.01"
    pack_run(folder / "run", "float32", folder / "teacher.pocketmt")
    results = []
    for form in ("run", "teacher.pocketmt"):
        configuration = configured(folder, data='vocabulary = "run"', training=training.format(form))
        train(configuration, folder / form.replace(".", "-") / "student", AnyModel)
        results.append(load_weights(folder / form.replace(".", "-") / "student" / "model.safetensors")[0])
    for name, tensor in results[0].items():
        assert torch.allclose(tensor, results[1][name], atol=1e-5), name
    opened = AnyModel(str(folder / "run"))
    teacher, vocabulary = opened.decoded_network(), opened.vocabularies.source
    pairs = load_corpus(configuration.data, folder / "a.model").training
    batch = make_batch(pairs[:16], teacher.architecture, "cpu")
    torch.manual_seed(3)  # The seed of the run.
    student = make_network(configuration.model.architecture(len(vocabulary)))
    objective = TranslationObjective(model=student, network=student, smoothing=0.0, teacher=teacher)
    before = objective(batch).item()
    student.load_state_dict(results[0])
    assert objective(batch).item() < 0.9 * before


def test_a_quantized_teacher_computes_in_float32_with_the_values_of_its_codes(folder: Path) -> None:
    pack_run(folder / "run", "uniform8", folder / "teacher.pocketmt")
    network = AnyModel(str(folder / "teacher.pocketmt")).decoded_network()
    plain = make_network(network.architecture).eval()
    plain.load_state_dict(read_model(folder / "teacher.pocketmt").weights)
    assert [type(module) for module in network.modules()] == [type(module) for module in plain.modules()]
    assert {tensor.dtype for tensor in network.state_dict().values()} == {torch.float32}
    batch = make_batch([([5, 6, 7], [8, 9])], network.architecture, "cpu")
    with torch.no_grad():
        assert torch.equal(*(each(batch.source, batch.target_inputs) for each in (network, plain)))
    training = WORD_LEVEL.replace('"run"', '"teacher.pocketmt"')
    configuration = configured(folder, data='vocabulary = "run"', training=training)
    assert train(configuration, folder / "student", AnyModel).update == 4


def test_each_objective_trains_other_weights(folder: Path) -> None:
    weights = {}
    for name, training in (
        ("none", ""),
        ("words", WORD_LEVEL),
        ("mixed", WORD_LEVEL.replace("word_distillation", "mixed")),
    ):
        configuration = configured(folder, data='vocabulary = "run"', training=training)
        train(configuration, folder / name, AnyModel)
        weights[name] = load_weights(folder / name / "model.safetensors")[0]["embedding.weight"]
    assert not torch.allclose(weights["none"], weights["words"])
    assert not torch.allclose(weights["mixed"], weights["words"])


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ('objective = "word_distillation"', "needs a teacher"),
        ('teacher = "run"', "the objective does not use it"),
        ('objective = "words"', "objective"),
        (WORD_LEVEL + "\ncross_entropy_weight = 1.0", "cross_entropy_weight"),
        (WORD_LEVEL + "\nlabel_smoothing = 0.2", "label_smoothing has no effect with the objective 'word_dist"),
    ],
)
def test_invalid_objectives_are_refused(folder: Path, training: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        configured(folder, training=training)


def test_a_teacher_of_another_vocabulary_is_refused_before_any_work(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_tiny_run(folder / "other", seed=5)
    assert read_vocabulary(other).model != read_vocabulary(folder / "run").model
    for data in ("", f'vocabulary = "{other}"'):
        configured(folder, data=data, training=WORD_LEVEL)
        assert run_command(["train", str(folder / "student.toml"), "-o", str(folder / "student")]) == 1
        error = capsys.readouterr().err
        assert "\nerror: the vocabulary of the teacher" in error and "run'" in error
        assert not (folder / "student").exists()
    configured(folder, data='vocabulary = "run"', training=WORD_LEVEL)
    assert run_command(["train", str(folder / "student.toml"), "-o", str(folder / "student")]) == 0
