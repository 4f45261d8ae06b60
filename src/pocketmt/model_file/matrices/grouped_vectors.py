"""Grouped vectors: quantized biases and norms of one length, which are the rows of one matrix in the file.

A single vector is too short to be stored by itself: its codebook could be larger than the vector.
"""

from collections.abc import Mapping
from typing import Final

from pocketmt.errors import ModelFileError

VectorGroups = dict[str, tuple[str, ...]]  # name of a vector group -> the vectors that are its rows, in order
Shapes = dict[str, tuple[int, ...]]
MAXIMUM_LENGTH: Final = 1 << 16  # The engine packs them as rows of a matrix, which are no longer.


def vector_group_name(index: int) -> str:
    """Return the name of a vector group, counted from 0, in the manifest's `matrices` and in the names of tensors."""
    return f"vectors.{index}"


def vector_groups_from_json(value: object, shapes: Mapping[str, tuple[int, ...]]) -> VectorGroups:
    """Read the manifest's member `vectors`, a list of lists of names.

    Args:
        value: the member.
        shapes: parameter -> shape.

    Raises:
        ModelFileError: a list is empty, or names something that is not a vector, is too long, has another length or
            appears twice.
    """
    if not isinstance(value, list) or not value:
        raise ModelFileError("manifest: vectors is not a list of at least one list of names")
    groups: VectorGroups = {}
    grouped: set[str] = set()
    for index, names in enumerate(value):
        where = f"manifest: vectors[{index}]"
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise ModelFileError(f"{where} is not a list of at least one name")
        for name in names:
            if len(shapes.get(name, ())) != 1:
                raise ModelFileError(f"{where}: {name!r:.120} is not a vector of this architecture")
            if shapes[name][0] > MAXIMUM_LENGTH:
                raise ModelFileError(
                    f"{where}: {name!r} has {shapes[name][0]} elements, expected at most {MAXIMUM_LENGTH}: store it in "
                    "fp32"
                )
            if shapes[name] != shapes[names[0]]:
                raise ModelFileError(f"{where}: {name!r} has {shapes[name][0]} elements, {names[0]!r} another number")
            if name in grouped:
                raise ModelFileError(f"{where}: {name!r} stands twice")
            grouped.add(name)
        groups[vector_group_name(index)] = tuple(names)
    return groups


def stored_shapes(shapes: Mapping[str, tuple[int, ...]], groups: VectorGroups) -> Shapes:
    """Return name -> shape of what a file holds: parameters, and vector groups [vectors, length] for their vectors."""
    grouped = {name for names in groups.values() for name in names}
    plain = {name: shape for name, shape in shapes.items() if name not in grouped}
    return plain | {name: (len(names), *shapes[names[0]]) for name, names in groups.items()}
