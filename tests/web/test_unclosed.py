"""Programs in Node that forget to close a translator of the npm package: they end, after all translations."""

import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from tests.web.node import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
MODEL = resolve_model("everyday-en-de")
MAN, DOGS = "A man rides a bike.", "Two dogs."


@pytest.mark.parametrize(
    ("case", "lines"),
    [("awaited", [DOGS]), ("pending", [MAN, DOGS]), ("idle", [MAN, DOGS]), ("several", [MAN, DOGS])],
)
def test_programs_end_after_their_translations(case: str, lines: list[str]) -> None:
    assert printed(case) == Translator(MODEL).translate(lines)


@pytest.mark.parametrize(
    ("case", "error"), [("cancelled", "CancelledError"), ("refused", "EngineError"), ("absent", "DownloadError")]
)
def test_programs_end_after_an_error(case: str, error: str) -> None:
    assert printed(case) == [error]


@pytest.mark.parametrize(("case", "lines"), [("several", [MAN, DOGS]), ("closed", [DOGS])])
def test_programs_end_although_another_worker_still_loads(case: str, lines: list[str]) -> None:
    ended = threading.Event()
    downloads: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        """Sends the file once; of later downloads, only the beginning."""

        def do_GET(self) -> None:
            downloads.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(MODEL.stat().st_size))
            self.end_headers()
            if len(downloads) == 1:
                self.wfile.write(MODEL.read_bytes())
            else:
                ended.wait()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            found = printed(case, f"http://127.0.0.1:{server.server_port}/model.pocketmt")
        finally:
            ended.set()
            server.shutdown()
    assert found == Translator(MODEL).translate(lines)


def printed(case: str, model: str = str(MODEL)) -> list[str]:
    """Return the lines that a program has printed when it ends."""
    command = ["node", str(Path(__file__).with_name("unclosed.mjs")), case, model]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
