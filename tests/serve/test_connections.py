"""Connections: slow, broken and large requests, clients that leave, and the end of the server."""

import asyncio
import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from pocketmt.errors import ConfigurationError
from pocketmt.serving.application import make_application
from pocketmt.serving.connection import connection_class
from pocketmt.serving.errors import RequestError
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.models.catalogue import Catalogue
from pocketmt.serving.proxies import TrustedProxies
from pocketmt.serving.server import open_socket
from pocketmt.serving.service import TranslationService
from pocketmt.serving.settings import ServerSettings

from .conftest import TEXTS, RunningServer, Serve

BOOK = " ".join(TEXTS * 400)[:99_000]


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def send(server: RunningServer, *parts: bytes, close: bool = False, pause: float = 0) -> bytes:
    """Send bytes as they are, with pauses of some seconds between the parts, and return what comes back."""
    with socket.create_connection(server.place, timeout=30) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        if close:
            return b""
        connection.settimeout(10)
        answer = b""
        try:
            while part := connection.recv(1 << 16):
                answer += part
        except (TimeoutError, ConnectionResetError):
            pass
        return answer


def post_bytes(fields: dict[str, object], extra: bytes = b"") -> bytes:
    body = json.dumps(fields).encode()
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    return head + extra + b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_the_work_of_a_client_that_leaves_ends(serve: Serve) -> None:
    server = serve()
    server.translate("a dog")
    connection = socket.create_connection(server.place)
    connection.sendall(post_bytes({"q": BOOK, "source": "en", "target": "de"}))
    wait_until(lambda: server.metric("pocketmt_queue_requests") == 1)
    connection.close()
    wait_until(lambda: server.metric("pocketmt_cancelled_total") == 1)
    assert server.metric("pocketmt_queue_requests") == 0


def test_a_word_does_not_wait_for_a_book(serve: Serve) -> None:
    server = serve("--beam-size", "8")
    server.translate("a dog")
    done: list[str] = []

    def ask(name: str, text: str) -> None:
        server.translate(text)
        done.append(name)

    book = threading.Thread(target=ask, args=("book", BOOK))
    book.start()
    wait_until(lambda: server.metric("pocketmt_queue_requests") == 1)
    ask("word", "Two dogs.")
    book.join()
    assert done == ["word", "book"]


def test_requests_of_many_clients_are_answered_correctly(server: RunningServer) -> None:
    expected = {text: server.translate(text)["translatedText"] for text in TEXTS}
    before = server.metric("pocketmt_batch_seconds_count"), server.metric("pocketmt_batch_sentences_sum")
    wrong: list[object] = []

    def ask(seed: int) -> None:
        generator = random.Random(seed)
        for _ in range(20):
            texts = generator.sample(TEXTS, generator.randint(1, 4))
            found = server.translate(texts)["translatedText"]
            if found != [expected[text] for text in texts]:
                wrong.append((texts, found))

    clients = [threading.Thread(target=ask, args=(seed,)) for seed in range(20)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert not wrong
    batches = server.metric("pocketmt_batch_seconds_count") - before[0]
    assert server.metric("pocketmt_batch_sentences_sum") - before[1] > 1.5 * batches


def test_a_full_queue_refuses_with_a_time(serve: Serve) -> None:
    server = serve("--beam-size", "16", "--deadline", "1")
    server.translate("a dog")
    answers = []

    def ask() -> None:
        answers.append(server.post("/translate", q=BOOK, source="en", target="de"))

    clients = [threading.Thread(target=ask) for _ in range(8)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    refused = [answer for answer in answers if b"wait for translation" in answer.body]
    assert refused
    assert {answer.status for answer in answers} <= {200, 429}
    assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in refused)
    assert server.translate("Two dogs.")["translatedText"] == "Zwei Hunde."


def test_a_text_that_takes_too_long_is_refused_without_a_time(models: Path) -> None:
    async def work() -> None:
        service = TranslationService(Catalogue([models], print), ServerSettings(deadline=0.0), Metrics(), print)
        await service.translate("a", ["A dog."], "en", "de", markup=False, n_best=1, aligned=False)

    with pytest.raises(RequestError, match="not done within 0 seconds: send less") as refusal:
        asyncio.run(work())
    assert (refusal.value.status, refusal.value.retry_after) == (429, None)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n" + b"X: " + b"x" * 20_000 + b"\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\n" + b"X: " + b"x" * 40_000, b"400"),  # It does not end.
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000, b"400"),
        (b"GET " + b"/languages" * 2_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"GET /languages?" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + b"A: b\r\n" * 5000 + b"\r\n", b"431"),
        (b"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 999999999\r\n\r\n", b"413"),
        (b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", b"400"),
        (b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", b"400"),
        (b"POST /translate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        (b"DELETE /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"405"),
        (b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"404"),
        (b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"CONNECT /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", b"400"),
        (b"GET /%2e%2e/page.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"404"),
    ],
)
def test_a_wrong_request_is_refused(server: RunningServer, request_bytes: bytes, status: bytes) -> None:
    answer = send(server, request_bytes)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert "error" in json.loads(answer.partition(b"\r\n\r\n")[2])
    assert server.get("/health").status == 200


def test_a_body_that_is_too_long_is_refused_with_the_limit(server: RunningServer) -> None:
    answer = server.request("POST", "/translate", b"a" * 2_000_000, {"Content-Type": "application/json"})
    assert answer.status == 413
    assert answer.json == {"error": "the body has more than 1,265,536 bytes: send less at once"}


def test_a_body_without_length_is_bounded(server: RunningServer) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert send(server, head, *[chunk] * 60).startswith(b"HTTP/1.1 413")
    assert server.get("/health").status == 200


class ShortServer:
    """A server in this process whose times are short, and that lets two connections of an address in.

    Args:
        unlimited: addresses that may have more.
        connections: most of all addresses.
    """

    def __init__(self, *unlimited: str, connections: int = 500) -> None:
        import uvicorn

        from pocketmt.engine.bundled import bundled_models

        settings = ServerSettings(
            receive_seconds=0.5, send_seconds=0.5, connections_per_address=2, connections=connections
        )
        catalogue = Catalogue([bundled_models()["captions-en-de"]], lambda message: None)
        self.socket = open_socket("127.0.0.1", 0)
        self.place: tuple[str, int] = self.socket.getsockname()[:2]
        config = uvicorn.Config(
            make_application(catalogue, settings, lambda message: None),
            http=connection_class(settings, TrustedProxies(unlimited)),
            lifespan="on",
            log_config=None,
            timeout_graceful_shutdown=1,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()

    def end(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()


def ask(place: tuple[str, int], path: str) -> bytes:
    """Ask on a new connection; returns the answer."""
    with socket.create_connection(place, timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return connection.makefile("rb").read()


def health(place: tuple[str, int]) -> bytes:
    """Ask on a new connection; returns the first line of the answer, after which a refused connection is reset."""
    with socket.create_connection(place, timeout=10) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return connection.makefile("rb").readline()


@pytest.mark.parametrize("unlimited", [(), ("127.0.0.1",), ("127.0.0.0/8",), ("*",)])
def test_one_address_has_a_limited_number_of_connections(unlimited: tuple[str, ...]) -> None:
    server = ShortServer(*unlimited)
    try:
        kept = [socket.create_connection(server.place, timeout=10) for _ in range(2)]
        for connection in kept:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        assert health(server.place).startswith(b"HTTP/1.1 200" if unlimited else b"HTTP/1.1 429")
        kept.pop().close()
        wait_until(lambda: health(server.place).startswith(b"HTTP/1.1 200"))
        kept.pop().close()
    finally:
        server.end()


def test_too_many_connections_are_refused_with_a_time() -> None:
    server = ShortServer("*", connections=1)
    try:
        assert ask(server.place, "/languages").startswith(b"HTTP/1.1 200")
        with socket.create_connection(server.place, timeout=10):
            head, _, body = ask(server.place, "/languages").partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 503") and b"retry-after: 5" in head
            assert json.loads(body) == {"error": "too many connections: try again later"}
            assert health(server.place).startswith(b"HTTP/1.1 200")
        wait_until(lambda: b'{path="/languages",status="503"} 1' in ask(server.place, "/metrics"))
    finally:
        server.end()


def test_a_request_that_the_end_of_the_server_stops_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    async def translate(*arguments: object, **options: object) -> None:
        begun.set()
        await asyncio.sleep(60)

    monkeypatch.setattr(TranslationService, "translate", translate)
    server = ShortServer()
    with socket.create_connection(server.place, timeout=10) as connection:
        connection.sendall(post_bytes({"q": "Two dogs.", "source": "en", "target": "de"}))
        assert begun.wait(10)
        server.end()
        head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503") and b"retry-after: 5" in head
    assert json.loads(body) == {"error": "the server is ending: try again later"}


@pytest.mark.parametrize(
    ("values", "inside", "outside"),
    [
        (["10.0.0.0/8"], ["10.1.2.3", "::ffff:10.1.2.3"], ["11.0.0.1", "", "name"]),
        (["10.0.0.1", "2001:db8::/32"], ["10.0.0.1", "2001:db8::5"], ["10.0.0.2", "2001:db9::5"]),
        (["*"], ["1.2.3.4", ""], []),
        ([], [], ["127.0.0.1"]),
    ],
)
def test_networks_of_proxies_are_trusted(values: list[str], inside: list[str], outside: list[str]) -> None:
    proxies = TrustedProxies(values)
    of_uvicorn = ProxyHeadersMiddleware(make_application, proxies.names).trusted_hosts  # type: ignore[arg-type]
    assert all(address in proxies for address in inside)
    assert all(address in of_uvicorn for address in inside if address)
    assert not any(address in proxies or address in of_uvicorn for address in outside)


def test_the_host_of_all_addresses_takes_both_protocols() -> None:
    try:
        listener = open_socket("::", 0)
    except ConfigurationError:
        pytest.skip("this machine has no IPv6")
    with listener, socket.create_connection(("127.0.0.1", listener.getsockname()[1]), timeout=10):
        pass


@pytest.mark.parametrize("slow", ["nothing", "head", "body", "second request"])
def test_slow_clients_are_cut_off(slow: str) -> None:
    server = ShortServer()
    try:
        with socket.create_connection(server.place, timeout=10) as connection:
            if slow == "second request":
                connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
            if slow == "body":
                connection.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n")
            start = time.monotonic()
            with pytest.raises((BrokenPipeError, ConnectionResetError, EOFError)):
                while time.monotonic() - start < 8:
                    if slow != "nothing":
                        connection.sendall(b"x")
                    connection.settimeout(0.1)
                    try:
                        if not connection.recv(1 << 16):
                            raise EOFError
                    except TimeoutError:
                        pass
    finally:
        server.end()


def test_a_client_that_sends_after_its_answer_is_cut_off() -> None:
    server = ShortServer()
    try:
        with socket.create_connection(server.place, timeout=10) as connection:
            connection.sendall(b"POST /translate HTTP/1.1\r\nConnection: close\r\nContent-Length: 900000000\r\n\r\n")
            assert connection.makefile("rb").read().startswith(b"HTTP/1.1 413")
            start = time.monotonic()
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                while time.monotonic() - start < 8:
                    connection.sendall(b"x")
                    time.sleep(0.05)
    finally:
        server.end()


def test_a_client_that_does_not_read_is_cut_off() -> None:
    server = ShortServer()
    try:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
            connection.settimeout(10)
            connection.connect(server.place)
            text: dict[str, object] = {"q": "\u4e00" * 90_000, "source": "de", "target": "de"}
            with pytest.raises((BrokenPipeError, ConnectionResetError, TimeoutError, http.client.HTTPException)):
                for _ in range(100):
                    connection.sendall(post_bytes(text))
                raise http.client.HTTPException("the connection took a hundred answers")
        with socket.create_connection(server.place, timeout=10) as other:
            other.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert other.recv(100).startswith(b"HTTP/1.1 200")
    finally:
        server.end()


def test_a_request_is_finished_when_the_server_ends(serve: Serve) -> None:
    server = serve()
    server.translate("a dog")
    answers: list[object] = []
    client = threading.Thread(target=lambda: answers.append(server.translate(BOOK[:20_000])))
    client.start()
    wait_until(lambda: server.metric("pocketmt_queue_requests") == 1)
    server.process.terminate()
    client.join()
    assert len(answers) == 1
    assert server.process.wait(30) == 143
    with pytest.raises(ConnectionRefusedError):
        server.get("/health")


def test_requests_that_are_sent_at_once_are_answered_in_order(server: RunningServer) -> None:
    expected = [server.translate(text)["translatedText"] for text in TEXTS]
    requests = [post_bytes({"q": text, "source": "en", "target": "de"}) for text in TEXTS]
    requests[-1] = requests[-1].replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
    answers = send(server, b"".join(requests)).split(b"HTTP/1.1 ")[1:]
    assert [answer[:3] for answer in answers] == [b"200"] * len(TEXTS)
    assert [json.loads(answer.partition(b"\r\n\r\n")[2])["translatedText"] for answer in answers] == expected


def test_an_address_in_parts_is_no_shorter_one(server: RunningServer) -> None:
    with socket.create_connection(server.place, timeout=30) as connection:
        connection.sendall(b"GET /languages?" + b"x" * 15_000)
        time.sleep(0.1)  # The parts are read one after the other.
        connection.sendall(b"x" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400")
