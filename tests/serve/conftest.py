import http.client
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pocketmt.engine import Translator
from tests.cli.conftest import command_line, pocketmt, write_random_model

__all__ = ["pocketmt"]  # a fixture

MODEL = "captions-en-de"  # It knows the words of TEXTS.
TEXTS = [
    "A man in a red shirt rides a bike.",
    "Two dogs play in the snow.",
    "A woman reads a book on a bench. The sun shines.",
    "Children run.",
    "A black dog jumps over a fence, and a boy watches it.",
    "People walk down a street in the city.",
]


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> object:
        return json.loads(self.body)


@dataclass
class RunningServer:
    """A `pocketmt serve` of this test."""

    address: str
    process: subprocess.Popen[str]
    messages: Path

    @property
    def place(self) -> tuple[str, int]:
        parts = urlsplit(self.address)
        assert parts.hostname is not None and parts.port is not None
        return parts.hostname, parts.port

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection(*self.place, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def post(self, path: str, **fields: object) -> Answer:
        return self.request("POST", path, json.dumps(fields).encode(), {"Content-Type": "application/json"})

    def translate(self, text: object, **fields: object) -> dict[str, object]:
        answer = self.post("/translate", **({"q": text, "source": "en", "target": "de"} | fields))
        assert answer.status == 200, answer.body
        value = answer.json
        assert isinstance(value, dict)
        return value

    def metric(self, name: str) -> float:
        lines = self.get("/metrics").body.decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


Serve = Callable[..., "RunningServer"]


@contextmanager
def running_server(
    *arguments: str | Path, bundled: bool = False, launcher: Sequence[str] = ()
) -> Iterator[RunningServer]:
    """Run a server with the models of a folder in the arguments, those that it serves by default, or MODEL.

    Its command line follows that of `launcher`, if any.
    """
    named = bundled or any(isinstance(each, Path) and each.is_dir() for each in arguments)
    models = () if named else (MODEL,)
    with tempfile.NamedTemporaryFile("w+", suffix=".messages") as messages:
        process = subprocess.Popen(
            [*launcher, *command_line("serve", "--port", "0", *models, *arguments)],
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line.startswith("PocketMT listens at http://"), Path(messages.name).read_text()
            server = RunningServer(line.split()[3], process, Path(messages.name))
            assert server.get("/health").status == 200
            yield server
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            finally:
                process.stdout.close()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers with the given arguments, and end them after the test."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(running_server(*arguments))


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """A server with a bundled model."""
    with running_server() as running:
        yield running


@pytest.fixture(scope="session")
def translator() -> Translator:
    """The bundled model without a server."""
    return Translator(MODEL)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small random models: en -> de, de -> fr, fr -> en."""
    folder = tmp_path_factory.mktemp("models")
    for seed, (source, target) in enumerate((("en", "de"), ("de", "fr"), ("fr", "en"))):
        write_random_model(folder / f"{source}-{target}.pocketmt", "uniform8", seed, target, source)
    return folder
