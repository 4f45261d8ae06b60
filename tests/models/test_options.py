"""Options of the Transformer that models of other programs need, each against its equation."""

import math

import pytest
import torch
from torch import Tensor

from pocketmt.models.activations import ACTIVATIONS
from pocketmt.models.inputs import ZERO, decoder_input, encoder_input, pad
from pocketmt.models.positions import POSITION_TABLES
from pocketmt.models.search import beam_search, greedy_search
from pocketmt.models.transformer import DecoderLayer, Transformer
from pocketmt.training.data import make_batch
from pocketmt.training.objectives import TranslationObjective
from tests.engine.reference import architecture, random_network

SOURCES = [[5, 6, 7, 8], [9, 10], [11, 12, 13, 14, 15, 16]]


def network(**changes: object) -> Transformer:
    model = random_network(architecture(**changes))
    assert isinstance(model, Transformer)
    return model


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relu", lambda x: max(x, 0.0)),
        ("swish", lambda x: x / (1 + math.exp(-x))),
        ("gelu", lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2)))),
        ("gelu_tanh", lambda x: x * 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
        ("gelu_sigmoid", lambda x: x / (1 + math.exp(-1.702 * x))),
    ],
)
def test_activations(name: str, expected: object) -> None:
    values = [-6.0, -1.5, -0.1, 0.0, 0.3, 2.0, 7.0]
    found = ACTIVATIONS[name]()(torch.tensor(values))
    torch.testing.assert_close(found, torch.tensor([expected(x) for x in values]))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("name", "angles", "sides"),
    [
        ("interleaved", [3.0, 3.0 / 10000 ** (2 / 6), 3.0 / 10000 ** (4 / 6)], False),
        ("concatenated", [3.0, 3.0 / 10000 ** (2 / 6), 3.0 / 10000 ** (4 / 6)], True),
        ("concatenated_inclusive", [3.0, 3.0 / 100, 3.0 / 10000], True),
    ],
)
def test_position_tables(name: str, angles: list[float], sides: bool) -> None:
    pairs = [(math.sin(angle), math.cos(angle)) for angle in angles]
    expected = [x for side in zip(*pairs, strict=True) for x in side] if sides else [x for pair in pairs for x in pair]
    torch.testing.assert_close(POSITION_TABLES[name](5, 6)[3], torch.tensor(expected))


@torch.inference_mode()
def test_positions_begin_at_the_offset() -> None:
    model = network(position_offset=2, positions="concatenated_inclusive", scale_embeddings=False)
    rows = model.embed_source(torch.tensor([[5, 6]]))[0]
    table = POSITION_TABLES["concatenated_inclusive"](9, 32)
    torch.testing.assert_close(rows, model.embedding.weight[5:7] + table[2:4])
    torch.testing.assert_close(model.embed_target(torch.tensor([[7]]), 3)[0, 0], model.embedding.weight[7] + table[5])


@torch.inference_mode()
def test_the_first_input_may_be_zero() -> None:
    model = network(first_decoder_input="zero", bos_id=None)
    assert decoder_input(model.architecture, [9]) == [ZERO, 9]
    first, second = model.embed_target(pad([[ZERO, 9]]))[0]
    torch.testing.assert_close(first, model.positions[0])
    torch.testing.assert_close(second, model.embedding.weight[9] * math.sqrt(32) + model.positions[1])


@torch.inference_mode()
def test_separate_embeddings_and_an_untied_output_with_a_bias() -> None:
    model = network(embeddings="separate", source_vocabulary_size=50, output_projection="untied", output_bias=True)
    assert model.source_embedding.weight.shape == (50, 32)
    before = model.encode(torch.tensor([[5, 6, 2]]))[0]
    model.embedding.weight.zero_()
    torch.testing.assert_close(model.encode(torch.tensor([[5, 6, 2]]))[0], before)
    decoded = torch.randn(3, 32)
    assert model.output.weight is not None and model.output.bias is not None
    torch.testing.assert_close(model.logits(decoded), decoded @ model.output.weight.t() + model.output.bias)


@torch.inference_mode()
def test_embeddings_are_normalized_after_positions() -> None:
    model = network(embedding_norm=True, normalization_epsilon=0.01)
    inputs: list[Tensor] = []
    model.encoder.layers[0].register_forward_pre_hook(lambda _, arguments: inputs.append(arguments[0]))
    model.encode(torch.tensor([[5, 6]]))
    x = model.embed_source(torch.tensor([[5, 6]]))
    centred = x - x.mean(dim=-1, keepdim=True)
    normed = centred / (centred.square().mean(dim=-1, keepdim=True) + 0.01).sqrt()
    norm = model.encoder.embedding_norm
    torch.testing.assert_close(inputs[0], normed * norm.weight + norm.bias)  # type: ignore[operator]


@torch.inference_mode()
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(("nodes", "gate"), [(0, True), (24, True), (24, False)])
def test_average_attention_by_its_equations(norm: str, nodes: int, gate: bool) -> None:
    model = network(
        decoder_autoregression="average_attention",
        norm=norm,
        average_attention_dimension=nodes,
        average_attention_activation="swish",
        average_attention_gate=gate,
    )
    layer = model.decoder.layers[0]
    assert isinstance(layer, DecoderLayer)
    attention, normalize = layer.average_attention, layer.average_attention_norm
    x = torch.randn(1, 5, 32)
    rows = []
    for position in range(5):
        average = x[0, : position + 1].mean(dim=0)
        y = normalize(average) if norm == "pre" else average
        if nodes:
            y = attention.outer(torch.nn.functional.silu(attention.inner(y)))
        if gate:
            given = torch.sigmoid(attention.input_gate(x[0, position])) * x[0, position]
            y = given + torch.sigmoid(attention.average_gate(y)) * y
        rows.append(x[0, position] + y if norm == "pre" else normalize(x[0, position] + y))
    whole, _ = layer._add_autoregression(x, None, None)
    torch.testing.assert_close(whole[0], torch.stack(rows))


OPTIONS: list[dict[str, object]] = [
    {"decoder_autoregression": "average_attention", "average_attention_dimension": 24, "norm": "pre"},
    {"decoder_autoregression": "average_attention", "tied_decoder_layers": True, "first_decoder_input": "zero"},
    {"pad_id": None, "bos_id": None, "first_decoder_input": "zero", "eos_id": 0, "unk_id": 1, "output_bias": True},
    {"embeddings": "separate", "source_vocabulary_size": 60, "output_projection": "untied", "embedding_norm": True},
    {"pad_id": 119, "eos_id": 100, "unk_id": 50, "first_decoder_input": "pad", "bos_id": None, "position_offset": 2},
    {"append_source_eos": False, "scale_embeddings": False, "activation": "gelu", "first_decoder_input": "eos"},
]


@torch.inference_mode()
@pytest.mark.parametrize("changes", OPTIONS)
def test_neither_batches_nor_steps_change_anything(changes: dict[str, object]) -> None:
    model = network(**changes)
    shape = model.architecture
    targets = [[20, 21, 22], [23], [24, 25, 26, 27, 28]]
    together = model(
        pad([encoder_input(shape, each) for each in SOURCES]), pad([decoder_input(shape, each) for each in targets])
    )
    for row, (source, target) in enumerate(zip(SOURCES, targets, strict=True)):
        inputs = decoder_input(shape, target)
        alone = model(pad([encoder_input(shape, source)]), pad([inputs]))
        torch.testing.assert_close(together[row, : len(inputs)], alone[0])
        encoded, mask = model.encode(pad([encoder_input(shape, source)]))
        states = model.start(encoded)
        for position, token in enumerate(inputs):
            decoded, states = model.decode(torch.tensor([[token]]), states, mask, position)
            torch.testing.assert_close(decoded[0, 0], alone[0, position])
    assert greedy_search(model, SOURCES) == [greedy_search(model, [source])[0] for source in SOURCES]
    best = beam_search(model, SOURCES, 3)
    assert [each[0].ids for each in best] == [beam_search(model, [source], 3)[0][0].ids for source in SOURCES]


def test_banned_pieces_are_never_generated() -> None:
    model = network()
    found = {id for ids in greedy_search(model, SOURCES) for id in ids}
    assert found
    banned = tuple(sorted(found))
    model = network(banned_ids=banned, ban_special_pieces=False)
    again = {id for ids in greedy_search(model, SOURCES) for id in ids}
    assert again and not again & found
    ids = {id for hypotheses in beam_search(model, SOURCES, 4) for each in hypotheses for id in each.ids}
    assert ids and not ids & found


def test_the_loss_of_a_padded_batch_is_the_sum_of_its_pairs() -> None:
    model = network(pad_id=None, output_projection="untied", output_bias=True, embeddings="separate")
    shape = model.architecture
    assert shape.never_generated_ids == (1, 3)
    objective = TranslationObjective(model=model, network=model, smoothing=0.1)
    pairs = [([5, 6], [7]), ([8], [9, 10, 11])]
    together = objective(make_batch(pairs, shape, "cpu"))
    torch.testing.assert_close(together, sum(objective(make_batch([pair], shape, "cpu")) for pair in pairs))
    together.backward()  # type: ignore[no-untyped-call]
    for matrix in (model.embedding.weight, model.source_embedding.weight, model.output.weight, model.output.bias):
        assert matrix is not None and matrix.grad is not None and bool(matrix.grad.any())
