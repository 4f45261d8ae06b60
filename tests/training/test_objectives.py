"""Losses, compared with PyTorch's, and schedules, computed by hand."""

import pytest
import torch

from pocketmt.models.inputs import PADDING
from pocketmt.training.objectives import drop_padding, output_cross_entropy, output_divergence
from pocketmt.training.schedule import inverse_square_root, training_rate


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [1, 255, 256, 700])
@pytest.mark.parametrize("biased", [False, True])
def test_cross_entropy_and_gradients_equal_pytorchs(smoothing: float, rows: int, biased: bool) -> None:
    torch.manual_seed(rows)
    decoded = torch.randn(rows, 16, requires_grad=True)
    weight = torch.randn(50, 16, requires_grad=True)
    targets = torch.randint(0, 50, (rows,))
    bias = torch.randn(50, requires_grad=True) if biased else None
    loss = output_cross_entropy(decoded, weight, targets, smoothing, bias)
    logits = torch.nn.functional.linear(decoded, weight, bias)
    expected = torch.nn.functional.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    parameters = [decoded, weight] if bias is None else [decoded, weight, bias]
    torch.testing.assert_close(loss, expected)
    for ours, theirs in zip(
        torch.autograd.grad(loss * 0.5, parameters),
        torch.autograd.grad(expected * 0.5, parameters),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("distilled", [False, True])
def test_mixed_precision_rounds_only_the_operands_of_products(distilled: bool) -> None:
    torch.manual_seed(1)
    decoded, weight = torch.randn(300, 16), torch.randn(50, 16)
    teacher, targets = torch.randn(50, 16), torch.randint(0, 50, (300,))

    def loss_and_gradients(decoded: torch.Tensor, weight: torch.Tensor) -> list[torch.Tensor]:
        decoded.requires_grad_()
        weight.requires_grad_()
        loss = output_divergence(decoded, weight, decoded.detach(), teacher.bfloat16().float())
        if not distilled:
            loss = output_cross_entropy(decoded, weight, targets, 0.1)
        return [loss, *torch.autograd.grad(loss, [decoded, weight])]

    with torch.autocast("cpu", torch.bfloat16):
        mixed = loss_and_gradients(decoded.clone(), weight.clone())
    rounded = loss_and_gradients(decoded.bfloat16().float(), weight.bfloat16().float())
    full = loss_and_gradients(decoded, weight)
    assert all(each.dtype == torch.float32 for each in mixed)
    for ours, close, exact in zip(mixed, rounded, full, strict=True):
        # Logits of up to 20 are rounded to eight binary digits, and so are gradients of up to 1.
        torch.testing.assert_close(ours, close, rtol=0.01, atol=0.05 * float(close.detach().abs().max()))
        assert not torch.equal(ours, exact)


def test_the_loss_of_large_logits_is_finite() -> None:
    decoded = torch.tensor([[1000.0, -1000.0]])
    assert output_cross_entropy(decoded, torch.eye(2), torch.tensor([0]), 0.0).item() == pytest.approx(0.0)


@pytest.mark.parametrize("rows", [1, 256, 300])
@pytest.mark.parametrize("biased", [False, True])
def test_divergence_and_gradients_equal_pytorchs(rows: int, biased: bool) -> None:
    torch.manual_seed(rows)
    decoded = torch.randn(rows, 16, requires_grad=True)
    weight = torch.randn(50, 16, requires_grad=True)
    teacher_decoded, teacher, teacher_bias = torch.randn(rows, 8), torch.randn(50, 8), torch.randn(50)
    bias = torch.randn(50, requires_grad=True) if biased else None
    parameters = [decoded, weight] if bias is None else [decoded, weight, bias]
    loss = output_divergence(decoded, weight, teacher_decoded, teacher, bias, teacher_bias)
    expected = torch.nn.functional.kl_div(
        torch.log_softmax(torch.nn.functional.linear(decoded, weight, bias), dim=-1),
        torch.log_softmax(teacher_decoded @ teacher.t() + teacher_bias, dim=-1),
        reduction="sum",
        log_target=True,
    )
    torch.testing.assert_close(loss, expected)
    for ours, theirs in zip(
        torch.autograd.grad(loss * 0.5, parameters),
        torch.autograd.grad(expected * 0.5, parameters),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_the_divergence_of_equal_models_is_zero() -> None:
    decoded, weight = torch.randn(5, 4), torch.randn(9, 4)
    assert output_divergence(decoded, weight, decoded, weight).item() == 0.0


def test_padding_is_dropped() -> None:
    decoded = torch.arange(12.0).view(2, 3, 2)
    rows, targets = drop_padding(decoded, torch.tensor([[7, 2, PADDING], [2, PADDING, PADDING]]))
    assert targets.tolist() == [7, 2, 2]
    assert rows.tolist() == [[0.0, 1.0], [2.0, 3.0], [6.0, 7.0]]


def test_the_inverse_square_root_schedule() -> None:
    assert inverse_square_root(1, 0.002, 100) == pytest.approx(0.00002)
    assert inverse_square_root(100, 0.002, 100) == pytest.approx(0.002)
    assert inverse_square_root(400, 0.002, 100) == pytest.approx(0.001)


def test_the_final_decay_is_linear() -> None:
    rates = [training_rate(update, 0.002, 100, 403, 3) for update in (50, 100, 400, 401, 402, 403)]
    assert rates == pytest.approx([0.001, 0.002, 0.001, 0.00075, 0.0005, 0.00025])


def test_without_decay_the_schedule_is_unchanged() -> None:
    assert [training_rate(update, 0.002, 100, 400, 0) for update in range(1, 401)] == [
        inverse_square_root(update, 0.002, 100) for update in range(1, 401)
    ]
