"""The arithmetic of each matrix trainer, by hand and compared with the schemes."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pocketmt.compression.retraining.error_feedback import RequantizationTrainer
from pocketmt.compression.retraining.factory import make_trainer
from pocketmt.compression.retraining.fixed_codes import FixedCodesTrainer
from pocketmt.compression.retraining.straight_through import StraightThroughTrainer
from pocketmt.compression.retraining.trainer import MatrixTrainer
from pocketmt.quantization import Scheme, fake_quantize
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup, decode
from pocketmt.recipes.schema import ErrorFeedback, LearningRate, Periodic, StraightThrough
from pocketmt.training.steps import make_optimizer

# 4-bit affine codes of a row whose minimum is 0 and whose maximum is 15: the whole numbers.
WHOLE = scheme_from_options("affine", bits=4)


def straight_through(**settings: Any) -> StraightThrough:
    return StraightThrough(updates=10, learning_rate=LearningRate(rate=1.0), **settings)


def error_feedback(**settings: Any) -> ErrorFeedback:
    return ErrorFeedback(updates=10, learning_rate=LearningRate(rate=1.0), **settings)


def periodic(period: int) -> Periodic:
    return Periodic(updates=10, learning_rate=LearningRate(rate=1.0), period=period)


def matrix(trainer: MatrixTrainer) -> Tensor:
    return decode(trainer.groups, trainer.quantized())


def groups(scheme: Scheme) -> tuple[RowGroup, ...]:
    return (RowGroup(scheme),)


def random_weight(rows: int = 6, columns: int = 10) -> nn.Parameter:
    return nn.Parameter(torch.randn(rows, columns, generator=torch.Generator().manual_seed(3)))


def pretend_update(trainer: MatrixTrainer, gradient: Tensor, rate: float, update: int) -> Tensor:
    """One update of plain gradient descent; returns the weight of the forward pass and its gradient."""
    trainer.before_forward(1)
    seen = trainer.weight.detach().clone()
    trainer.weight.grad = gradient.clone()
    trainer.after_backward()
    for parameter in (trainer.weight, *trainer.learnable_parameters()):
        if parameter.grad is not None:
            parameter.detach().sub_(rate * parameter.grad)
    trainer.after_step(update)
    return seen


def test_error_feedback_by_hand() -> None:
    weight = nn.Parameter(torch.tensor([[0.0, 15.0, 3.4, 7.3]]))
    trainer = RequantizationTrainer(groups(WHOLE), weight, error_feedback())
    assert weight.tolist() == [[0.0, 15.0, 3.0, 7.0]]
    assert trainer.residual is not None
    torch.testing.assert_close(trainer.residual, torch.tensor([[0.0, 0.0, 0.4, 0.3]]))
    # Two steps of +0.15: 3.4 rises to 3.55, which is 4 with a residual of -0.45; 7.3 rises to 7.45 and 7.6.
    for update, (levels, residual) in enumerate(
        [([0.0, 15.0, 4.0, 7.0], [0.0, 0.0, -0.45, 0.45]), ([0.0, 15.0, 4.0, 8.0], [0.0, 0.0, -0.30, -0.40])], 1
    ):
        seen = pretend_update(trainer, torch.tensor([[0.0, 0.0, -1.0, -1.0]]), 0.15, update)
        assert seen.frac().abs().sum() == 0
        assert weight.tolist() == [levels]
        torch.testing.assert_close(trainer.residual, torch.tensor([residual]), atol=1e-5, rtol=0)
    assert torch.equal(matrix(trainer), weight)


def test_without_feedback_small_steps_are_lost() -> None:
    weight = nn.Parameter(torch.tensor([[0.0, 15.0, 3.4, 7.3]]))
    trainer = RequantizationTrainer(groups(WHOLE), weight, periodic(1))
    for update in range(1, 9):
        pretend_update(trainer, torch.tensor([[0.0, 0.0, -1.0, -1.0]]), 0.15, update)
        assert weight.tolist() == [[0.0, 15.0, 3.0, 7.0]]


def test_error_feedback_equals_straight_through_training() -> None:
    scheme = scheme_from_options("logarithmic", bits=4, granularity="row")
    feedback = RequantizationTrainer(groups(scheme), random_weight(), error_feedback(refit_every=1))
    through = StraightThroughTrainer(groups(scheme), random_weight(), straight_through(), None)
    for update in range(1, 6):
        gradient = torch.randn(6, 10, generator=torch.Generator().manual_seed(update))
        left, right = (pretend_update(trainer, gradient, 0.05, update) for trainer in (feedback, through))
        torch.testing.assert_close(left, right)
        torch.testing.assert_close(feedback.full_precision(), through.full_precision())
    torch.testing.assert_close(matrix(feedback), matrix(through))


@pytest.mark.parametrize("period", [1, 3, 4])
def test_periodic_quantizes_at_the_start_and_after_each_period(period: int) -> None:
    scheme = scheme_from_options("uniform", bits=8)
    trainer = make_trainer(periodic(period), groups(scheme), random_weight())
    assert torch.equal(trainer.weight, fake_quantize(scheme, random_weight()))
    for update in range(1, 10):
        before = trainer.weight.detach().clone()
        gradient = torch.randn(6, 10, generator=torch.Generator().manual_seed(update))
        pretend_update(trainer, gradient, 0.01, update)
        moved = before - 0.01 * gradient
        expected = fake_quantize(scheme, moved) if update % period == 0 else moved
        assert torch.equal(trainer.weight, expected)
        # `quantized` returns codes at any update, and does not change the weight.
        assert torch.equal(matrix(trainer), fake_quantize(scheme, moved))
        assert torch.equal(trainer.weight, expected)


def test_straight_through_gives_the_gradient_of_the_quantized_weight() -> None:
    scheme = scheme_from_options("logarithmic", bits=3, granularity="matrix")
    shadow = random_weight()
    trainer = StraightThroughTrainer(groups(scheme), shadow, straight_through(), None)
    before = shadow.detach().clone()
    inputs = torch.randn(4, 10, generator=torch.Generator().manual_seed(5))
    trainer.before_forward(1)
    assert torch.equal(shadow, fake_quantize(scheme, before))
    (inputs @ shadow.t()).square().sum().backward()  # type: ignore[no-untyped-call]
    trainer.after_backward()
    quantized = fake_quantize(scheme, before).requires_grad_()
    (inputs @ quantized.t()).square().sum().backward()  # type: ignore[no-untyped-call]
    assert shadow.grad is not None and quantized.grad is not None
    assert torch.equal(shadow.grad, quantized.grad)
    assert torch.equal(shadow, before)


@pytest.mark.parametrize("scheme", ["affine", "uniform"])
def test_the_gradient_is_zero_where_a_weight_is_clamped(scheme: str) -> None:
    chosen = scheme_from_options(scheme, bits=8)
    shadow = random_weight()
    trainer = StraightThroughTrainer(groups(chosen), shadow, straight_through(parameters="fixed"), None)
    with torch.no_grad():
        shadow[:, 0] = 100.0
        shadow[:, 1] = -100.0
    pretend_update(trainer, torch.ones(6, 10), 0.5, 1)
    assert shadow[:, 0].tolist() == [100.0] * 6
    assert shadow[:, 1].tolist() == [-100.0] * 6
    assert torch.equal(shadow[:, 2:], random_weight()[:, 2:] - 0.5)


def test_fixed_point_clamps_at_its_outer_levels() -> None:
    shadow = random_weight()
    scheme = scheme_from_options("fixed_point", bits=4)
    trainer = StraightThroughTrainer(groups(scheme), shadow, straight_through(parameters="fixed"), None)
    before, scale = shadow.detach().clone(), trainer.parameters[0]["scale"]
    pretend_update(trainer, torch.ones(6, 10), 0.5, 1)
    clamped = (before < -8 * scale) | (before > 7 * scale)
    assert 0 < clamped.sum() < 60
    assert torch.equal(shadow, torch.where(clamped, before, before - 0.5))


def test_straight_through_refits_at_its_interval() -> None:
    scheme = scheme_from_options("uniform", bits=8)
    trainer = StraightThroughTrainer(groups(scheme), random_weight(), straight_through(refit_every=2), None)
    scales = []
    for update in range(1, 6):
        pretend_update(trainer, torch.full((6, 10), -1.0), 1.0, update)
        scales.append(trainer.parameters[0]["scale"].clone())
    same = [torch.equal(left, right) for left, right in pairwise(scales)]
    assert same == [True, False, True, False]
    assert torch.equal(matrix(trainer), fake_quantize(scheme, trainer.weight))


def test_error_feedback_refits_at_its_interval() -> None:
    scheme = scheme_from_options("uniform", bits=8)
    trainer = RequantizationTrainer(groups(scheme), random_weight(), error_feedback(period=2, refit_every=2))
    scales = []
    for update in range(1, 9):
        pretend_update(trainer, torch.full((6, 10), 1.0), 0.1, update)
        scales.append(trainer.parameters[0]["scale"].clone())
    # Quantized at the start and at 2, 4, 6, 8; of these, refitted at the start, at 4 and at 8.
    changed = [update for update, (left, right) in enumerate(pairwise(scales), 2) if not torch.equal(left, right)]
    assert changed == [4, 8]


def test_a_scale_that_is_fitted_once_does_not_change() -> None:
    scheme = scheme_from_options("logarithmic", bits=4, granularity="matrix")
    trainer = RequantizationTrainer(groups(scheme), random_weight(), error_feedback(refit_every=0))
    first = trainer.parameters[0]["scale"].clone()
    for update in range(1, 4):
        pretend_update(trainer, torch.full((6, 10), 1.0), 0.5, update)
    assert torch.equal(trainer.parameters[0]["scale"], first)
    assert not torch.equal(scheme.fit(trainer.full_precision())["scale"], first)
    # Codes between two quantizations have the same scale.
    rare = RequantizationTrainer(groups(scheme), random_weight(), error_feedback(period=4, refit_every=0))
    standing = rare.parameters[0]["scale"].clone()
    pretend_update(rare, torch.full((6, 10), 1.0), 0.5, 1)
    assert torch.equal(rare.quantized()[0].parameters["scale"], standing)
    going_on = RequantizationTrainer(groups(scheme), trainer.weight, error_feedback(refit_every=0), trainer.quantized())
    pretend_update(going_on, torch.full((6, 10), 1.0), 0.5, 1)
    assert torch.equal(going_on.parameters[0]["scale"], first)


def test_a_centroids_gradient_is_the_sum_over_its_weights() -> None:
    weight = nn.Parameter(torch.tensor([[-1.0, -1.1, 1.0], [1.2, 1.1, -0.9]]))
    trainer = FixedCodesTrainer(groups(scheme_from_options("codebook", bits=1)), weight, None)
    torch.testing.assert_close(trainer.learnable_parameters()[0].detach(), torch.tensor([-1.0, 1.1]), atol=5e-3, rtol=0)
    codes = trainer.quantized()[0].codes
    assert codes.tolist() == [[0, 0, 1], [1, 1, 0]]
    seen = pretend_update(trainer, torch.tensor([[1.0, 2.0, 10.0], [20.0, 30.0, 3.0]]), 0.0, 1)
    assert torch.equal(seen, matrix(trainer))
    (centroids,) = trainer.learnable_parameters()
    assert centroids.grad is not None
    assert centroids.grad.tolist() == [6.0, 60.0]
    assert weight.grad is None


def test_a_factors_gradient_is_the_signed_sum_over_its_row() -> None:
    # Sums of 4 and 1: -5, -3, 3, 5. Column by column the codes are (+, +), (+, -), (-, +) and (-, -).
    weight = nn.Parameter(torch.tensor([[5.0, 3.0, -3.0, -5.0], [10.0, 6.0, -6.0, -10.0]]))
    settings = straight_through(parameters="trained")
    trainer = StraightThroughTrainer(groups(scheme_from_options("binary", bits=2)), weight, settings, None)
    (factors,) = trainer.learnable_parameters()
    assert factors.tolist() == [[4.0, 1.0], [8.0, 2.0]]
    gradient = torch.tensor([[1.0, 10.0, 100.0, 1000.0], [0.0, 0.0, 0.0, 2.0]])
    pretend_update(trainer, gradient, 0.0, 1)
    assert factors.grad is not None
    assert factors.grad.tolist() == [[1.0 + 10 - 100 - 1000, 1.0 - 10 + 100 - 1000], [-2.0, -2.0]]
    assert weight.grad is not None and torch.equal(weight.grad, gradient)


def test_trained_factors_are_rounded_to_bfloat16_in_training_and_in_the_file() -> None:
    settings = straight_through(parameters="trained")
    trainer = StraightThroughTrainer(groups(scheme_from_options("binary", bits=2)), random_weight(), settings, None)
    pretend_update(trainer, random_weight(), 1e-3, 1)
    (factors,) = trainer.learnable_parameters()
    seen = pretend_update(trainer, torch.zeros(6, 10), 0.0, 2)
    stored = trainer.quantized()[0].parameters["alphas"]
    assert torch.equal(stored, factors.detach().to(torch.bfloat16).float()) and not torch.equal(stored, factors)
    sums = stored @ torch.tensor([[a, b] for a in (-1.0, 1) for b in (-1.0, 1)]).T
    distances = (seen[:, :, None] - sums[:, None, :]).abs().amin(dim=2)
    assert distances.max() < 1e-6


def test_centroids_are_trained_with_fixed_codes() -> None:
    scheme = scheme_from_options("codebook", bits=2)
    weight = random_weight()
    trainer = FixedCodesTrainer(groups(scheme), weight, None)
    codes = trainer.quantized()[0].codes.clone()
    optimizer = make_optimizer([weight, *trainer.learnable_parameters()])
    optimizer.param_groups[0]["lr"] = 0.3
    before = matrix(trainer)
    for update in range(1, 4):
        trainer.before_forward(1)
        (weight - 5).square().sum().backward()  # type: ignore[no-untyped-call]
        trainer.after_backward()
        optimizer.step()
        optimizer.zero_grad()
        trainer.after_step(update)
    assert torch.equal(trainer.quantized()[0].codes, codes)
    assert bool((matrix(trainer) > before).all())


def test_flexible_binarization_trains_both_values_and_weights() -> None:
    scheme = scheme_from_options("binarization_flexible", bits=1)
    trainer = StraightThroughTrainer(groups(scheme), random_weight(), straight_through(parameters="trained"), None)
    low, high = (value for value in trainer.learnable_parameters()[0].tolist())
    below = trainer.quantized()[0].codes == 0
    pretend_update(trainer, below.float(), 1e-3, 1)
    after = trainer.learnable_parameters()[0].tolist()
    assert after == pytest.approx([low - 1e-3 * int(below.sum()), high])
    torch.testing.assert_close(trainer.weight.detach(), random_weight().detach() - 1e-3 * below)


def test_the_next_stage_continues_with_trained_centroids() -> None:
    scheme = scheme_from_options("codebook", bits=2)
    first = FixedCodesTrainer(groups(scheme), random_weight(), None)
    pretend_update(first, torch.ones(6, 10), 0.01, 1)
    for settings in (None, straight_through(parameters="trained")):
        weight = nn.Parameter(first.full_precision())
        second = make_trainer(settings, groups(scheme), weight, first.quantized())
        assert torch.equal(matrix(second), matrix(first))


@pytest.mark.parametrize("settings", [periodic(3), error_feedback()])
def test_codes_of_an_earlier_stage_are_kept(settings: Periodic | ErrorFeedback) -> None:
    scheme = scheme_from_options("binary", bits=2, method="greedy")
    first = make_trainer(settings, groups(scheme), random_weight())
    wanted = first.full_precision()
    again = fake_quantize(scheme, matrix(first))
    assert again.norm() < 0.99 * matrix(first).norm()
    second = make_trainer(settings, groups(scheme), nn.Parameter(wanted.clone()), first.quantized())
    assert torch.equal(matrix(second), matrix(first))
    assert torch.equal(second.weight, first.weight)
    torch.testing.assert_close(second.full_precision(), wanted)


def test_each_row_group_is_quantized_by_its_scheme_and_rows_keep_their_order() -> None:
    two, one = scheme_from_options("binary", bits=2), scheme_from_options("binary", bits=1)
    divided = (RowGroup(two, (1, 4)), RowGroup(one, (0, 2, 3, 5)))
    weight = random_weight()
    decoded = matrix(MatrixTrainer(divided, weight))
    assert torch.equal(decoded[[1, 4]], fake_quantize(two, weight[[1, 4]]))
    assert torch.equal(decoded[[0, 2, 3, 5]], fake_quantize(one, weight[[0, 2, 3, 5]]))
