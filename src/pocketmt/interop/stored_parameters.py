"""Tensors of foreign models in the forms of a model file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from pocketmt.errors import InteropError
from pocketmt.interop.foreign_tensor import CodedRows, CodesTensor, ForeignTensor, Tensor
from pocketmt.model_file.activations.activation_quantization import activation_scale_name
from pocketmt.model_file.matrices.stored_forms import UniformForm
from pocketmt.model_file.writer import FileTensor, StoredTensor, StreamedTensor


@dataclass
class StoredParameters:
    """What the parameters of a model are in its file: tensors by name, and members of the manifest."""

    tensors: dict[str, FileTensor] = field(default_factory=dict)
    members: dict[str, object] = field(default_factory=lambda: {"schemes": [], "matrices": {}})

    def add(self, name: str, tensor: Tensor) -> None:
        """Add a parameter."""
        if isinstance(tensor, ForeignTensor):
            self.tensors[name] = _streamed(name, tensor)
        else:
            self._add_codes(name, tensor)

    def add_activation_scales(self, scales: Mapping[str, float]) -> None:
        """Add the quantization of the inputs of matrices."""
        self.members["products"] = {"scheme": "uniform", "bits": 8}
        for name, scale in scales.items():
            value = np.array([scale], "<f4")
            self.tensors[activation_scale_name(name)] = StoredTensor("F32", (1,), value.tobytes())

    def _add_codes(self, name: str, tensor: CodesTensor) -> None:
        schemes, matrices = self.members["schemes"], self.members["matrices"]
        assert isinstance(schemes, list) and isinstance(matrices, dict)
        matrices[name] = []
        for index, group in enumerate(tensor.groups):
            form = _form(group)
            if (entry := form.to_json()) not in schemes:
                schemes.append(entry)
            matrices[name].append([schemes.index(entry), group.rows])
            layout = form.tensors(group.rows, tensor.shape[1])
            self.tensors[f"{name}.{index}.codes"] = _codes(name, group, layout["codes"][1])
            self.tensors[f"{name}.{index}.scale"] = _scales(name, group, layout["scale"][0])


def _form(group: CodedRows) -> UniformForm:
    if len(group.scales) == 1:
        return UniformForm(8, "matrix")
    halves = group.scales.view(np.uint32) & 0xFFFF
    return UniformForm(8, "row", bool(halves.any()))


def _streamed(name: str, tensor: ForeignTensor) -> StreamedTensor:
    def blocks() -> Iterator[bytes]:
        for block in tensor.blocks():
            if not np.isfinite(block).all():
                raise InteropError(f"the tensor for {name} holds a value that is not finite")
            yield block.astype("<f4", copy=False).tobytes()

    return StreamedTensor("F32", tensor.shape, blocks)


def _codes(name: str, group: CodedRows, shape: tuple[int, ...]) -> StreamedTensor:
    def blocks() -> Iterator[memoryview]:
        codes = group.codes()
        if codes.min(initial=0) < -127:
            raise InteropError(f"the tensor for {name} holds the code -128, which no 8-bit code is")
        yield np.ascontiguousarray(codes).data.cast("B")

    return StreamedTensor("I8", shape, blocks)


def _scales(name: str, group: CodedRows, dtype: str) -> StoredTensor:
    if not (np.isfinite(group.scales) & (group.scales >= 0)).all():
        raise InteropError(f"the tensor for {name} holds a scale that is negative or not finite")
    bits = group.scales.astype("<f4").view("<u4")
    stored = (bits >> 16).astype("<u2") if dtype == "BF16" else bits
    return StoredTensor(dtype, group.scales.shape, stored.tobytes())
