"""Operations whose results a file quantizes within trained ranges: the manifest's member `activations`."""

from collections.abc import Callable
from typing import Final, NamedTuple

from pocketmt.errors import ModelFileError
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.errors import NewerFileError
from pocketmt.model_file.matrices.stored_form import TensorLayout

BITS: Final = range(2, 9)
LARGEST_FLOAT32: Final = 3.4028234663852886e38
# These need the ranges of queries, keys and values: without them attention computes in floats.
SOFTMAX: Final = ("softmax_numerator", "softmax_output")
# Operands of products. Sums of codes cannot have a scale for each element.
OPERANDS: Final = ("query_key_value", "attention_output", "layer_norm_output")


class StoredActivationRanges(NamedTuple):
    """The manifest's entry.

    Attributes:
        bits: of a code.
        operations: quantized operations, names in `OPERATIONS`.
        bucketed: those of them with one range for each element of a row (Prato et al. 2020, section 3.3).
    """

    bits: int
    operations: tuple[str, ...]
    bucketed: tuple[str, ...]

    def tensors(self, architecture: Architecture) -> dict[str, TensorLayout]:
        """Return name -> dtype and shape of the ranges, F32 [places, 2, elements]: minima, then maxima."""
        layouts: dict[str, TensorLayout] = {}
        for name in self.operations:
            operation = OPERATIONS[name]
            bucketed = operation.elements if name in self.bucketed else None
            elements = 1 if bucketed is None else bucketed(architecture)
            layouts[ranges_name(name)] = ("F32", (len(operation.places(architecture)), 2, elements))
        return layouts

    @property
    def quantized_again(self) -> tuple[str, ...]:
        """Operands with buckets: a product quantizes their rows again, to 8 bits with one scale.

        Trained codes take part in a product only without buckets. So a file with buckets is not computed as in Prato et
        al. 2020, section 3.3.
        """
        return tuple(name for name in self.bucketed if name in OPERANDS)

    def to_json(self) -> dict[str, object]:
        """Return the manifest's entry."""
        return {"bits": self.bits, "operations": list(self.operations), "bucketed": list(self.bucketed)}


class Operation(NamedTuple):
    """An operation that can be quantized.

    Attributes:
        places: an architecture -> the parts of the network with this operation, in the order of `parameter_shapes`.
        elements: an architecture -> the elements of a row, each of which may have its own range; None: they cannot.
    """

    places: Callable[[Architecture], list[str]]
    elements: Callable[[Architecture], int] | None = None


def ranges_name(operation: str) -> str:
    """Return the name of the tensor with the ranges of an operation."""
    return f"ranges.{operation}"


def activation_ranges_from_json(value: object) -> StoredActivationRanges:
    """Read the manifest's entry; raises ModelFileError naming the member."""
    where = "manifest: activations"
    if not isinstance(value, dict) or set(value) != {"bits", "operations", "bucketed"}:
        raise ModelFileError(f"{where}: expected an object of bits, operations and bucketed")
    bits = value["bits"]
    if type(bits) is not int or bits not in BITS:
        raise NewerFileError(f"{where}: bits is {bits!r:.40}, expected a whole number from {BITS[0]} to {BITS[-1]}")
    operations = _names(value["operations"], f"{where}: operations")
    bucketed = _names(value["bucketed"], f"{where}: bucketed")
    if not operations:
        raise ModelFileError(f"{where}: operations is empty")
    for name in bucketed:
        if name not in operations or name not in BUCKETED:
            raise ModelFileError(f"{where}: bucketed: {name!r} is no operation of this file that has buckets")
    if set(SOFTMAX) & set(operations) and "query_key_value" not in operations:
        raise ModelFileError(f"{where}: a quantized softmax needs query_key_value among the operations")
    return StoredActivationRanges(bits, operations, bucketed)


def check_ranges(operation: str, shape: tuple[int, ...], content: memoryview) -> None:
    """Check the ranges of an operation.

    Args:
        operation: its name.
        shape: of its tensor, [places, 2, elements].
        content: its bytes.

    Raises:
        ModelFileError: naming the tensor, if an end is not finite, the ends of a range are too far apart or not in
            order, or a denominator may be 0.
    """
    name = ranges_name(operation)
    values = content.cast("f").tolist()
    elements = shape[2]
    for index in range(shape[0] * elements):
        place, element = divmod(index, elements)
        minimum = values[place * 2 * elements + element]
        maximum = values[(place * 2 + 1) * elements + element]
        if not 0 <= maximum - minimum <= LARGEST_FLOAT32:  # also false if one is not finite
            raise ModelFileError(f"tensor {name!r} holds the range from {minimum} to {maximum}, which is none")
        if operation == "layer_norm_denominator" and minimum <= 0:
            raise ModelFileError(f"tensor {name!r} holds the minimum {minimum}: a denominator is greater than 0")


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ModelFileError(f"{where} is not a list of strings")
    for name in value:
        if name not in OPERATIONS:
            raise NewerFileError(f"{where}: {name!r:.40} is unknown here (known: {', '.join(OPERATIONS)})")
    if len(set(value)) < len(value):
        raise ModelFileError(f"{where}: names an operation twice")
    return tuple(value)


def _parts(ending: str, suffix: str) -> Callable[[Architecture], list[str]]:
    """Return a function of an architecture: the names of its parameters with an ending, without a suffix."""
    return lambda architecture: [
        name.removesuffix(suffix) for name in architecture.parameter_shapes() if name.endswith(ending)
    ]


def _operands(architecture: Architecture) -> list[str]:
    return [f"{name}.{operand}" for name in _attentions(architecture) for operand in ("query", "key", "value")]


def _model_dimension(architecture: Architecture) -> int:
    return architecture.model_dimension


_attentions: Final = _parts("attention.output.weight", ".output.weight")
_feed_forwards: Final = _parts("inner.weight", ".inner.weight")
_norms: Final = _parts("norm.weight", ".weight")
# Prato et al. 2020, section 3.2. Gamma of a layer normalization is stored after quantization, and is not listed here.
OPERATIONS: Final = {
    "position": Operation(lambda architecture: ["position"]),
    "embedding_sum": Operation(lambda architecture: ["encoder", "decoder"], _model_dimension),
    "query_key_value": Operation(_operands, lambda each: each.head_size),
    "softmax_numerator": Operation(_attentions),
    "softmax_output": Operation(_attentions),
    "attention_output": Operation(_attentions, lambda each: each.attention_dimension),
    "relu_output": Operation(_feed_forwards),
    "feed_forward_output": Operation(_feed_forwards, _model_dimension),
    "layer_norm_numerator": Operation(_norms, _model_dimension),
    "layer_norm_denominator": Operation(_norms),
    "layer_norm_quotient": Operation(_norms, _model_dimension),
    "layer_norm_output": Operation(_norms, _model_dimension),
}
BUCKETED: Final = tuple(name for name, operation in OPERATIONS.items() if operation.elements is not None)
