"""Errors that name the file or folder that they are about."""

from pathlib import Path

from pocketmt.errors import InteropError


def with_path(path: Path, error: Exception) -> InteropError:
    """Return an error whose text begins with a path; one that begins with it, or with a file in it, stays as it is."""
    text = str(error)
    is_named = text == str(path) or text.startswith(tuple(f"{path}{sign}" for sign in ("/", ":", ",", " ")))
    return InteropError(text if is_named else f"{path}: {text}")
