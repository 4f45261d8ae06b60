"""Quantization schemes: how real numbers become codes. A scheme sees a tensor, never a model or a file."""

from pocketmt.quantization.logarithmic import Logarithmic
from pocketmt.quantization.scheme import Parameters, Scheme, fake_quantize
from pocketmt.quantization.uniform import Uniform

__all__ = ["Logarithmic", "Parameters", "Scheme", "Uniform", "fake_quantize"]
