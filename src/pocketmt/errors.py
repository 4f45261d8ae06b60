"""Errors that users can meet. Each message says what is wrong, where, and what to do."""


class PocketMTError(Exception):
    """Base of all errors that PocketMT raises on purpose."""


class ConfigurationError(PocketMTError):
    """A configuration file or option has an unknown key, a wrong type or a value out of range."""


class OtherNetworkError(ConfigurationError):
    """A recipe is for networks of another architecture.

    Attributes:
        problem: what is wrong, and where.
        remedy: what the author of the recipe can change.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        """Take both parts of the message."""
        super().__init__(f"{problem}: {remedy}")
        self.problem, self.remedy = problem, remedy


class DataError(PocketMTError):
    """A text file, corpus or vocabulary cannot be used."""


class ModelFileError(PocketMTError):
    """A model file is damaged, has another version, or is not a model file."""


class InteropError(PocketMTError):
    """A model of another toolkit is damaged, or has something that PocketMT, or the format to write, does not."""


class EngineError(PocketMTError):
    """The engine does not run on this machine, or does not support a request."""


class LanguageNeededError(EngineError):
    """A model of several languages needs one that is not given."""


class ClusterError(PocketMTError):
    """A cluster cannot be reached, has no worker left, or its workers cannot handle a block."""


def unreadable(path: object, error: OSError) -> str:
    """Return the message about a file that cannot be read."""
    return f"{path}: cannot be read ({error.strerror or error}): check the path"
