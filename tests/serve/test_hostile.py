"""Hundreds of hostile requests, after which the server still answers; more are in benchmarks/serve/faults.py."""

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.serve.hostile import hostile_fields, hostile_requests, send_bytes

from .conftest import TEXTS, RunningServer, Serve

REQUESTS = 600


def send_all(requests: Iterator[bytes], server: RunningServer) -> list[bytes]:
    def send(numbered: tuple[int, bytes]) -> bytes:
        return send_bytes(server.place, numbered[1], random.Random(numbered[0]))

    with ThreadPoolExecutor(12) as threads:
        return list(threads.map(send, enumerate(requests)))


def test_hostile_requests_are_refused_and_the_server_goes_on(serve: Serve) -> None:
    server = serve()
    expected = server.translate(TEXTS)["translatedText"]
    statuses: dict[bytes, int] = {}
    for answer in send_all(hostile_requests(seed=3, count=REQUESTS), server):
        status = answer[9:12]
        statuses[status] = statuses.get(status, 0) + 1
    assert sum(statuses.values()) == REQUESTS
    assert b"500" not in statuses
    assert set(statuses) <= {
        b"",
        b"100",
        b"200",
        b"204",
        b"400",
        b"403",
        b"404",
        b"405",
        b"413",
        b"429",
        b"431",
        b"503",
    }
    assert statuses[b"400"] > REQUESTS / 10 and statuses[b"200"] > REQUESTS / 50
    assert server.translate(TEXTS)["translatedText"] == expected
    assert server.metric("pocketmt_queue_requests") == 0
    assert "Traceback" not in server.messages.read_text()
    assert "a request failed" not in server.messages.read_text()


def test_hostile_texts_are_answered_with_json(server: RunningServer) -> None:
    for fields in hostile_fields(seed=4, count=100):
        answer = server.post("/translate", **fields)
        assert answer.status in (200, 400), (fields, answer.body)
        json.loads(answer.body)
        assert answer.headers["content-type"] == "application/json"
