"""Notes of writers: parts of a model for which a format has no place."""

from collections.abc import Collection
from typing import Literal

from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.model_file.manifest import DEFAULT_UNIT

Part = Literal["shortlist", "scales of activations", "languages", "licence", "description", "unit of text"]


def notes_of_left_out(model: ForeignModel, held: Collection[Part], generated: Collection[int] = ()) -> tuple[str, ...]:
    """Return notes on what is lost when a model is written.

    Args:
        model: to be written.
        held: the parts that the format has a place for.
        generated: ids of pieces that the model never generates, but that other programs may generate from the format.
    """
    said = model.metadata
    there: dict[Part, bool] = {
        "shortlist": model.shortlist is not None,
        "scales of activations": model.activation_scales is not None,
        "languages": bool(said.source_language or said.target_language or said.language_pieces),
        "licence": bool(said.licence),
        "description": bool(said.description),
        "unit of text": said.unit != DEFAULT_UNIT,
    }
    notes = []
    if lost := [part for part, found in there.items() if found and part not in held]:
        notes.append(f"left out, because the format has no place for it: {', '.join(lost)}")
    if generated:
        notes.append("the format does not say which pieces are never generated (banned_ids)")
    return tuple(notes)
