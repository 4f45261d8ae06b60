"""The check that a format has what an architecture asks for, for writers."""

from collections.abc import Mapping
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.model_file.architecture import TransformerArchitecture

_SIZES_OF_LAYERS: Final = ("encoder_feed_forward", "decoder_feed_forward")


def check_fields(architecture: TransformerArchitecture, only: Mapping[str, tuple[object, ...]], owner: str) -> None:
    """Raise InteropError for the first field with a value that a format does not have.

    Args:
        architecture: to be written.
        only: the values that the format has of a field; it has every value of other fields.
        owner: the name of the program that has the format.
    """
    for field, values in only.items():
        if (value := getattr(architecture, field)) not in values:
            raise InteropError(f"{field} is {value!r:.80}, {owner} only has {' or '.join(map(repr, values))}")


def check_equal_layers(architecture: TransformerArchitecture, owner: str) -> None:
    """Raise InteropError if the feed-forward networks of one side have several sizes."""
    for field in _SIZES_OF_LAYERS:
        if len(set(sizes := getattr(architecture, field))) > 1:
            raise InteropError(f"{field} is {sizes!r:.80}, {owner} layers have one size")
