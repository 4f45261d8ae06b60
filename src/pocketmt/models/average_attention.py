"""Average attention: the mean of all positions so far instead of the decoder's self-attention.

Shapes: B sentences, T target positions, d model dimension.
"""

import torch
from torch import Tensor, nn

from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.models.activations import ACTIVATIONS
from pocketmt.models.dropout import Dropout

# Of the positions so far: their mean [B, d], and how many they are, [B].
Average = tuple[Tensor, Tensor]


class AverageAttention(nn.Module):
    """h_t = i_t * x_t + g_t * y_t, y_t = f(a_t), a_t the mean of x_0 .. x_t.

    The gates are i_t = sigmoid(W_i x_t + b_i) and g_t = sigmoid(W_g y_t + b_g), f is a feed-forward network. Zhang et
    al. 2018 ("Accelerating Neural Transformer via an Average Attention Network"), section 3; as in Marian, the second
    gate reads y_t alone. Without gates h_t is y_t; without a feed-forward network y_t is a_t.
    """

    def __init__(self, architecture: TransformerArchitecture, dropout: float) -> None:
        super().__init__()
        dimension, nodes = architecture.model_dimension, architecture.average_attention_dimension
        self.has_feed_forward, self.has_gate = nodes > 0, architecture.average_attention_gate
        if self.has_feed_forward:
            self.inner = nn.Linear(dimension, nodes)
            self.activation = ACTIVATIONS[architecture.average_attention_activation]()
            self.dropout = Dropout(dropout)
            self.outer = nn.Linear(nodes, dimension)
        if self.has_gate:
            self.input_gate = nn.Linear(dimension, dimension)
            self.average_gate = nn.Linear(dimension, dimension)

    def forward(self, x: Tensor, averages: Tensor) -> Tensor:
        """X and the means up to each position, normalized in a pre-norm network, [B, T, d] -> h [B, T, d]."""
        if self.has_feed_forward:
            averages = self.outer(self.dropout(self.activation(self.inner(averages))))
        if not self.has_gate:
            return averages
        given: Tensor = torch.sigmoid(self.input_gate(x)) * x
        return given + torch.sigmoid(self.average_gate(averages)) * averages


def running_means(x: Tensor, before: Average | None) -> tuple[Tensor, Average]:
    """X [B, T, d] after some positions -> (the mean up to each position [B, T, d], that of all positions so far).

    Sums and counts are float32 in half precision, too: bfloat16 has no whole number between 256 and 258.
    """
    summands = x.float()
    count = summands.new_zeros(len(x)) if before is None else before[1]
    sums = summands.cumsum(dim=1)
    if before is not None:
        sums = sums + (before[0] * count[:, None])[:, None]
    counts = count[:, None] + torch.arange(1, x.shape[1] + 1, dtype=torch.float32, device=x.device)
    means = sums / counts[..., None]
    return means.to(x.dtype), (means[:, -1], counts[:, -1])
