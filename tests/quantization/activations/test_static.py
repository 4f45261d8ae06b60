"""Calibrated scales of activations against the formula of Behnke et al. 2021, section 3.2."""

import pytest
import torch

from pocketmt.quantization.activations.static import StaticActivations, calibrated_scale


def test_the_scale_by_hand() -> None:
    # alpha_i = 127 / max = 127, 63.5, 254: mean 148.17, standard deviation 79.20, so alpha = 235.29.
    assert calibrated_scale(torch.tensor([1.0, 2.0, 0.5])) == pytest.approx(1 / 235.2857, rel=1e-5)


def test_instances_of_zeros_are_ignored() -> None:
    assert calibrated_scale(torch.tensor([0.0, 4.0, 0.0])) == pytest.approx(4 / 127)
    assert calibrated_scale(torch.zeros(3)) == pytest.approx(1 / 127)


def test_codes_are_rounded_to_the_nearest_and_clamped() -> None:
    codes, scale = StaticActivations().quantize_rows(torch.tensor([[0.5, 1.5, -2.4, 300.0, -1e9]]), torch.tensor([1.0]))
    assert codes.tolist() == [[0, 2, -2, 127, -127]] and scale.tolist() == [1.0]


def test_the_gradient_passes() -> None:
    x = torch.tensor([[0.3, 500.0]], requires_grad=True)
    quantized = StaticActivations().fake_quantize(x, torch.tensor([0.25]))
    assert quantized.tolist() == [[0.25, 31.75]]
    quantized.sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None and x.grad.tolist() == [[1.0, 1.0]]
