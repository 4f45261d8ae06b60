"""What training makes small."""

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx

from pocketmt.models.network import TranslationNetwork
from pocketmt.text.vocabulary import PAD
from pocketmt.training.data import Batch

# Rows of logits that exist at one time: 256 x 6,000 float32 are 6 MB and stay in the cache; all of a batch's would not.
ROWS_AT_ONCE = 256


def _for_products(x: Tensor) -> Tensor:
    """Return what a product reads: of the narrow type under mixed precision; results are made float32 again."""
    if not torch.is_autocast_enabled(x.device.type):
        return x
    return x.to(torch.get_autocast_dtype(x.device.type))


class _OutputCrossEntropy(torch.autograd.Function):
    """Output projection and summed label-smoothed cross-entropy in one; gradients are made with the loss."""

    @staticmethod
    def forward(context: FunctionCtx, decoded: Tensor, weight: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        needed: tuple[bool, ...] = context.needs_input_grad  # type: ignore[attr-defined]
        decoded_gradient = torch.empty_like(decoded) if needed[0] else None
        weight_gradient = torch.zeros_like(weight) if needed[1] else None
        loss = decoded.new_zeros(())
        rows_read, weight_read = _for_products(decoded), _for_products(weight)
        for start in range(0, len(decoded), ROWS_AT_ONCE):
            rows = rows_read[start : start + ROWS_AT_ONCE]
            chosen = targets[start : start + ROWS_AT_ONCE, None]
            logits = (rows @ weight_read.t()).float()
            largest = logits.amax(dim=-1, keepdim=True)
            smooth = logits.mean(dim=-1, keepdim=True) * smoothing + logits.gather(1, chosen) * (1 - smoothing)
            exponentials = logits.sub_(largest).exp_()
            total = exponentials.sum(dim=-1, keepdim=True)
            loss += (total.log() + largest - smooth).sum()
            gradient = exponentials.div_(total).sub_(smoothing / weight.shape[0])
            gradient = _for_products(gradient.scatter_add_(1, chosen, torch.full_like(total, smoothing - 1)))
            if decoded_gradient is not None:
                decoded_gradient[start : start + ROWS_AT_ONCE] = gradient @ weight_read
            if weight_gradient is not None:
                weight_gradient += gradient.t() @ rows
        context.save_for_backward(decoded_gradient, weight_gradient)  # type: ignore[arg-type]
        return loss

    @staticmethod
    def backward(context: FunctionCtx, *output_gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        decoded_gradient, weight_gradient = context.saved_tensors  # type: ignore[attr-defined]
        scale = output_gradients[0]
        return (
            None if decoded_gradient is None else decoded_gradient * scale,
            None if weight_gradient is None else weight_gradient * scale,
            None,
            None,
        )


def output_cross_entropy(decoded: Tensor, weight: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Summed cross-entropy of softmax(decoded @ weight^T) with label smoothing.

    The target has 1 - smoothing, and smoothing is spread evenly over the vocabulary.

    Args:
        decoded: decoder output [N, d], float32.
        weight: output matrix [V, d], float32.
        targets: [N] int64.
        smoothing: in [0, 1); 0 is the plain cross-entropy.

    Returns:
        The sum over N, in nats (Szegedy et al. 2016, section 7, with a uniform prior).
    """
    loss: Tensor = _OutputCrossEntropy.apply(decoded, weight, targets, smoothing)  # type: ignore[no-untyped-call]
    return loss


class _OutputDivergence(torch.autograd.Function):
    """Output projection and summed divergence from a teacher's output in one; gradients are made with the loss."""

    @staticmethod
    def forward(
        context: FunctionCtx, decoded: Tensor, weight: Tensor, teacher_decoded: Tensor, teacher_weight: Tensor
    ) -> Tensor:
        needed: tuple[bool, ...] = context.needs_input_grad  # type: ignore[attr-defined]
        decoded_gradient = torch.empty_like(decoded) if needed[0] else None
        weight_gradient = torch.zeros_like(weight) if needed[1] else None
        loss = decoded.new_zeros(())
        rows_read, weight_read = _for_products(decoded), _for_products(weight)
        taught_read, teaching_read = _for_products(teacher_decoded), _for_products(teacher_weight)
        for start in range(0, len(decoded), ROWS_AT_ONCE):
            rows = rows_read[start : start + ROWS_AT_ONCE]
            student = torch.log_softmax((rows @ weight_read.t()).float(), dim=-1)
            taught = taught_read[start : start + ROWS_AT_ONCE]
            teacher = torch.log_softmax((taught @ teaching_read.t()).float(), dim=-1)
            probability = teacher.exp()
            loss += (probability * (teacher - student)).sum()
            gradient = _for_products(student.exp_().sub_(probability))
            if decoded_gradient is not None:
                decoded_gradient[start : start + ROWS_AT_ONCE] = gradient @ weight_read
            if weight_gradient is not None:
                weight_gradient += gradient.t() @ rows
        context.save_for_backward(decoded_gradient, weight_gradient)  # type: ignore[arg-type]
        return loss

    @staticmethod
    def backward(context: FunctionCtx, *output_gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        return _OutputCrossEntropy.backward(context, *output_gradients)


def output_divergence(decoded: Tensor, weight: Tensor, teacher_decoded: Tensor, teacher_weight: Tensor) -> Tensor:
    """Summed Kullback-Leibler divergence KL(teacher || student) of output distributions: word-level distillation.

    Args:
        decoded: the student's decoder output [N, d], float32.
        weight: its output matrix [V, d], float32.
        teacher_decoded: the teacher's [N, e], without gradient.
        teacher_weight: the teacher's [V, e], without gradient.

    Returns:
        The sum over N, in nats (Kim and Rush 2016, section 3.1, less the teacher's own entropy); 0 where they agree.
    """
    arguments = (decoded, weight, teacher_decoded, teacher_weight)
    loss: Tensor = _OutputDivergence.apply(*arguments)  # type: ignore[no-untyped-call]
    return loss


def taught_loss(
    model: nn.Module,
    output: Tensor,
    batch: Batch,
    smoothing: float,
    teacher: TranslationNetwork | None = None,
    references_share: float = 0.0,
) -> Tensor:
    """Summed loss of a batch by its target side, by a teacher's probabilities of each word in its places, or by both.

    Args:
        model: source and target inputs -> decoder output [B, T, d].
        output: its output matrix [V, d].
        batch: what is read and written.
        smoothing: of the labels, as of `output_cross_entropy`.
        teacher: in evaluation mode; None: the target side alone counts.
        references_share: of the cross-entropy beside a teacher; the rest is the divergence from it.

    Returns:
        The sum over the batch's target tokens, in nats.
    """
    decoded, targets = drop_padding(model(batch.source, batch.target_inputs), batch.targets)
    if teacher is None:
        return output_cross_entropy(decoded, output, targets, smoothing)
    with torch.no_grad():
        taught, _ = drop_padding(teacher(batch.source, batch.target_inputs), batch.targets)
    loss = (1 - references_share) * output_divergence(decoded, output, taught, teacher.embedding.weight)
    if references_share > 0:
        loss = loss + references_share * output_cross_entropy(decoded, output, targets, smoothing)
    return loss


def drop_padding(decoded: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Decoder output [B, T, d] and targets [B, T] -> those at real positions, [N, d] and [N]."""
    real = targets != PAD
    return decoded[real], targets[real]
