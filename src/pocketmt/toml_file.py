"""Settings in TOML files."""

from pathlib import Path
from typing import Any

import msgspec

from pocketmt.errors import ConfigurationError


def read_toml(path: Path, type: Any = Any) -> Any:
    """Return the contents of a TOML file as a value of `type`; ConfigurationError names the file and what is wrong."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=type)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
