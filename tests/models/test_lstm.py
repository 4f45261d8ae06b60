"""The deep LSTM compared with a plain NumPy version of its equations, and in search."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.attention.weights import attention_weights
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import architecture_from_json
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.models.inputs import pad
from pocketmt.models.lstm import LSTM, LstmNetwork, mirror
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.models.search import beam_search, greedy_search

Array = np.ndarray[Any, Any]
Weights = Mapping[str, Array]


def lstm(**changes: object) -> LstmArchitecture:
    sizes: dict[str, object] = {
        "encoder_layers": 3,
        "decoder_layers": 3,
        "model_dimension": 14,
        "recurrent_dimension": 12,
        "attention_heads": 2,
        "attention_dimension": 16,
        "vocabulary_size": 40,
    }
    return LstmArchitecture(**(sizes | changes))  # type: ignore[arg-type]


def random_lstm(seed: int = 1, **changes: object) -> LstmNetwork:
    """A network whose biases and norms are not neutral."""
    torch.manual_seed(seed)
    network = LstmNetwork(lstm(**changes)).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)
            elif name != "embedding.weight":
                parameter.mul_(2.0)
        network.decoder.readout.weight.mul_(3.0)  # which word is next depends on more than the bias
    return network


def sigmoid(x: Array) -> Array:
    gate: Array = 1 / (1 + np.exp(-x))
    return gate


def run_lstm(weights: Weights, name: str, x: Array) -> Array:
    """One sentence [T, inputs] -> [T, size], gate by gate."""
    given, recurrent, bias = (weights[f"{name}.{part}"] for part in ("input.weight", "recurrent.weight", "input.bias"))
    size = len(bias) // 4
    hidden, cell, outputs = np.zeros(size), np.zeros(size), []
    for now in x:
        rows = [given[k * size : (k + 1) * size] @ now + bias[k * size : (k + 1) * size] for k in range(4)]
        rows = [row + recurrent[k * size : (k + 1) * size] @ hidden for k, row in enumerate(rows)]
        cell = sigmoid(rows[1]) * cell + sigmoid(rows[0]) * np.tanh(rows[3])
        hidden = sigmoid(rows[2]) * np.tanh(cell)
        outputs.append(hidden)
    return np.stack(outputs)


def norm(weights: Weights, name: str, x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    normed: Array = centred / deviation * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return normed


def attend(weights: Weights, name: str, x: Array, encoded: Array, heads: int) -> Array:
    query = x @ weights[f"{name}.query.weight"].T
    key, value = np.split(encoded @ weights[f"{name}.key_value.weight"].T, 2, axis=-1)
    outputs = []
    for head in np.split(np.arange(query.shape[-1]), heads):
        scores = np.exp(query[:, head] @ key[:, head].T / np.sqrt(len(head)))
        outputs.append(scores / scores.sum(axis=-1, keepdims=True) @ value[:, head])
    attended: Array = np.concatenate(outputs, axis=-1) @ weights[f"{name}.output.weight"].T
    return attended


def plain_logits(network: LstmNetwork, source: list[int], target: list[int]) -> Array:
    """The whole network for one sentence, in double precision."""
    architecture = network.architecture
    assert isinstance(architecture, LstmArchitecture)
    weights = {name: weight.detach().double().numpy() for name, weight in network.state_dict().items()}
    embedding = weights["embedding.weight"]
    factor = np.sqrt(architecture.model_dimension)
    x = embedding[source] * factor
    first = "encoder.layers.0.lstm"
    backwards = run_lstm(weights, f"{first}.right_to_left", x[::-1])[::-1]
    x = np.concatenate([run_lstm(weights, f"{first}.left_to_right", x), backwards], axis=-1)
    x = norm(weights, "encoder.layers.0.lstm_norm", x)
    for layer in range(1, architecture.encoder_layers):
        x = norm(weights, f"encoder.layers.{layer}.lstm_norm", x + run_lstm(weights, f"encoder.layers.{layer}.lstm", x))
    encoded, x = x, embedding[target] * factor
    x = norm(weights, "decoder.layers.0.lstm_norm", run_lstm(weights, "decoder.layers.0.lstm", x))
    attended = attend(weights, "decoder.layers.0.cross_attention", x, encoded, architecture.attention_heads)
    x = norm(weights, "decoder.layers.0.cross_attention_norm", x + attended)
    for layer in range(1, architecture.decoder_layers):
        x = norm(weights, f"decoder.layers.{layer}.lstm_norm", x + run_lstm(weights, f"decoder.layers.{layer}.lstm", x))
    logits: Array = (x @ weights["decoder.readout.weight"].T + weights["decoder.readout.bias"]) @ embedding.T
    return logits


@pytest.mark.parametrize("changes", [{}, {"encoder_layers": 1, "decoder_layers": 1, "attention_heads": 1}])
def test_it_computes_its_equations(changes: dict[str, Any]) -> None:
    network = random_lstm(**changes).double()
    for source, target in (([5, 9, 11, 2], [1, 7, 30]), ([2], [1]), ([8, 8, 2], [1, 4, 5, 6, 7, 8])):
        with torch.no_grad():
            found = network.logits(network(torch.tensor([source]), torch.tensor([target])))[0]
        np.testing.assert_allclose(found.numpy(), plain_logits(network, source, target), atol=1e-10)


def test_decoding_step_by_step_equals_teacher_forcing() -> None:
    torch.manual_seed(2)
    unit = LSTM(6, 8)
    x = torch.randn(2, 7, 6)
    whole, (hidden, cell) = unit(x)
    state, parts = None, []
    for position in range(7):
        part, state = unit(x[:, position : position + 1], state)
        parts.append(part)
    assert state is not None
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
    torch.testing.assert_close(state, (hidden, cell))


def test_neighbours_and_padding_change_nothing() -> None:
    network = random_lstm()
    sources, target = [[5, 6, 7, 8, 9, 2], [10, 2], [11, 12, 13, 2]], [[1, 20, 21]] * 3
    together = network(pad(sources), pad(target))
    for row, source in enumerate(sources):
        torch.testing.assert_close(network(pad([source]), pad([[1, 20, 21]]))[0], together[row])


def test_sentences_are_mirrored_and_padding_stays_at_the_end() -> None:
    tokens = pad([[5, 6, 7, 2], [9, 2]])
    assert mirror(tokens).tolist() == [[3, 2, 1, 0], [1, 0, 2, 3]]


def test_forget_gates_start_open() -> None:
    for module in LstmNetwork(lstm()).modules():
        if isinstance(module, LSTM):
            bias = module.input.bias.view(4, module.size)
            assert bias[1].tolist() == [1.0] * module.size
            assert not bias[[0, 2, 3]].any()


@pytest.mark.parametrize("changes", [{}, {"encoder_layers": 1, "decoder_layers": 1}])
def test_parameters_are_those_of_the_description(changes: dict[str, Any]) -> None:
    architecture = lstm(**changes)
    found = {name: tuple(weight.shape) for name, weight in make_network(architecture).state_dict().items()}
    assert found == architecture.parameter_shapes()
    assert list(found) == list(architecture.parameter_shapes())


def test_the_papers_network_has_about_the_papers_size() -> None:
    shapes = preset("lstm", 36_000).parameter_shapes()  # Aji and Heafield 2020, Table 6: 361 MB
    assert sum(int(np.prod(shape)) for shape in shapes.values()) * 4 / 361e6 == pytest.approx(1, abs=0.1)


def test_searches_agree_with_teacher_forcing() -> None:
    network = random_lstm(5)
    sources = [[5, 6, 7], [8, 9, 10, 11, 12], [30]]
    written = greedy_search(network, sources, lambda length: 8)
    assert len({tuple(target) for target in written}) > 1
    assert [list(best[0].ids) for best in beam_search(network, sources, 1, maximum_length=lambda length: 8)] == written
    for source, target in zip(sources, written, strict=True):
        logits = plain_logits(network, [*source, 2], [1, *target])
        logits[:, [0, 1, 3]] = -np.inf
        assert logits.argmax(axis=-1).tolist()[: len(target)] == target
    alone = [beam_search(network, [source], 3, maximum_length=lambda length: 8)[0] for source in sources]
    together = beam_search(network, sources, 3, maximum_length=lambda length: 8)
    for one, other in zip(alone, together, strict=True):
        assert [hypothesis.ids for hypothesis in one] == [hypothesis.ids for hypothesis in other]


def test_an_ensemble_with_a_transformer() -> None:
    network, other = random_lstm(5), make_network(preset("tiny", 40)).eval()
    sources = [[5, 6, 7], [8, 9, 10, 11, 12]]
    twice = beam_search([network, network], sources, 3, maximum_length=lambda length: 8)
    alone = beam_search(network, sources, 3, maximum_length=lambda length: 8)
    for one, both in zip(alone, twice, strict=True):
        assert [hypothesis.ids for hypothesis in one] == [hypothesis.ids for hypothesis in both]
    assert beam_search([network, other], sources, 3, maximum_length=lambda length: 8) != alone


def test_cross_attention_weights() -> None:
    network = random_lstm()
    weights = attention_weights(network, "cross", 0, [5, 6, 7], [8, 9])
    assert weights.shape == (2, 3, 4)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3))
    assert network.architecture.heads_of_layers("cross") == [2]
    with pytest.raises(ConfigurationError, match="no self-attention"):
        network.architecture.heads_of_layers("encoder")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "transformer"}, "type is 'transformer', expected 'lstm'"),
        ({"encoder_layers": 0}, "encoder_layers is 0, expected a whole number from 1 to 256"),
        ({"recurrent_dimension": 13}, "recurrent_dimension is 13, expected an even number"),
        ({"recurrent_dimension": 1 << 17}, "recurrent_dimension is 131072, expected a whole number from 2 to 65536"),
        ({"attention_dimension": 12}, "attention_dimension is 12, expected a multiple of 4 x attention_heads = 8"),
        ({"decoder_layers": True}, "decoder_layers is True"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        lstm(**changes)


def test_sizes_survive_json() -> None:
    architecture = lstm()
    stated = architecture.to_json()
    assert stated["type"] == "lstm"
    assert architecture_from_json(stated) == architecture
    with pytest.raises(ConfigurationError, match="unknown field 'norm'"):
        architecture_from_json({**stated, "norm": "post"})
    with pytest.raises(ConfigurationError, match="missing field 'recurrent_dimension'"):
        architecture_from_json({name: value for name, value in stated.items() if name != "recurrent_dimension"})
    with pytest.raises(ConfigurationError, match="type is 'gru', expected 'transformer' or 'lstm'"):
        architecture_from_json({**stated, "type": "gru"})


def test_presets_refuse_sizes_of_other_networks() -> None:
    assert preset("lstm.tiny", 50, decoder_layers=3).to_json()["decoder_layers"] == 3
    with pytest.raises(ConfigurationError, match=r"preset 'lstm\.tiny' has no feed_forward_dimension: leave it out"):
        preset("lstm.tiny", 50, feed_forward_dimension=64)
    with pytest.raises(ConfigurationError, match="preset 'tiny' has no recurrent_dimension"):
        preset("tiny", 50, recurrent_dimension=64)
    with pytest.raises(ConfigurationError, match="norms after its layers"):
        preset("lstm", 50, "pre")
