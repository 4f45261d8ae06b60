"""Vectors that a scheme makes small: those of one length are the rows of a matrix of their own, a stack.

A vector is too short to be stored by itself: a codebook for each would be larger than what it replaces.
"""

from collections.abc import Mapping

from pocketmt.errors import ModelFileError

Stacks = dict[str, tuple[str, ...]]  # name of a stack -> the vectors that are its rows, in order
Shapes = dict[str, tuple[int, ...]]


def stack_name(index: int) -> str:
    """Return the name of a file's stack, counted from 0: `matrices` of the manifest and tensors have it by this."""
    return f"vectors.{index}"


def stacks_from_json(value: object, shapes: Mapping[str, tuple[int, ...]]) -> Stacks:
    """Read the manifest's member `vectors`, a list of lists of names.

    Args:
        value: the member.
        shapes: parameter -> shape.

    Raises:
        ModelFileError: where a list is empty or names what is no vector, one of another length, or one twice.
    """
    if not isinstance(value, list) or not value:
        raise ModelFileError("manifest: vectors is not a list of at least one list of names")
    stacks: Stacks = {}
    stacked: set[str] = set()
    for index, names in enumerate(value):
        where = f"manifest: vectors[{index}]"
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise ModelFileError(f"{where} is not a list of at least one name")
        for name in names:
            if len(shapes.get(name, ())) != 1:
                raise ModelFileError(f"{where}: {name!r:.120} is not a vector of this architecture")
            if shapes[name] != shapes[names[0]]:
                raise ModelFileError(f"{where}: {name!r} has {shapes[name][0]} elements, {names[0]!r} another number")
            if name in stacked:
                raise ModelFileError(f"{where}: {name!r} stands twice")
            stacked.add(name)
        stacks[stack_name(index)] = tuple(names)
    return stacks


def stored_shapes(shapes: Mapping[str, tuple[int, ...]], stacks: Stacks) -> Shapes:
    """Return name -> shape of what a file holds: the parameters, and stacks [vectors, length] in place of theirs."""
    stacked = {name for names in stacks.values() for name in names}
    plain = {name: shape for name, shape in shapes.items() if name not in stacked}
    return plain | {stack: (len(names), *shapes[names[0]]) for stack, names in stacks.items()}
