"""The best pieces of each row of logits: by a kernel on a GPU, else by PyTorch."""

import torch
from torch import Tensor

from pocketmt.gpu_kernels.availability import MOST_PIECES, kernels_take


def best_pieces(values: Tensor, count: int, *, logits: bool) -> tuple[Tensor, Tensor]:
    """Return the largest values of each row, the largest first; of equal ones, the first piece comes first.

    Args:
        values: [rows, V], of a float type.
        count: number of values, at most V.
        logits: whether the log-probabilities of logits are returned; False: the values themselves.

    Returns:
        float32 [rows, count], and the pieces, int64 [rows, count].
    """
    if count <= MOST_PIECES and kernels_take(values):
        from pocketmt.gpu_kernels.best_pieces import best_pieces as by_kernel

        return by_kernel(values, count, logits=logits)
    values = torch.log_softmax(values.float(), dim=-1) if logits else values.float()
    if count == 1:
        return values.max(dim=-1, keepdim=True)
    # Of values equal to the least of the best, topk takes any. A second one takes all above it, then the first pieces.
    least = values.topk(count, dim=-1)[0][:, -1:]
    pieces_in_all = values.shape[-1]
    first = torch.arange(pieces_in_all, 0, -1, device=values.device, dtype=torch.int32)
    rank = torch.where(values > least, pieces_in_all + 1, torch.where(values == least, first, 0))
    pieces, _ = rank.topk(count, dim=-1).indices.sort(dim=-1)
    best, order = values.gather(-1, pieces).sort(dim=-1, descending=True, stable=True)
    return best, pieces.gather(-1, order)
