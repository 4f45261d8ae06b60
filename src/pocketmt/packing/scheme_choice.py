"""The row groups of every quantized matrix and vector group, from the choice of schemes."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.matrices.grouped_vectors import (
    Shapes,
    stored_shapes,
    vector_group_name,
    vector_groups_from_json,
)
from pocketmt.model_file.matrices.row_groups import MAXIMUM_GROUPED
from pocketmt.packing.contents import FLOAT32, ByPattern, Schemes
from pocketmt.quantization import Scheme
from pocketmt.quantization.registry import SCHEMES
from pocketmt.quantization.row_groups import RowGroup, are_consecutive

RowGroups = dict[str, tuple[RowGroup, ...]]


def presets() -> dict[str, ByPattern]:
    """Return the choices of schemes with a name: name -> pattern of matrix names -> FLOAT32 or scheme."""
    found: dict[str, ByPattern] = {FLOAT32: {"*": FLOAT32}}
    return found | {name: chosen for scheme in SCHEMES.values() for name, chosen in scheme.presets().items()}


def choose_row_groups(architecture: Architecture, schemes: Schemes) -> tuple[Shapes, RowGroups]:
    """Return the shapes of the stored parameters, by name in file order, and the row groups of quantized ones.

    Raises:
        ConfigurationError: unknown preset or scheme, a pattern that fits no matrix, a matrix that fits no pattern, a
            vector group with another name, or row groups that do not hold each row of a matrix once.
        ModelFileError: vectors that a file cannot group.
    """
    parameters = architecture.parameter_shapes()
    others, vector_groups = _separate_vector_groups(_by_pattern(schemes))
    vectors = [list(groups[0].vectors) for groups in vector_groups.values()]
    shapes = stored_shapes(parameters, vector_groups_from_json(vectors, parameters)) if vectors else parameters
    matrices = [name for name, shape in parameters.items() if len(shape) == 2]
    chosen = choose_schemes(matrices, others) | vector_groups
    for name, groups in chosen.items():
        check_groups(name, shapes[name][0], groups)
    return shapes, chosen


def _by_pattern(choice: Schemes) -> ByPattern:
    """Return a choice with the name of a preset replaced by its patterns."""
    if not isinstance(choice, str):
        return choice
    known = presets()
    if choice not in known:
        raise ConfigurationError(f"unknown scheme {choice!r}: choose one of {', '.join(known)}")
    return known[choice]


def _separate_vector_groups(by_pattern: ByPattern) -> tuple[ByPattern, RowGroups]:
    """Return the choices for matrices, and the row groups of vector groups."""
    vector_groups = {
        name: tuple(choice)
        for name, choice in by_pattern.items()
        if not isinstance(choice, str | Scheme) and any(group.vectors for group in choice)
    }
    for index, name in enumerate(vector_groups):
        if name != vector_group_name(index):
            raise ConfigurationError(f"schemes: the vector group {name!r} must be named {vector_group_name(index)!r}")
    return {name: choice for name, choice in by_pattern.items() if name not in vector_groups}, vector_groups


def choose_schemes(matrices: list[str], schemes: Schemes) -> RowGroups:
    """Return the row groups of each quantized matrix; raises ConfigurationError as `choose_row_groups` does."""
    by_pattern = _by_pattern(schemes)
    for pattern, choice in by_pattern.items():
        if isinstance(choice, str) and choice != FLOAT32:
            raise ConfigurationError(
                f"schemes: {pattern!r} has the unknown scheme {choice!r}: give {FLOAT32!r}, a scheme or row groups"
            )
        if not any(fnmatchcase(name, pattern) for name in matrices):
            raise ConfigurationError(f"schemes: the pattern {pattern!r} fits no matrix, e.g. not {matrices[-1]!r}")
    chosen: RowGroups = {}
    for name in matrices:
        fitting = [choice for pattern, choice in by_pattern.items() if fnmatchcase(name, pattern)]
        if not fitting:
            raise ConfigurationError(f"schemes: no pattern fits the matrix {name!r}: add one, e.g. '*' last")
        choice = fitting[0]
        if not isinstance(choice, str):
            chosen[name] = (RowGroup(choice),) if isinstance(choice, Scheme) else tuple(choice)
    return chosen


def check_groups(name: str, rows: int, groups: Sequence[RowGroup]) -> None:
    """Raise ConfigurationError unless the groups hold each row of a matrix once, each group in ascending order."""
    if not groups or (len(groups) > 1 and any(group.rows is None for group in groups)):
        raise ConfigurationError(f"{name}: several row groups each need to say their rows")
    together = [row for group in groups for row in (range(rows) if group.rows is None else group.rows)]
    if sorted(together) != list(range(rows)):
        raise ConfigurationError(f"{name}: its row groups must hold each of its {rows} rows once")
    if any(not group.rows or list(group.rows) != sorted(group.rows) for group in groups if group.rows is not None):
        raise ConfigurationError(f"{name}: the rows of a row group must be in ascending order, and at least one")
    if len(groups) > MAXIMUM_GROUPED and not are_consecutive(groups):
        raise ConfigurationError(
            f"{name}: {len(groups)} row groups; at most {MAXIMUM_GROUPED} may have rows that are not consecutive"
        )
