"""The Transformer: masks, and that neither caching nor padding changes results."""

import math

import pytest
import torch
from torch import Tensor

from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.models.dropout import Dropout
from pocketmt.models.inputs import pad
from pocketmt.models.networks import make_network
from pocketmt.models.positions import interleaved
from pocketmt.models.presets import preset
from pocketmt.models.transformer import Transformer
from pocketmt.text.vocabulary import BOS, EOS


def small(norm: str = "post", **changes: object) -> Transformer:
    sizes: dict[str, object] = {
        "type": "transformer",
        "encoder_layers": 2,
        "decoder_layers": 2,
        "model_dimension": 16,
        "feed_forward_dimension": 24,
        "attention_heads": 2,
        "attention_dimension": 16,
        "norm": norm,
        "attention_bias": False,
        "vocabulary_size": 20,
        **changes,
    }
    torch.manual_seed(3)
    return Transformer(TransformerArchitecture(**sizes)).eval()  # type: ignore[arg-type]


@torch.inference_mode()
def logits(model: Transformer, source: list[list[int]], target: list[list[int]]) -> Tensor:
    return model.logits(model(pad(source), pad(target)))


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("attention_dimension", [16, 8, 24])
def test_a_position_sees_only_earlier_positions(norm: str, attention_dimension: int) -> None:
    model = small(norm, attention_dimension=attention_dimension)
    source = [[5, 6, 7, EOS]]
    first = logits(model, source, [[BOS, 8, 9, 10]])
    second = logits(model, source, [[BOS, 8, 9, 11]])
    torch.testing.assert_close(first[:, :3], second[:, :3])
    assert not torch.allclose(first[:, 3], second[:, 3])


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_source_position_matters(norm: str) -> None:
    model = small(norm)
    before = logits(model, [[5, 6, 7, EOS]], [[BOS]])
    for position in range(3):
        source = [5, 6, 7, EOS]
        source[position] = 15
        assert not torch.allclose(before, logits(model, [source], [[BOS]]))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_neighbours_and_padding_change_nothing(norm: str) -> None:
    model = small(norm)
    alone = logits(model, [[5, 6, EOS]], [[BOS, 8]])
    together = logits(model, [[5, 6, EOS], [9, 9, 9, 9, 9, EOS]], [[BOS, 8], [BOS, 4]])
    torch.testing.assert_close(alone[0], together[0])


@pytest.mark.parametrize("norm", ["post", "pre"])
@torch.inference_mode()
def test_decoding_step_by_step_equals_teacher_forcing(norm: str) -> None:
    model = small(norm)
    source, target = [[5, 6, 7, EOS]], [BOS, 8, 9, 10, 11]
    forced = logits(model, source, [target])[0]
    encoded, mask = model.encode(pad(source))
    states = model.start(encoded)
    for position, token in enumerate(target):
        decoded, states = model.decode(torch.tensor([[token]]), states, mask, position)
        torch.testing.assert_close(model.logits(decoded[0, 0]), forced[position])


def test_interleaved_by_hand() -> None:
    table = interleaved(3, 4)
    expected = [math.sin(2), math.cos(2), math.sin(2 / 100), math.cos(2 / 100)]
    torch.testing.assert_close(table[2], torch.tensor(expected))
    torch.testing.assert_close(table[0], torch.tensor([0.0, 1.0, 0.0, 1.0]))


@torch.inference_mode()
def test_positions_beyond_the_table_are_computed() -> None:
    model = small()
    model.embed_source(torch.full((1, 700), 5))
    torch.testing.assert_close(model.positions[:700], interleaved(700, 16))


def test_presets_have_the_sizes_of_their_papers() -> None:
    base = make_network(preset("base", 37000))
    # Vaswani et al. 2017, table 3: 65 million parameters with its 37,000-piece vocabulary.
    assert round(sum(parameter.numel() for parameter in base.parameters()) / 1e6) == 63


def test_dropout_keeps_the_mean_and_is_the_identity_in_evaluation() -> None:
    torch.manual_seed(1)
    dropout = Dropout(0.3)
    x = torch.ones(400, 500)
    y = dropout(x)
    assert abs(float((y == 0).float().mean()) - 0.3) < 0.01
    assert abs(float(y.mean()) - 1) < 0.01
    assert dropout.eval()(x) is x
