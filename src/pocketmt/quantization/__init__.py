"""Quantization schemes: how real numbers become codes. A scheme sees a tensor, never a model or a file."""

from pocketmt.quantization.affine import Affine
from pocketmt.quantization.binarization import FixedBinarization, FlexibleBinarization
from pocketmt.quantization.binary_code import BinaryCode
from pocketmt.quantization.codebook import Codebook
from pocketmt.quantization.entropy_constrained import EntropyConstrained
from pocketmt.quantization.fixed_point import FixedPoint
from pocketmt.quantization.logarithmic import Logarithmic
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.scheme import Parameters, Scheme, fake_quantize
from pocketmt.quantization.uniform import Uniform

__all__ = [
    "Affine",
    "BinaryCode",
    "Codebook",
    "EntropyConstrained",
    "FixedBinarization",
    "FixedPoint",
    "FlexibleBinarization",
    "Logarithmic",
    "Parameters",
    "Scheme",
    "Uniform",
    "fake_quantize",
    "scheme_from_options",
]
