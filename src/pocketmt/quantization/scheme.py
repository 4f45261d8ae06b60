"""The contract of a quantization scheme: pure functions of a tensor, shared by training, packing and reports.

A scheme turns a weight into codes and parameters, and these into a weight:

    parameters = scheme.fit(weight)
    codes = scheme.assign(weight, parameters)
    decoded = scheme.decode(codes, parameters)

Every scheme obeys these rules:

- Parameters are named tensors: "scale", "minimum" of affine codes, "levels" of a codebook, "alphas" of binary codes.
  The model file stores each as the tensor "<matrix>.<row group>.<name>". `fit` rounds them to the stored dtype, so that
  codes are chosen for the values that a reader sees.
- The first dimension of codes is rows and the last is columns: [rows, columns], or [rows, bits, columns] of bit planes.
- With given parameters, the code of a weight depends on that weight alone: `assign` of one column is that column of
  `assign`. Error compensation relies on this.
- `decode` is differentiable in every parameter while the codes are fixed.
- A matrix may consist of row groups with different schemes. Each group is quantized as a matrix.

Everything that is particular to a scheme is a method or attribute of its class; other packages never ask for its type.
A new scheme in an existing stored form is one file with a subclass of `Scheme`, and one line in `registry.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class Scheme(ABC):
    """A way to quantize a matrix; the dataclass fields of a subclass are its options.

    Attributes:
        name: in recipes.
        form: the form in which model files store its codes; several schemes may share one.
        entropy_coded: whether model files entropy-code its codes even if the user does not ask for it.
        keeps_zero: whether a weight of 0 is 0 after quantization.
        bounded_fit: whether `fit` of parameters for a whole matrix takes at most as much memory as the matrix.
        learnable: whether gradients can train its parameters (`learnable_parameters`).
    """

    name: ClassVar[str]
    form: ClassVar[str]
    entropy_coded: ClassVar[bool] = False
    keeps_zero: ClassVar[bool] = False
    bounded_fit: ClassVar[bool] = False
    learnable: ClassVar[bool] = False

    @property
    @abstractmethod
    def bits(self) -> int:
        """Bits of the code of one weight, without parameters."""

    @property
    @abstractmethod
    def granularity(self) -> str:
        """The weights that share parameters: a "row" or the whole "matrix"."""

    @abstractmethod
    def fit(self, weight: Tensor) -> Parameters:
        """Choose the parameters for a weight [rows, columns] of finite floats."""

    @abstractmethod
    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Choose the codes of a weight [rows, columns] under given parameters; values out of range saturate."""

    @abstractmethod
    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return the weight that codes and parameters represent, float32 [rows, columns]."""

    def stored_form(self) -> dict[str, object]:
        """Return the scheme's entry in the manifest of a model file: all that a reader needs to decode."""
        return {"name": self.form, "bits": self.bits, "granularity": self.granularity}

    def clamped(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return which weights lie outside the range of evenly spaced codes, bool [rows, columns].

        Straight-through training with fixed parameters gives them no gradient (Prato et al. 2020, section 3.1).
        """
        return torch.zeros_like(weight, dtype=torch.bool)

    def learnable_parameters(self, parameters: Parameters) -> Tensor:
        """Return the float32 tensor that an optimizer moves in place of the parameters."""
        raise NotImplementedError(f"{self.name} has no learnable parameters")

    def parameters_from(self, learnable: Tensor) -> Parameters:
        """Return the parameters that a tensor of `learnable_parameters` stands for, rounded as `fit` rounds them.

        They are differentiable: the gradient passes straight through the rounding.
        """
        raise NotImplementedError(f"{self.name} has no learnable parameters")

    @classmethod
    def presets(cls) -> Mapping[str, Mapping[str, Self]]:
        """Return the values of `pocketmt pack --scheme` that use this scheme: name -> pattern of matrices -> scheme."""
        return {}


def fake_quantize(scheme: Scheme, weight: Tensor) -> Tensor:
    """Return a weight [rows, columns] after quantization, float32 of the same shape."""
    parameters = scheme.fit(weight)
    return scheme.decode(scheme.assign(weight, parameters), parameters)
