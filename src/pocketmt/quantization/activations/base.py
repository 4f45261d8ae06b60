"""The contract of activation quantization: how the inputs of quantized matrices become codes in the engine."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from torch import Tensor


class ActivationQuantization(ABC):
    """A way to quantize the activations that are multiplied with quantized matrices, other than `quantize_rows`."""

    @property
    def calibrated_scales(self) -> Mapping[str, Tensor] | None:
        """Scale of the inputs of each matrix, float32 [1], which the file must hold; None: it holds no scales."""
        return None

    @abstractmethod
    def stored_form(self) -> dict[str, object]:
        """Return its entry in the manifest of a model file."""
