"""Training losses: cross-entropy with label smoothing, and word-level distillation."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx

from pocketmt.models.inputs import PADDING, first_decoder_input
from pocketmt.models.network import TranslationNetwork
from pocketmt.training.data import Batch

# Rows of logits in memory at one time. 256 x 6,000 float32 are 6 MB and stay in a processor's cache; those of a batch
# would not. A GPU needs large products.
ROWS_AT_ONCE = 256
ROWS_AT_ONCE_ON_GPU = 8192


def _rows_at_once(decoded: Tensor) -> int:
    return ROWS_AT_ONCE_ON_GPU if decoded.is_cuda else ROWS_AT_ONCE


def _matmul_operand(x: Tensor) -> Tensor:
    """Return x in the type that matrix products read: the autocast type, if autocast is enabled, or its own type."""
    if not torch.is_autocast_enabled(x.device.type):
        return x
    return x.to(torch.get_autocast_dtype(x.device.type))


class _OutputCrossEntropy(torch.autograd.Function):
    """Fused output projection and label-smoothed cross-entropy; the forward pass computes the gradients as well."""

    @staticmethod
    def forward(
        context: FunctionCtx, decoded: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float
    ) -> Tensor:
        decoded_gradient, weight_gradient, bias_gradient = _gradients(context, decoded, weight, bias)
        loss = decoded.new_zeros(())
        rows_read, weight_read = _matmul_operand(decoded), _matmul_operand(weight)
        count = _rows_at_once(decoded)
        for start in range(0, len(decoded), count):
            rows = rows_read[start : start + count]
            chosen = targets[start : start + count, None]
            logits = _logits(rows, weight_read, bias)
            largest = logits.amax(dim=-1, keepdim=True)
            smooth = logits.mean(dim=-1, keepdim=True) * smoothing + logits.gather(1, chosen) * (1 - smoothing)
            exponentials = logits.sub_(largest).exp_()
            total = exponentials.sum(dim=-1, keepdim=True)
            loss += (total.log() + largest - smooth).sum()
            gradient = exponentials.div_(total).sub_(smoothing / weight.shape[0])
            gradient = gradient.scatter_add_(1, chosen, torch.full_like(total, smoothing - 1))
            if bias_gradient is not None:
                bias_gradient += gradient.sum(dim=0)
            gradient = _matmul_operand(gradient)
            if decoded_gradient is not None:
                decoded_gradient[start : start + count] = gradient @ weight_read
            if weight_gradient is not None:
                weight_gradient += gradient.t() @ rows
        context.save_for_backward(decoded_gradient, weight_gradient, bias_gradient)  # type: ignore[arg-type]
        return loss

    @staticmethod
    def backward(context: FunctionCtx, *output_gradients: Tensor) -> tuple[Tensor | None, ...]:
        return (*_scaled_gradients(context, output_gradients[0]), None, None)


def output_cross_entropy(
    decoded: Tensor, weight: Tensor, targets: Tensor, smoothing: float, bias: Tensor | None = None
) -> Tensor:
    """Return the cross-entropy of softmax(decoded @ weight^T + bias) with label smoothing, summed over positions.

    The label is 1 - smoothing for the target, plus smoothing / V for each piece (Szegedy et al. 2016, section 7, with a
    uniform prior).

    Args:
        decoded: decoder output [N, d], float32.
        weight: output matrix [V, d], float32.
        targets: target ids [N], int64.
        smoothing: label smoothing, in [0, 1); 0 gives the plain cross-entropy.
        bias: of the output [V], float32; None: there is none.

    Returns:
        The sum over the N positions, in nats, float32 scalar.
    """
    loss: Tensor = _OutputCrossEntropy.apply(decoded, weight, bias, targets, smoothing)  # type: ignore[no-untyped-call]
    return loss


class _OutputDivergence(torch.autograd.Function):
    """Fused output projection and divergence from a teacher; the forward pass computes the gradients as well."""

    @staticmethod
    def forward(
        context: FunctionCtx,
        decoded: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        teacher_decoded: Tensor,
        teacher_weight: Tensor,
        teacher_bias: Tensor | None,
    ) -> Tensor:
        decoded_gradient, weight_gradient, bias_gradient = _gradients(context, decoded, weight, bias)
        loss = decoded.new_zeros(())
        rows_read, weight_read = _matmul_operand(decoded), _matmul_operand(weight)
        teacher_rows_read, teacher_weight_read = _matmul_operand(teacher_decoded), _matmul_operand(teacher_weight)
        count = _rows_at_once(decoded)
        for start in range(0, len(decoded), count):
            rows = rows_read[start : start + count]
            student = torch.log_softmax(_logits(rows, weight_read, bias), dim=-1)
            teacher_rows = teacher_rows_read[start : start + count]
            teacher = torch.log_softmax(_logits(teacher_rows, teacher_weight_read, teacher_bias), dim=-1)
            probability = teacher.exp()
            loss += (probability * (teacher - student)).sum()
            gradient = student.exp_().sub_(probability)
            if bias_gradient is not None:
                bias_gradient += gradient.sum(dim=0)
            gradient = _matmul_operand(gradient)
            if decoded_gradient is not None:
                decoded_gradient[start : start + count] = gradient @ weight_read
            if weight_gradient is not None:
                weight_gradient += gradient.t() @ rows
        context.save_for_backward(decoded_gradient, weight_gradient, bias_gradient)  # type: ignore[arg-type]
        return loss

    @staticmethod
    def backward(context: FunctionCtx, *output_gradients: Tensor) -> tuple[Tensor | None, ...]:
        return (*_scaled_gradients(context, output_gradients[0]), None, None, None)


def _gradients(
    context: FunctionCtx, decoded: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return room for the gradients that are needed of the first three arguments; those that add up are zero."""
    needed: tuple[bool, ...] = context.needs_input_grad  # type: ignore[attr-defined]
    return (
        torch.empty_like(decoded) if needed[0] else None,
        torch.zeros_like(weight) if needed[1] else None,
        torch.zeros_like(bias) if bias is not None and needed[2] else None,
    )


def _scaled_gradients(context: FunctionCtx, scale: Tensor) -> Iterator[Tensor | None]:
    gradients: tuple[Tensor | None, ...] = context.saved_tensors  # type: ignore[attr-defined]
    return (None if gradient is None else gradient * scale for gradient in gradients)


def _logits(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product = (rows @ weight.t()).float()
    return product if bias is None else product.add_(bias)


def output_divergence(
    decoded: Tensor,
    weight: Tensor,
    teacher_decoded: Tensor,
    teacher_weight: Tensor,
    bias: Tensor | None = None,
    teacher_bias: Tensor | None = None,
) -> Tensor:
    """Return the Kullback-Leibler divergence KL(teacher || student) of output distributions, summed over positions.

    This is word-level distillation (Kim and Rush 2016, section 3.1): their loss minus the teacher's entropy, so it is 0
    if student and teacher agree.

    Args:
        decoded: decoder output of the student [N, d], float32.
        weight: output matrix of the student [V, d], float32.
        teacher_decoded: decoder output of the teacher [N, e], float32, without gradient.
        teacher_weight: output matrix of the teacher [V, e], float32, without gradient.
        bias, teacher_bias: of the outputs [V], float32; None: there is none.

    Returns:
        The sum over the N positions, in nats, float32 scalar.
    """
    arguments = (decoded, weight, bias, teacher_decoded, teacher_weight, teacher_bias)
    loss: Tensor = _OutputDivergence.apply(*arguments)  # type: ignore[no-untyped-call]
    return loss


@dataclass(frozen=True, kw_only=True)
class TranslationObjective:
    """Loss of a batch: cross-entropy with its target side, divergence from a teacher's probabilities, or both.

    Attributes:
        model: maps source [B, S] and target inputs [B, T] to decoder output [B, T, d].
        network: the same, as it is without what trains it; it has the output projection.
        smoothing: label smoothing of the cross-entropy.
        teacher: the teacher's network in evaluation mode, which may have another first decoder input; None: the loss is
            the cross-entropy.
        cross_entropy_weight: weight of the cross-entropy if there is a teacher, in [0, 1); the divergence has the rest.
        autocast: returns the context of the forward pass, which sets its precision.
    """

    model: nn.Module
    network: TranslationNetwork
    smoothing: float
    teacher: TranslationNetwork | None = None
    cross_entropy_weight: float = 0.0
    autocast: Callable[[], AbstractContextManager[Any]] = nullcontext

    def __call__(self, batch: Batch) -> Tensor:
        """Return the loss, summed over the batch's target tokens, in nats."""
        with self.autocast():
            decoded, targets = drop_padding(self.model(batch.source, batch.target_inputs), batch.targets)
            if self.teacher is None:
                return self._cross_entropy(decoded, targets)
            with torch.no_grad():
                teacher_inputs = batch.target_inputs.clone()
                teacher_inputs[:, 0] = first_decoder_input(self.teacher.architecture)
                teacher_decoded, _ = drop_padding(self.teacher(batch.source, teacher_inputs), batch.targets)
            divergence = output_divergence(
                decoded,
                self.network.output_weight,
                teacher_decoded,
                self.teacher.output_weight,
                self.network.output.bias,
                self.teacher.output.bias,
            )
            loss = (1 - self.cross_entropy_weight) * divergence
            if self.cross_entropy_weight > 0:
                loss = loss + self.cross_entropy_weight * self._cross_entropy(decoded, targets)
            return loss

    def _cross_entropy(self, decoded: Tensor, targets: Tensor) -> Tensor:
        network = self.network
        return output_cross_entropy(decoded, network.output_weight, targets, self.smoothing, network.output.bias)


def drop_padding(decoded: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return decoder output [B, T, d] and targets [B, T] of the positions that are not padding, as [N, d] and [N]."""
    kept = targets != PADDING
    return decoded[kept], targets[kept]
