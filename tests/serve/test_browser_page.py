"""The application of `pocketmt serve --web` without a built page, and the text that the built page begins with."""

import asyncio
import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from pocketmt.serving.browser_page import make_browser_application
from pocketmt.serving.models.catalogue import LOOKS_UNTIL_REMOVED, Catalogue
from tests.cli.conftest import write_random_model
from tests.web import chromium
from tests.web.node import missing

from .conftest import running_server


def ask(catalogue: Catalogue, folder: Path, path: str) -> tuple[int, bytes]:
    """Return the status and the body of an answer."""
    status, _, body = answer(catalogue, folder, path, {})
    return status, body


def answer(
    catalogue: Catalogue, folder: Path, path: str, headers: Mapping[str, str]
) -> tuple[int, dict[str, str], bytes]:
    """Return the status, the headers and the body of an answer."""
    sent: list[dict[str, Any]] = []

    unread: list[dict[str, Any]] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not unread:
            await asyncio.Future()  # The client stays.
        return unread.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": given, "root_path": ""}
    asyncio.run(make_browser_application(catalogue, folder, "")(scope, receive, send))
    names = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], names, b"".join(message.get("body", b"") for message in sent)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a page."""
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.html").write_text("a page")
    return tmp_path / "page"


def test_models_are_listed_in_the_order_in_which_they_are_given(models: Path, folder: Path) -> None:
    catalogue = Catalogue([models / "fr-en.pocketmt", models], print)
    status, listed = ask(catalogue, folder, "/models.json")
    assert status == 200
    assert [model["url"] for model in json.loads(listed)] == [
        f"models/{name}.pocketmt" for name in ("fr-en", "de-fr", "en-de")
    ]


@pytest.mark.parametrize("name", ["en-de#2", "en-de?", "en%20de", "englisch–deutsch", os.fsdecode(b"caf\xe9")])
def test_the_address_of_a_model_is_that_of_its_file(models: Path, folder: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.pocketmt"
    path.write_bytes((models / "en-de.pocketmt").read_bytes())
    catalogue = Catalogue([path], print)
    (listed,) = json.loads(ask(catalogue, folder, "/models.json")[1])
    asked = unquote(urlsplit(listed["url"]).path)  # as a browser and the server read it
    assert ask(catalogue, folder, f"/{asked}") == (200, path.read_bytes())


@pytest.mark.parametrize(
    ("known", "status"),
    [
        ("{etag}", 304),
        ("W/{etag}", 304),
        ('"other", {etag}', 304),
        ('"other",W/{etag}', 304),
        ("*", 304),
        ('"other"', 200),
        ("", 200),
    ],
)
@pytest.mark.parametrize("path", ["/", "/models/en-de.pocketmt"])
def test_what_a_browser_has_is_not_sent_again(models: Path, folder: Path, path: str, known: str, status: int) -> None:
    catalogue = Catalogue([models], print)
    etag = answer(catalogue, folder, path, {})[1]["etag"]
    found, headers, body = answer(catalogue, folder, path, {"if-none-match": known.format(etag=etag)})
    assert (found, headers["etag"], bool(body)) == (status, etag, status == 200)


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1.0, GZIP;q=0.8, *;q=0.1", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("gzip;q=0.001", True),
        ("x-notgzip", False),
        ("", False),
    ],
)
def test_files_are_compressed_for_those_who_take_it(
    models: Path, folder: Path, accepted: str, compressed: bool
) -> None:
    _, headers, body = answer(Catalogue([models], print), folder, "/", {"accept-encoding": accepted})
    assert (headers.get("content-encoding") == "gzip") == compressed
    assert (gzip.decompress(body) if compressed else body) == b"a page"


@pytest.mark.parametrize("path", ["/nothing", "/models/nothing", "/health/"])
def test_an_unknown_address_is_answered_with_json(models: Path, folder: Path, path: str) -> None:
    status, body = ask(Catalogue([models], print), folder, path)
    assert status == 404
    assert "error" in json.loads(body)


def test_without_models_the_server_is_not_well(models: Path, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    path.write_bytes((models / "en-de.pocketmt").read_bytes())
    catalogue = Catalogue([path], print)
    assert ask(catalogue, folder, "/health") == (200, b'{"status":"ok"}')
    path.unlink()
    for _ in range(LOOKS_UNTIL_REMOVED):
        catalogue.refresh()
    assert ask(catalogue, folder, "/health")[0] == 503


@pytest.mark.skipif(missing() is not None or chromium.program() is None, reason="web/dist or chromium is missing")
@pytest.mark.parametrize(("source", "begins"), [("en", "A man rides a bike."), ("fr", "")])
def test_the_page_begins_with_a_text_that_the_model_reads(tmp_path: Path, source: str, begins: str) -> None:
    from playwright.sync_api import sync_playwright

    write_random_model(tmp_path / "model.pocketmt", "uniform8", 1, "de", source)
    with sync_playwright() as playwright, running_server("--web", tmp_path) as server:
        browser = playwright.chromium.launch(executable_path=chromium.program(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(server.address)
        page.wait_for_function("() => document.body.dataset.translated === 'yes'")
        found = page.input_value("#source")
        assert found.startswith(begins) and bool(found) == bool(begins)
        browser.close()
