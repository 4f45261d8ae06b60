"""Settings in TOML files, and the paths in them."""

import os
import re
from pathlib import Path
from typing import Any, Final

import msgspec

from pocketmt.errors import ConfigurationError

_VARIABLE: Final = re.compile(r"\$\{(?P<name>\w+)(?P<default>:-[^}]*)?\}")


def read_toml(path: Path, type: Any = Any) -> Any:
    """Return the contents of a TOML file as a value of `type`; ConfigurationError names the file and what is wrong."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=type)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error


def absolute_path(text: str, folder: Path) -> str:
    """Return a path of a settings file as an absolute path.

    As in a shell, `${NAME}` stands for an environment variable, and `${NAME:-default}` for the default if the variable
    is empty or not set. Relative paths start at the folder. Raises ConfigurationError for a variable that is not set.
    """

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match["name"]) or (match["default"] or "").removeprefix(":-")
        if not found:
            raise ConfigurationError(
                f"{folder}: the path {text!r} needs the environment variable {match['name']}, which is not set: "
                f"set it, or give a default as in ${{{match['name']}:-../data}}"
            )
        return found

    return str(folder / _VARIABLE.sub(value, text))
