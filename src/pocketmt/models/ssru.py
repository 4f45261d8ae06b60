"""The simpler simple recurrent unit: one running sum instead of the decoder's self-attention.

Shapes: B sentences, T target positions, d model dimension.
"""

import torch
from torch import Tensor, nn


class SSRU(nn.Module):
    """f_t = sigmoid(W_f x_t + b_f);  c_t = f_t * c_(t-1) + (1 - f_t) * (W x_t);  h_t = relu(c_t), c_(-1) = 0.

    Kim et al. 2019 ("From Research to Production and Back"), section 3.1, as in the decoders of Behnke et al. 2021,
    section 3. `input_forget` holds W, then W_f: one product for both.
    """

    def __init__(self, model_dimension: int) -> None:
        super().__init__()
        self.input_forget = nn.Linear(model_dimension, 2 * model_dimension, bias=False)
        self.forget_bias = nn.Parameter(torch.zeros(model_dimension))

    def forward(self, x: Tensor, cell: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """X [B, T, d], after positions that left `cell` [B, d] or after none -> (h [B, T, d], c of the last [B, d])."""
        given, forget = self.input_forget(x).chunk(2, dim=-1)
        forget = torch.sigmoid(forget + self.forget_bias)
        given = (1.0 - forget) * given
        cells = []
        for kept, new in zip(forget.unbind(1), given.unbind(1), strict=True):
            cell = new if cell is None else kept * cell + new
            cells.append(cell)
        assert cell is not None  # T is at least 1
        return torch.relu(torch.stack(cells, dim=1)), cell
