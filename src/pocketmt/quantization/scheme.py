"""The scheme contract: pure functions of a tensor that training, packing, the engine and reports share.

A weight becomes codes and parameters, and comes back:

    parameters = scheme.fit(weight)
    codes = scheme.assign(weight, parameters)
    weight' = scheme.decode(codes, parameters)

What holds for every scheme, so that a new one is one file beside this one:

- parameters are tensors under names of the scheme's own choice ("scale"; "minimum" of affine codes; "levels" of a
  codebook; "alphas" of binary codes). Each is stored as the tensor "<matrix>.<row group>.<name>", and `fit` returns it
  exactly as it is stored, so that codes are chosen for what is read back;
- codes begin with rows and end with columns: [rows, columns], or [rows, bits, columns] of bit planes ([B1]);
- given the parameters, a weight's code depends on that weight alone: `assign` of one column is that column of `assign`.
  Error compensation (error_compensation.py) chooses codes column by column so;
- `decode` is differentiable in every parameter while codes stand still: a trained codebook's gradient is then the sum
  over each centroid's weights ([Z1]), with nothing added here;
- a matrix may be cut into row groups of different schemes ([B2]): each group is a weight of its own;
- straight-through training ([Q1]) needs no more than `weight + (fake_quantize(scheme, weight) - weight).detach()`.
"""

from typing import Protocol

from torch import Tensor

Parameters = dict[str, Tensor]


class Scheme(Protocol):
    """A way to make a matrix small."""

    @property
    def name(self) -> str:
        """As in recipes; the manifest names the form in which it is stored, which several schemes may share."""
        ...

    @property
    def bits(self) -> int:
        """Bits of one weight's code, parameters not counted."""
        ...

    @property
    def granularity(self) -> str:
        """What shares parameters: a "row" or the whole "matrix"."""
        ...

    def fit(self, weight: Tensor) -> Parameters:
        """Choose the parameters for a weight [rows, columns] of finite floats."""
        ...

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Choose the codes of a weight [rows, columns] under given parameters; what is out of range saturates."""
        ...

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return the weight, float32 [rows, columns], that codes and parameters stand for."""
        ...

    def description(self) -> dict[str, object]:
        """Return the manifest's entry: name, bits, granularity, and what else a reader needs to decode."""
        ...


def fake_quantize(scheme: Scheme, weight: Tensor) -> Tensor:
    """Return what the scheme makes of a weight [rows, columns]: float32, same shape."""
    parameters = scheme.fit(weight)
    return scheme.decode(scheme.assign(weight, parameters), parameters)
