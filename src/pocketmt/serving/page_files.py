"""The files of the page, which are installed with the package."""

from importlib.resources import files
from typing import Final

# Media types of the files of a page, by suffix.
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
}
INDEX: Final = "index.html"


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return path -> content and type of each file."""
    found = {}
    for file in files(__package__).joinpath("page").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in TYPES:
            path = "/" if file.name == INDEX else f"/{file.name}"
            found[path] = (file.read_bytes(), TYPES[suffix])
    return found
