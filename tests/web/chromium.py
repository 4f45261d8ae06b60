"""Headless Chromium on a page of this machine, which sends a report when it is done."""

import http.server
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from playwright.sync_api import Page

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")


def program() -> str | None:
    """Return the path of Chromium; None: there is none."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


@contextmanager
def new_page(**options: Any) -> Iterator["Page"]:
    """A tab of a new browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=["--no-sandbox"])
        page = browser.new_context(**options).new_page()
        page.set_default_timeout(20_000)
        yield page
        browser.close()


def translated(page: "Page", expected: str) -> None:
    """Wait until a page shows a translation."""
    page.wait_for_function("text => document.getElementById('target').value === text", arg=expected)


def wait_until(page: "Page", function: str, argument: object = None) -> None:
    """Wait until an asynchronous function returns true; `wait_for_function` takes its promise for true."""
    for _ in range(200):
        if page.evaluate(function, argument):
            return
        page.wait_for_timeout(100)
    raise TimeoutError(f"after 20 s it is still false: {function}")


class Site:
    """A server of static files, and what pages post to it.

    Attributes:
        requests: paths that were asked for.
        online: whether it answers; posts are always taken.
        failing: paths that it answers with an error.
    """

    def __init__(self, folder: Path) -> None:
        self.requests: list[str] = []
        self.online = True
        self.failing: set[str] = set()
        self._reports: queue.Queue[str] = queue.Queue()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def report(self, text: str) -> None:
        """Take what a page posted."""
        self._reports.put(text)

    def visit(self, path: str, profile: Path, *flags: str, seconds: float = 60.0) -> str:
        """Open a page, and return what it posts; raises queue.Empty if it posts nothing in time, twice.

        On a busy machine a browser that has just been told to end may keep the profile from the next one.
        """
        try:
            return self._open(path, profile, flags, seconds)
        except queue.Empty:
            return self._open(path, profile, flags, seconds)

    def _open(self, path: str, profile: Path, flags: tuple[str, ...], seconds: float) -> str:
        command = [str(program()), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        command += [f"--user-data-dir={profile}", "--disable-dev-shm-usage", *flags, f"{self.url}/{path}"]
        running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            return self._reports.get(timeout=seconds)
        finally:
            os.killpg(running.pid, signal.SIGTERM)
            running.wait(timeout=20)


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, site: Site, *arguments: Any, **options: Any) -> None:
        self.site = site
        super().__init__(*arguments, **options)

    def guess_type(self, path: Any) -> str:
        """Return the type that compiling while downloading needs."""
        return "application/wasm" if str(path).endswith(".wasm") else super().guess_type(path)

    def do_GET(self) -> None:
        self.site.requests.append(self.path)
        if self.site.online and self.path not in self.site.failing:
            super().do_GET()
        else:
            self.send_error(503)

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        self.site.report(self.rfile.read(length).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing."""
