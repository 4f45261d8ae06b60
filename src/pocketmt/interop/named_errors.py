"""Errors that name the file or folder that they are about."""

from pathlib import Path

from pocketmt.errors import InteropError


def with_path(path: Path, error: Exception) -> InteropError:
    """Return an error whose text begins with a path; one that begins with it, or with a file in it, stays as it is."""
    text = str(error)
    return InteropError(text if text.startswith(str(path)) else f"{path}: {text}")
