"""The one fault of a model file that packing it again does not mend."""

from pocketmt.errors import ModelFileError


class NewerFileError(ModelFileError):
    """The file says something that only a newer PocketMT may understand."""
