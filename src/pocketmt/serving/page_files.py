"""The files of the page, which are installed with the package."""

from importlib.resources import files
from typing import Final

_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INDEX: Final = "index.html"


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return path -> content and type of each file."""
    found = {}
    for file in files(__package__).joinpath("page").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            path = "/" if file.name == _INDEX else f"/{file.name}"
            found[path] = (file.read_bytes(), _TYPES[suffix])
    return found
