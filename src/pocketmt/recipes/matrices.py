"""The matrices of a network, by sub-layer type or by pattern, and its vectors."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from pocketmt.errors import OtherNetworkError
from pocketmt.model_file.architecture import Architecture

# The sub-layer types of Chung et al. 2020, Table 1. Recipes serve both kinds of decoders: the type of self-attention
# includes the recurrent units and the average attention that replace it.
KINDS: Final = {
    # An untied output projection is one, too: its rows stand for words.
    "embedding": ("embedding.weight", "source_embedding.weight", "output.weight"),
    "encoder.self_attention": ("encoder.layers.*.self_attention.*",),
    "encoder.feed_forward": ("encoder.layers.*.feed_forward.*",),
    "decoder.self_attention": (
        "decoder.layers.*.self_attention.*",
        "decoder.layers.*.ssru.*",
        "decoder.layers.*.average_attention.*",
    ),
    "decoder.cross_attention": ("decoder.layers.*.cross_attention.*",),
    "decoder.feed_forward": ("decoder.layers.*.feed_forward.*",),
    # Types of LSTMs; their attention is cross-attention.
    "encoder.recurrent": ("encoder.layers.*.lstm.*",),
    "decoder.recurrent": ("decoder.layers.*.lstm.*",),
    "decoder.readout": ("decoder.readout.*",),
}


def matrix_names(architecture: Architecture) -> list[str]:
    """Return the names of all matrices, in the network's order."""
    return [name for name, shape in architecture.parameter_shapes().items() if len(shape) == 2]


def matching(names: list[str], pattern: str) -> list[str]:
    """Return the names that match a sub-layer type or a shell-style pattern of full names."""
    patterns = KINDS.get(pattern, (pattern,))
    return [name for name in names if any(fnmatchcase(name, each) for each in patterns)]


def kinds_of(architecture: Architecture) -> list[str]:
    """Return the sub-layer types that a network has."""
    names = matrix_names(architecture)
    return [kind for kind in KINDS if matching(names, kind)]


def select(
    names: list[str],
    patterns: Sequence[str],
    match: Callable[[list[str], str], list[str]],
    kinds: Sequence[str],
    where: str,
) -> list[str]:
    """Return the names that match any of the patterns, in the order of the names.

    Args:
        names: of matrices or of vectors.
        patterns: kinds, or patterns of full names.
        match: `matching` or `matching_vectors`.
        kinds: the kinds that error messages list.
        where: the key of the patterns in the recipe, which ends in "matrices" or "vectors".

    Raises:
        OtherNetworkError: a pattern matches nothing.
    """
    found: set[str] = set()
    for pattern in patterns:
        matched = match(names, pattern)
        if not matched:
            what = "matrix" if where.endswith("matrices") else "vector"
            raise OtherNetworkError(
                f"{where}: {pattern!r:.120} matches no {what} of the network",
                f"give one of {', '.join(kinds)}, or a pattern of names such as {names[-1]!r}",
            )
        found.update(matched)
    return [name for name in names if name in found]


# "biases" of linear layers; "norms", gamma and beta of LayerNorm.
VECTOR_KINDS: Final = ("biases", "norms")


def vector_lengths(architecture: Architecture) -> dict[str, int]:
    """Return name -> length of all biases and norms, in the network's order."""
    return {name: shape[0] for name, shape in architecture.parameter_shapes().items() if len(shape) == 1}


def matching_vectors(names: list[str], pattern: str) -> list[str]:
    """Return the names of vectors that match a kind or a shell-style pattern of full names."""
    if pattern in VECTOR_KINDS:
        return [name for name in names if name.rpartition(".")[0].endswith("norm") == (pattern == "norms")]
    return [name for name in names if fnmatchcase(name, pattern)]
