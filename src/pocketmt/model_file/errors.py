"""The error of files that only a newer version of PocketMT can read."""

from pocketmt.errors import ModelFileError


class NewerFileError(ModelFileError):
    """Raised when the file was probably written by a newer version; other errors mean that it is damaged."""
