"""The language model: its sizes, which positions attend to which, that it learns and can be fully quantized."""

import math

import pytest
import torch
from torch import Tensor

from benchmarks.language_model.network import LanguageModel, paper_architecture
from pocketmt.compression.activations.fully_quantized import places, quantize_activations, ranges
from pocketmt.recipes.activations import FullQuantization
from pocketmt.training.objectives import output_cross_entropy
from pocketmt.training.steps import make_optimizer

PIECES = 30


def language_model() -> LanguageModel:
    torch.manual_seed(1)
    return LanguageModel(paper_architecture(PIECES))


def text(length: int = 12) -> Tensor:
    return torch.randint(4, PIECES, (3, length), generator=torch.Generator().manual_seed(2))


def test_sizes_are_those_of_the_paper() -> None:
    shapes = {name: tuple(parameter.shape) for name, parameter in language_model().named_parameters()}
    assert shapes["embedding.weight"] == (PIECES, 200)
    assert shapes["encoder.layers.1.self_attention.query_key_value.weight"] == (3 * 2 * 64, 200)
    assert shapes["encoder.layers.1.self_attention.output.weight"] == (200, 2 * 64)
    assert shapes["encoder.layers.0.feed_forward.inner.weight"] == (200, 200)
    assert not any("decoder" in name or "layers.2" in name for name in shapes)


def test_input_and_output_share_one_matrix() -> None:
    model = language_model()
    encoded = torch.eye(200)[None, :5]
    assert torch.equal(model.logits(encoded)[0], model.embedding.weight.T[:5])
    assert sum(parameter.shape == (PIECES, 200) for parameter in model.parameters()) == 1


@pytest.mark.parametrize("position", [0, 5, 10])
def test_a_later_token_does_not_change_earlier_positions(position: int) -> None:
    model = language_model().eval()
    tokens = text()
    changed = tokens.clone()
    changed[:, position + 1] = (changed[:, position + 1] - 3) % (PIECES - 4) + 4
    before, after = model(tokens), model(changed)
    assert torch.allclose(before[:, : position + 1], after[:, : position + 1], atol=1e-6)
    assert not torch.allclose(before[:, position + 1], after[:, position + 1], atol=1e-3)


def test_an_earlier_token_changes_later_positions() -> None:
    model = language_model().eval()
    tokens = text()
    changed = tokens.clone()
    changed[:, 0] = (changed[:, 0] - 3) % (PIECES - 4) + 4
    assert bool((model(tokens) - model(changed)).abs().amax(dim=-1).gt(1e-4).all())


def test_every_quantized_place_is_used() -> None:
    model = language_model()
    quantize_activations(model, FullQuantization())
    model(text())
    found = places(model)
    assert {"position", "encoder.input", "encoder.layers.1.self_attention.attention.softmax.output"} < set(found)
    assert not any("decoder" in name for name in found)
    assert all(each.estimates == 1 for _, each in ranges(model))
    plain = language_model().eval()(text())
    distance = (model.eval()(text()) - plain).abs().mean() / plain.abs().mean()
    assert 1e-4 < distance.item() < 0.1


@pytest.mark.parametrize("bits", [None, 8])
def test_a_few_updates_reduce_the_loss(bits: int | None) -> None:
    model = language_model()
    if bits is not None:
        quantize_activations(model, FullQuantization(bits=bits))
    optimizer = make_optimizer(model.parameters())
    optimizer.param_groups[0]["lr"] = 1e-3
    tokens, losses = text(), []
    for _ in range(20):
        encoded = model(tokens[:, :-1]).flatten(0, 1)
        loss = output_cross_entropy(encoded, model.embedding.weight, tokens[:, 1:].flatten(), 0.0) / len(encoded)
        losses.append(loss.item())
        optimizer.zero_grad()
        torch.autograd.backward([loss])
        optimizer.step()
    assert losses[0] > math.log(PIECES) * 0.8
    assert losses[-1] < 0.7 * losses[0]
