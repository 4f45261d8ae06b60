"""The bundled models on real text: the engine against PyTorch running the same codes, and sameness on every line."""

import random
from pathlib import Path

import pytest
import sacrebleu
import torch

from benchmarks.multi30k.data import TESTS, folder, lines
from pocketmt.decoding.decoder import Decoder
from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import DataError
from pocketmt.model_file import open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.inputs import pad
from pocketmt.models.networks import make_network
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import QuantizedLinear, load_reference
from pocketmt.text.vocabulary import BOS, EOS, Vocabulary

BUNDLED = ("captions-en-de", "captions-en-de-8bit")


def _multi30k_is_here() -> bool:
    try:
        folder()
    except DataError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _multi30k_is_here(), reason="Multi30k is not on this machine (POCKETMT_DATA)")


def test_lines(language: str, every: int = 4) -> list[str]:
    """Return every fourth line of all test sets, or another share."""
    return [line for name in TESTS for line in lines(name, language)][::every]


test_lines.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def float_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled 8-bit model's weights, decoded and packed as float32: trained weights without a second large file."""
    path = tmp_path_factory.mktemp("float") / "float32.pocketmt"
    with open_model(resolve_model("captions-en-de-8bit")) as file:
        architecture, vocabulary = file.architecture, file.vocabulary()
    weights = decoded_weights("captions-en-de-8bit")
    pack(
        path,
        ModelContents(
            weights, architecture, vocabulary, "float32", ModelMetadata(source_language="en", target_language="de")
        ),
    )
    return path


def decoded_weights(name: str) -> dict[str, torch.Tensor]:
    reference = load_reference(resolve_model(name))
    model = make_network(reference.architecture)
    weights = {name: tensor for name, tensor in reference.state_dict().items() if name in model.state_dict()}
    for module_name, module in reference.named_modules():
        if isinstance(module, QuantizedLinear) and module_name != "projection":
            weights[f"{module_name}.weight"] = module.weight()
    return weights


@torch.inference_mode()
def test_float_logits_equal_pytorchs(float_model: Path) -> None:
    translator, reference = Translator(float_model), load_reference(float_model)
    vocabulary = Vocabulary(vocabulary_of(float_model))
    pairs = list(zip(test_lines("en"), test_lines("de"), strict=True))
    for source_text, target_text in random.Random(1).sample(pairs, 50):
        source, target = vocabulary.encode(source_text), vocabulary.encode(target_text)
        expected = reference.logits(reference(pad([[*source, EOS]]), pad([[BOS, *target]])))[0]
        found = native_logits(translator, source, target)
        assert float((found - expected).abs().max()) <= 1e-3


def test_greedy_pieces_of_float32_equal_pytorchs(float_model: Path) -> None:
    vocabulary = Vocabulary(vocabulary_of(float_model))
    sources = [vocabulary.encode(line) for line in test_lines("en")]
    found = Translator(float_model).translate_ids(sources, beam_size=1)
    expected = Decoder([load_reference(float_model)]).best(sources, 1)
    same = sum(ours == theirs for ours, theirs in zip(found, expected, strict=True))
    assert same >= 0.995 * len(sources)


@pytest.mark.parametrize("name", BUNDLED)
def test_text_and_bleu_are_those_of_pytorch_running_the_same_codes(name: str) -> None:
    vocabulary = Vocabulary(vocabulary_of(resolve_model(name)))
    english = test_lines("en", every=2)
    sources = [vocabulary.encode(line) for line in english]
    references = [test_lines("de", every=2)]
    reference = load_reference(resolve_model(name))
    expected = [vocabulary.decode(ids) for ids in Decoder([reference]).best(sources, 1)]
    found = Translator(name).translate(english, beam_size=1)
    same = sum(ours == theirs for ours, theirs in zip(found, expected, strict=True))
    assert same >= 0.97 * len(sources)
    gap = sacrebleu.corpus_bleu(found, references).score - sacrebleu.corpus_bleu(expected, references).score
    assert abs(gap) <= 0.1


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_text_does_not_depend_on_batch_order_or_threads(name: str, beam_size: int) -> None:
    source = test_lines("en")
    together = Translator(name).translate(source, beam_size=beam_size)
    order = list(range(len(source)))
    random.Random(2).shuffle(order)
    shuffled = Translator(name, workers=2).translate([source[index] for index in order], beam_size=beam_size)
    assert [shuffled[order.index(index)] for index in range(len(source))] == together
    alone = Translator(name)
    assert [alone.translate([line], beam_size=beam_size)[0] for line in source] == together


@pytest.mark.parametrize("name", BUNDLED)
def test_the_same_text_on_every_instruction_set(name: str) -> None:
    source = test_lines("en", every=40)
    best = Translator(name).translate(source)
    assert Translator(name, instruction_set="portable").translate(source) == best


def test_the_float_models_text_does_not_depend_on_its_batch(float_model: Path) -> None:
    source = test_lines("en")
    translator = Translator(float_model)
    together = translator.translate(source, beam_size=4)
    assert [translator.translate([line], beam_size=4)[0] for line in source] == together


def native_logits(translator: Translator, source: list[int], target: list[int]) -> torch.Tensor:
    values = bytearray(translator._model.logits(source, target))
    return torch.frombuffer(values, dtype=torch.float32).view(len(target) + 1, -1)


def vocabulary_of(path: Path) -> bytes:
    with open_model(path) as file:
        return file.vocabulary()
