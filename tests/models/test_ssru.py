"""The simpler simple recurrent unit compared with its equations, and students that have it."""

import numpy as np
import pytest
import torch

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.models.presets import preset
from pocketmt.models.search import beam_search, greedy_search
from pocketmt.models.ssru import SSRU
from pocketmt.models.transformer import Transformer

# Behnke et al. 2021, Table 1: parameters of the students, with their teachers' vocabulary of 32,000 pieces.
TABLE_1 = {
    "12-1.large": "130.5M",
    "12-1.base": "51.1M",
    "12-1.tiny": "22.0M",
    "12-1.micro": "18.6M",
    "8-4.tied.tiny": "17.8M",
    "6-2.tied.tiny": "15.7M",
    "6-2.base": "42.7M",
    "6-2.tiny": "16.9M",
}


def test_it_computes_its_equations() -> None:
    torch.manual_seed(1)
    unit = SSRU(6).double()
    torch.nn.init.normal_(unit.forget_bias)
    x = torch.randn(3, 5, 6, dtype=torch.float64)
    weight, forget_weight = unit.input_forget.weight.detach().numpy().reshape(2, 6, 6)
    cell, expected = np.zeros((3, 6)), []
    for position in range(5):
        now = x[:, position].numpy()
        forget = 1 / (1 + np.exp(-(now @ forget_weight.T + unit.forget_bias.detach().numpy())))
        cell = forget * cell + (1 - forget) * (now @ weight.T)
        expected.append(np.maximum(cell, 0))
    out, last = unit(x)
    np.testing.assert_allclose(out.detach().numpy(), np.stack(expected, axis=1), atol=1e-12)
    np.testing.assert_allclose(last.detach().numpy(), cell, atol=1e-12)


def test_decoding_step_by_step_equals_teacher_forcing() -> None:
    torch.manual_seed(2)
    unit = SSRU(8)
    x = torch.randn(2, 7, 8)
    whole, _ = unit(x)
    cell, parts = None, []
    for position in range(7):
        part, cell = unit(x[:, position : position + 1], cell)
        parts.append(part)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)


@pytest.mark.parametrize(("name", "millions"), TABLE_1.items())
def test_parameters_are_those_of_table_1(name: str, millions: str) -> None:
    shapes = preset(name, 32_000).parameter_shapes()
    count = sum(int(np.prod(shape)) for shape in shapes.values()) + 32_000  # the paper's output layer has a bias
    assert f"{count / 1e6:.1f}M" == millions


@pytest.mark.parametrize("name", ["6-1.nano", "6-2.tied.tiny"])
def test_parameters_are_those_of_the_description(name: str) -> None:
    architecture = preset(name, 50)
    assert isinstance(architecture, TransformerArchitecture)
    network = Transformer(architecture)
    assert {key: tuple(value.shape) for key, value in network.state_dict().items()} == architecture.parameter_shapes()
    assert len(network.start(network.encode(torch.tensor([[5, 2]]))[0])) == architecture.decoder_layers


def student(**changes: object) -> TransformerArchitecture:
    sizes: dict[str, object] = {
        "encoder_layers": 2,
        "decoder_layers": 3,
        "model_dimension": 24,
        "feed_forward_dimension": 20,
        "attention_heads": 3,
        "attention_dimension": 12,
        "norm": "post",
        "attention_bias": True,
        "vocabulary_size": 40,
        "decoder_autoregression": "ssru",
    }
    return TransformerArchitecture(**(sizes | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("tied", [False, True])
def test_searches_agree_with_teacher_forcing(tied: bool) -> None:
    torch.manual_seed(3)
    network = Transformer(student(tied_decoder_layers=tied)).eval()
    with torch.no_grad():
        network.embedding.weight.mul_(4)
    sources = [[5, 6, 7], [8, 9, 10, 11, 12]]
    written = greedy_search(network, sources, lambda length: 8)
    assert [list(best[0].ids) for best in beam_search(network, sources, 1, maximum_length=lambda length: 8)] == written
    for source, target in zip(sources, written, strict=True):
        with torch.no_grad():
            logits = network.logits(network(torch.tensor([[*source, 2]]), torch.tensor([[1, *target]])))[0]
        logits[:, [0, 1, 3]] = -torch.inf
        assert logits.argmax(dim=-1).tolist()[: len(target)] == target


def test_tied_layers_share_their_parameters() -> None:
    own, tied = Transformer(student()), Transformer(student(tied_decoder_layers=True))
    decoder = "decoder.layers."
    assert {name for name in own.state_dict() if name.startswith(decoder + "1.")}
    assert not {name for name in tied.state_dict() if name.startswith(decoder + "1.")}
    # Run once instead of three times, the network computes something else.
    source, target = torch.tensor([[5, 6, 2]]), torch.tensor([[1, 7]])
    once = Transformer(student(tied_decoder_layers=True, decoder_layers=1))
    once.load_state_dict(tied.state_dict())
    assert not torch.allclose(once.eval()(source, target), tied.eval()(source, target))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decoder_autoregression": "lstm"}, "decoder_autoregression is 'lstm', expected 'self_attention' or 'ssru'"),
        ({"tied_decoder_layers": 1}, "tied_decoder_layers is 1, expected False or True"),
        ({"encoder_heads": (3,)}, "encoder_heads has 1 sizes, expected 2"),
        ({"encoder_heads": (3, 0)}, "encoder_heads is 0, expected a whole number from 1 to 3"),
        ({"encoder_feed_forward": (20, 21)}, "encoder_feed_forward is 21, expected a whole number from 1 to 20"),
        ({"decoder_feed_forward": (7, 7, 7), "tied_decoder_layers": True}, "has 3 sizes, expected 1"),
        ({"decoder_heads": (1, 1, 1)}, "the decoder has no self-attention"),
        ({"decoder_cross_heads": 2}, "decoder_cross_heads is 2, expected a list of sizes"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        student(**changes)
