"""Checks of the names of the members of an object of the manifest."""

from collections.abc import Collection, Mapping

from pocketmt.errors import ModelFileError
from pocketmt.model_file.errors import NewerFileError


def check_members(
    value: Mapping[str, object], required: Collection[str], where: str, optional: Collection[str] = ()
) -> None:
    """Raise ModelFileError if a required member is missing, or NewerFileError if one is unknown, naming `where`."""
    for name in required:
        if name not in value:
            raise ModelFileError(f"{where}: {name} is missing")
    for name in value:
        if name not in required and name not in optional:
            raise NewerFileError(f"{where}: unknown member {name!r:.80}")
