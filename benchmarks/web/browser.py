"""Chromium on a site of this machine, for measurements."""

import http.server
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
SCRIPT: Final = Path(__file__).with_name("run_in_browser.js")
_PAGE: Final = (
    '<!doctype html><meta charset="utf-8"><title>Measurement</title><script src="run_in_browser.js"></script>'
)
_MILLISECONDS: Final = 300_000  # of one run


def program() -> str | None:
    """Return the path of Chromium; None: there is none."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


@contextmanager
def site(folder: Path, places: Mapping[str, Path]) -> Iterator[str]:
    """Serve a page with the programs, and files and folders under names; yields its address.

    Args:
        folder: empty, for the site.
        places: name -> file or folder.
    """
    (folder / "index.html").write_text(_PAGE, encoding="utf-8")
    for name, place in {SCRIPT.name: SCRIPT, **places}.items():
        (folder / name).symlink_to(place.resolve())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def run_in_browser(address: str, function: str, argument: Mapping[str, object]) -> list[dict[str, Any]]:
    """Call a function of run_in_browser.js in a new browser; returns its answers."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The sandbox needs rights that containers do not give.
        browser = playwright.chromium.launch(executable_path=program(), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(_MILLISECONDS)
        page.goto(address)
        answers: list[dict[str, Any]] = page.evaluate(f"argument => {function}(argument)", dict(argument))
        browser.close()
    return answers


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing."""
