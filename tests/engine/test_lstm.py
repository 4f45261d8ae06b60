"""The engine runs a deep LSTM as PyTorch defines it, in any scheme; sentences do not influence each other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import beam_search, greedy_search
from pocketmt.packing.contents import FLOAT32, ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import Scheme
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.activations.static import CalibratedActivations
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import native_logits, random_network, reference_logits
from tests.engine.test_shortlist import EVERYTHING, random_shortlist
from tests.engine.test_shortlist import load as load_with_shortlist

METADATA = ModelMetadata(source_language="en", target_language="de")
SHAPES: dict[str, dict[str, int]] = {
    "two layers": {},
    "one layer": {"encoder_layers": 1, "decoder_layers": 1, "attention_heads": 1},
    "deep, odd sizes": {
        "encoder_layers": 4,
        "decoder_layers": 3,
        "model_dimension": 37,
        "recurrent_dimension": 50,
        "attention_heads": 3,
        "attention_dimension": 12,
    },
}


def lstm(**changes: int) -> LstmArchitecture:
    sizes: dict[str, Any] = {
        "encoder_layers": 2,
        "decoder_layers": 2,
        "model_dimension": 24,
        "recurrent_dimension": 32,
        "attention_heads": 4,
        "attention_dimension": 32,
        "vocabulary_size": 120,
    }
    return LstmArchitecture(**{**sizes, **changes})


def groups(scheme: str, bits: int, **options: object) -> tuple[RowGroup, ...]:
    made: Scheme = scheme_from_options(scheme, bits=bits, **options)
    return (RowGroup(made),)


SCHEMES: dict[str, dict[str, Any]] = {
    "8 bit": {"*": groups("uniform", 8)},
    "log 4 bit": {"*": groups("logarithmic", 4)},
    "binary 3 bit": {"*": groups("binary", 3)},
    # An embedding's values are whole levels, and half of the greatest value is a tie between 8-bit codes.
    "log 2 bit of a matrix": {"*": groups("logarithmic", 2, granularity="matrix")},
    "mixed": {
        "embedding.weight": groups("binary", 4),
        "*.recurrent.weight": groups("affine", 4, granularity="matrix"),
        "*.cross_attention.*": FLOAT32,
        "*": groups("codebook", 4),
    },
}


class Written:
    """A random network as a model file, and the network that PyTorch must run to agree with the engine."""

    def __init__(
        self,
        path: Path,
        vocabulary: Vocabulary,
        schemes: dict[str, Any],
        shape: dict[str, int],
        products: LogarithmicActivations | CalibratedActivations | None = None,
    ) -> None:
        network = random_network(lstm(**shape))
        with torch.no_grad():
            network.get_parameter("decoder.readout.weight").mul_(2.0)  # next words depend on more than the bias
        pack(
            path,
            ModelContents(
                network.state_dict(),
                network.architecture,
                vocabulary.model,
                schemes,
                METADATA,
                activation_quantization=products,
            ),
        )
        self.path = path
        self.reference: TranslationNetwork = load_reference(path)

    def engine(self, workers: int = 1, instruction_set: str | None = None) -> _native.Model:
        with open_model(self.path) as file:
            return native_model(file, workers, instruction_set)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lstm.pocketmt"


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_fp32_logits(path: Path, vocabulary: Vocabulary, shape: dict[str, int]) -> None:
    written = Written(path, vocabulary, {"*": FLOAT32}, shape)
    model = written.engine()
    for source, target in zip([[], *sentences(6)], [[], *sentences(6, seed=1)], strict=True):
        expected = reference_logits(written.reference, source, target)
        np.testing.assert_allclose(native_logits(model, source, target), expected, atol=1e-3, rtol=0)


def assert_parity(written: Written) -> None:
    """As for Transformers (test_parity.py): a float's last bit may change a code by one, a step of 1/127."""
    model, errors = written.engine(), []
    for source, target in zip(sentences(5, longest=12), sentences(5, seed=1, longest=12), strict=True):
        expected = reference_logits(written.reference, source, target)
        scale = np.sqrt(np.mean(expected**2))
        errors.append(np.abs(native_logits(model, source, target) - expected).ravel() / scale)
    assert np.median(np.concatenate(errors)) < 1e-5
    assert np.max(np.concatenate(errors)) < 10 / 127


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("schemes", SCHEMES.values(), ids=SCHEMES.keys())
def test_quantized_logits(path: Path, vocabulary: Vocabulary, schemes: dict[str, Any], shape: dict[str, int]) -> None:
    assert_parity(Written(path, vocabulary, schemes, shape))


def test_logarithmic_activations_with_logarithmic_weights(path: Path, vocabulary: Vocabulary) -> None:
    assert_parity(Written(path, vocabulary, SCHEMES["log 4 bit"], {}, LogarithmicActivations(4, 1.0)))


def test_calibrated_scales(path: Path, vocabulary: Vocabulary) -> None:
    network = random_network(lstm())
    names = [name for name, weight in network.named_parameters() if weight.dim() == 2]
    scales = {name: torch.tensor([0.02 + 0.005 * (index % 4)]) for index, name in enumerate(names)}
    assert_parity(Written(path, vocabulary, SCHEMES["8 bit"], {}, CalibratedActivations(scales)))


@pytest.mark.parametrize("schemes", [{"*": FLOAT32}, *SCHEMES.values()], ids=["fp32", *SCHEMES.keys()])
def test_searches(path: Path, vocabulary: Vocabulary, schemes: dict[str, Any]) -> None:
    written = Written(path, vocabulary, schemes, {})
    model, sources = written.engine(), sentences(12, longest=10)
    found = [found[0][0] for found in model.translate(sources, search_options(beam_size=1))]
    assert len({tuple(ids) for ids in found}) > 6
    equal = sum(ids == best for ids, best in zip(found, greedy_search(written.reference, sources), strict=True))
    assert equal >= (12 if "*" in schemes and schemes["*"] == FLOAT32 else 10)
    beams = [found[0][0] for found in model.translate(sources, search_options(beam_size=3))]
    expected = [list(best[0].ids) for best in beam_search(written.reference, sources, 3)]
    assert sum(ids == best for ids, best in zip(beams, expected, strict=True)) >= 10


@pytest.mark.parametrize("schemes", [{"*": FLOAT32}, *SCHEMES.values()], ids=["fp32", *SCHEMES.keys()])
def test_sameness(path: Path, vocabulary: Vocabulary, schemes: dict[str, Any]) -> None:
    written = Written(path, vocabulary, schemes, {})
    model = written.engine()
    sources = [*sentences(40), [], *sentences(2, seed=5, longest=150), *sentences(90, seed=6)]
    for beam_size in (1, 3):
        options = search_options(beam_size=beam_size, n_best=beam_size)
        together = model.translate(sources, options)
        assert [model.translate([source], options)[0] for source in sources[:60]] == together[:60]
        assert model.translate(sources[::-1], options)[::-1] == together
        assert [*model.translate(sources[:11], options), *model.translate(sources[11:], options)] == together
        assert written.engine(workers=3).translate(sources, options) == together


def test_shortlists(path: Path, vocabulary: Vocabulary) -> None:
    written = Written(path, vocabulary, SCHEMES["log 4 bit"], {})
    sources, options = sentences(20, longest=10), search_options(beam_size=3)
    expected = written.engine().translate(sources, options)
    assert load_with_shortlist(path, EVERYTHING).translate(sources, options) == expected
    model = load_with_shortlist(path, random_shortlist())
    found = model.translate(sources, options)
    assert found != expected
    assert [model.translate([source], options)[0] for source in sources] == found


@pytest.mark.parametrize("schemes", list(SCHEMES.values())[:3], ids=list(SCHEMES)[:3])
def test_instruction_sets_agree_bit_for_bit(path: Path, vocabulary: Vocabulary, schemes: dict[str, Any]) -> None:
    written = Written(path, vocabulary, schemes, SHAPES["deep, odd sizes"])
    source, target = sentences(2, longest=40)
    names = _native.instruction_sets()
    assert len({written.engine(instruction_set=name).logits(source, target) for name in names}) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"encoder_layers": 0}, "encoder_layers is 0"),
        ({"decoder_layers": 257}, "decoder_layers is 257"),
        ({"recurrent_dimension": 31}, "recurrent_dimension must be even"),
        ({"recurrent_dimension": 1 << 20}, "recurrent_dimension is 1048576"),
        ({"attention_heads": 1 << 40}, "attention_heads is"),
        ({"attention_dimension": 24}, r"attention_dimension is 24, it must be a multiple of 4 \* attention_heads, 16"),
        ({"recurrent_dimension": 34}, "encoder.layers.0.lstm.left_to_right.input"),
        ({"encoder_layers": 3}, "encoder.layers.2"),
        ({"decoder_layers": 3}, "decoder.layers.2"),
        ({"model_dimension": 26}, "embedding.weight"),
    ],
)
def test_wrong_sizes_are_refused(path: Path, vocabulary: Vocabulary, change: dict[str, int], message: str) -> None:
    written = Written(path, vocabulary, {"*": FLOAT32}, {})
    with open_model(written.path) as file:
        tensors = {name: (entry.dtype, entry.shape, entry.offset, entry.size) for name, entry in file.tensors.items()}

        def load(architecture: dict[str, Any]) -> _native.Model:
            return _native.Model(
                buffer=file.buffer,
                architecture=architecture,
                tensors=tensors,
                matrices={},
                release=None,
                instruction_set=None,
                workers=1,
            )

        load(file.architecture.fields())
        with pytest.raises(ModelFileError, match=message):
            load(file.architecture.fields() | change)
