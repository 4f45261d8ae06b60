"""The tensors of a checkpoint, before they are taken for a network."""

from dataclasses import dataclass, field

from pocketmt.interop.foreign_tensor import ForeignTensor


@dataclass(frozen=True, slots=True)
class TensorsByName:
    """The tensors of a checkpoint or a part of one.

    Attributes:
        found: those of fp32, fp16 and bf16, by name.
        other_types: the type of every other tensor, by name; a network needs none of them.
    """

    found: dict[str, ForeignTensor] = field(default_factory=dict)
    other_types: dict[str, str] = field(default_factory=dict)
