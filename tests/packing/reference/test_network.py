import math
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.packing.scheme_choice import choose_schemes, presets
from pocketmt.quantization import Affine, BinaryCode, Codebook, Logarithmic, Scheme, Uniform
from pocketmt.quantization.activations.dynamic import quantize_rows
from pocketmt.quantization.row_groups import RowGroup, decode, quantize
from tests.small_network import PIECES, architecture, random_transformer

METADATA = ModelMetadata(source_language="en", target_language="de")
Choice = dict[str, str | Scheme | Sequence[RowGroup]]
MIXED: Choice = {
    "embedding.weight": Logarithmic("matrix"),
    "encoder.*": Logarithmic("row"),
    "*.query.*": "float32",
    "*": Uniform(),
}
ROWS = tuple(range(0, PIECES, 3))
ALL_KINDS: Choice = {
    "embedding.weight": (
        RowGroup(BinaryCode(3), ROWS),
        RowGroup(Codebook(2), tuple(row for row in range(PIECES) if row not in ROWS)),
    ),
    "encoder.layers.0.*": (RowGroup(Affine(8, "row")),),
    "encoder.layers.1.self*": (RowGroup(BinaryCode(4)),),
    "encoder.layers.1.feed*": (RowGroup(Logarithmic("matrix", 3)),),
    "decoder.*.self_attention.*": (RowGroup(Affine(4, "matrix")),),
    "decoder.*.feed_forward.*": (RowGroup(Codebook(8)),),
    "*": (RowGroup(BinaryCode(1)),),
}
CHOICES: dict[str, str | Choice] = {**{name: name for name in presets()}, "mixed": MIXED, "all kinds": ALL_KINDS}


def tokens(seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(4, PIECES, (5, 9), generator=generator)
    source[3, 6:] = 0  # padded
    return source, torch.randint(4, PIECES, (5, 7), generator=generator)


@torch.inference_mode()
def logits(model: TranslationNetwork) -> Tensor:
    source, target = tokens()
    return model.logits(model(source, target))


def expected_model(model: TranslationNetwork, choice: str | Choice) -> TranslationNetwork:
    """The same in other words: weights fake-quantized, and by hooks the inputs of quantized matrices."""
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    chosen = choose_schemes([name for name, tensor in state.items() if tensor.dim() == 2], choice)
    for name, groups in chosen.items():
        state[name] = decode(groups, quantize(groups, state[name]))
    expected = make_network(model.architecture).eval()
    expected.load_state_dict(state)

    def rounded(module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        codes, scale = quantize_rows(inputs[0])
        return (codes * scale[..., None],)

    for name in chosen:
        module = expected.get_submodule(name.removesuffix(".weight"))
        if isinstance(module, nn.Linear):
            module.register_forward_pre_hook(rounded)
    if "embedding.weight" in chosen:
        project = expected.logits
        expected.logits = lambda decoded: project(rounded(expected, (decoded,))[0])  # type: ignore[method-assign]
    return expected


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("attention_bias", [False, True])
@pytest.mark.parametrize("choice", CHOICES)
def test_it_computes_what_the_schemes_say(
    tmp_path: Path, vocabulary: bytes, choice: str, norm: str, attention_bias: bool
) -> None:
    path = tmp_path / "model.pocketmt"
    model = random_transformer(architecture(norm, attention_bias))
    pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary, CHOICES[choice], METADATA))
    reference = logits(load_reference(path))
    difference = (reference - logits(expected_model(model, CHOICES[choice]))).abs().amax(dim=(1, 2))  # of each sentence
    # float32's rounding, some 1e-6, moves about one activation in 1e5 by a code: at most in a sentence or two.
    assert difference.median() < 1e-4
    assert difference.max() < 0.3


def test_fp32_is_the_model_itself(tmp_path: Path, vocabulary: bytes) -> None:
    path = tmp_path / "model.pocketmt"
    model = random_transformer(architecture())
    pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary, "float32", METADATA))
    assert torch.equal(logits(load_reference(path)), logits(model))


def test_eight_bits_are_nearer_to_the_model_than_four(tmp_path: Path, vocabulary: bytes) -> None:
    model = random_transformer(architecture())
    errors = {}
    schemes = {"uniform": Uniform(), "logarithmic row": Logarithmic("row"), "logarithmic matrix": Logarithmic("matrix")}
    for name, scheme in schemes.items():
        path = tmp_path / name
        pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary, {"*": scheme}, METADATA))
        difference = logits(load_reference(path)) - logits(model)
        errors[name] = math.sqrt(float(difference.square().mean() / logits(model).square().mean()))
    assert 0 < errors["uniform"] < 0.05
    assert errors["uniform"] < min(errors["logarithmic row"], errors["logarithmic matrix"])


def test_a_sentence_does_not_depend_on_its_batch_where_sums_are_exact(tmp_path: Path, vocabulary: bytes) -> None:
    path = tmp_path / "model.pocketmt"
    model = random_transformer(architecture())
    pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary, "uniform8", METADATA))
    reference = load_reference(path)
    projection = reference.get_submodule("encoder.layers.0.feed_forward.inner")
    x = torch.randn(6, 14)
    with torch.inference_mode():
        assert torch.equal(projection(x)[4], projection(x[4]))


def test_it_is_ready_for_evaluation_alone(tmp_path: Path, vocabulary: bytes) -> None:
    path = tmp_path / "model.pocketmt"
    model = random_transformer(architecture())
    pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary, "logarithmic4", METADATA))
    reference = load_reference(path)
    path.unlink()  # nothing is read later
    assert not reference.training
    assert not any(parameter.requires_grad for parameter in reference.parameters())
    assert logits(reference).shape == (5, 7, PIECES)
