"""The shortlist of a model file."""

from pocketmt.model_file import ModelFile
from pocketmt.model_file.shortlist_encoding import Shortlist, decode_shortlist, listed_sides


def shortlist_of(file: ModelFile) -> Shortlist | None:
    """Return the shortlist of an open model file, None if it has none; raises as `decode_shortlist` does."""
    content, stored = file.shortlist(), file.stored_shortlist
    if content is None or stored is None:
        return None
    return decode_shortlist(content, stored, listed_sides(file.architecture))
