"""`pocketmt serve --web`: headers, files and lists of models, and the page in Chromium, with a server and without."""

import gzip
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pocketmt as package
from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import ConfigurationError
from pocketmt.serving.browser_page import page_folder
from tests.cli.conftest import Run, pocketmt, write_random_model
from tests.engine.text.test_languages import OF_TRANSLATION, translator
from tests.serve.conftest import RunningServer, running_server
from tests.web import chromium
from tests.web.chromium import new_page, translated
from tests.web.node import DIST, missing

if TYPE_CHECKING:
    from playwright.sync_api import Route

__all__ = ["pocketmt"]  # a fixture
built = pytest.mark.skipif(missing() is not None, reason=str(missing()))
in_chromium = pytest.mark.skipif(
    missing() is not None or chromium.program() is None, reason="web/dist or chromium is missing"
)
TEXT = "A man rides a bike. Two dogs are running through the snow."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two models."""
    folder = tmp_path_factory.mktemp("models")
    shutil.copy(resolve_model("captions-en-de"), folder / "a.pocketmt")
    write_random_model(folder / "b.pocketmt", "uniform8", 1, "fr")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[RunningServer]:
    with running_server("--web", folder) as running:
        yield running


def test_a_page_that_is_not_built_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "__file__", str(tmp_path / "src" / "pocketmt" / "__init__.py"))
    with pytest.raises(ConfigurationError, match=r"web/dist/page is missing.*`make web`"):
        page_folder()


def test_options_of_the_api_are_refused(pocketmt: Run) -> None:
    done = pocketmt("serve", "--web", "--api-keys", "keys.txt")
    assert done.returncode == 2
    assert "--api-keys is for the API, which --web does not serve" in done.stderr.decode()


@built
def test_files_and_headers(server: RunningServer) -> None:
    for path in (
        "/",
        "/index.html",
        "/page.js",
        "/worker.js",
        "/service_worker.js",
        "/style.css",
        "/pocketmt-simd128.wasm",
    ):
        name = path.removeprefix("/") or "index.html"
        answer, content = server.get(path), (DIST / "page" / name).read_bytes()
        assert (answer.status, answer.body) == (200, content)
        assert "'wasm-unsafe-eval'" in answer.headers["content-security-policy"]
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-embedder-policy"] == "require-corp"
        assert answer.headers["cache-control"] == "no-cache"
        compressed = server.request("GET", path, headers={"Accept-Encoding": "gzip, br"})
        assert compressed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(compressed.body) == content
        known = server.request("GET", path, headers={"If-None-Match": answer.headers["etag"]})
        assert (known.status, known.body) == (304, b"")
    assert server.get("/pocketmt-relaxed.wasm").headers["content-type"] == "application/wasm"


@built
def test_models_are_listed_with_their_digests(server: RunningServer, folder: Path) -> None:
    models: Any = server.get("/models.json").json
    assert [model["url"] for model in models] == ["models/a.pocketmt", "models/b.pocketmt"]
    assert [model["target"] for model in models] == [["de"], ["fr"]]
    for model in models:
        path = folder / Path(model["url"]).name
        assert re.search(rb'"digest":\s*"([0-9a-f]{64})"', path.read_bytes())[1].decode() == model["digest"]  # type: ignore[index]
        answer = server.get(f"/{model['url']}")
        assert answer.body == path.read_bytes() and model["bytes"] == len(answer.body)
        assert answer.headers["etag"] == f'"{model["digest"]}"'
        known = server.request("GET", f"/{model['url']}", headers={"If-None-Match": answer.headers["etag"]})
        assert known.status == 304


@built
@pytest.mark.parametrize(
    "path",
    ["/models/c.pocketmt", "/models/..%2fa.pocketmt", "/models/../../etc/passwd", "/translate", "/model.pocketmt"],
)
def test_nothing_else_is_served(server: RunningServer, path: str) -> None:
    assert server.get(path).status == 404


def first_digest(server: RunningServer) -> str:
    models: Any = server.get("/models.json").json
    return str(models[0]["digest"])


@in_chromium
def test_the_page_online_and_offline(folder: Path, tmp_path: Path) -> None:
    models = tmp_path / "models"
    shutil.copytree(folder, models)
    first, second = (Translator(models / name).translate([TEXT])[0] for name in ("a.pocketmt", "b.pocketmt"))
    problems: list[str] = []
    with new_page() as page, running_server("--web", models) as server:
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(server.address)
        translated(page, first)
        assert page.evaluate("crossOriginIsolated")
        page.select_option("#models", index=1)
        translated(page, second)
        page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        digest = first_digest(server)
        # Another model under the same name, while the browser keeps the old file.
        write_random_model(models / "new", "uniform8", 2)
        os.replace(models / "new", models / "a.pocketmt")
        while first_digest(server) == digest:
            page.wait_for_timeout(250)
        [replaced] = Translator(models / "a.pocketmt").translate([TEXT])
        page.reload()
        translated(page, replaced)
        assert problems == []
        server.process.terminate()
        server.process.wait(20)
        page.reload()
        translated(page, replaced)
        page.fill("#source", "Two dogs.")
        translated(page, Translator(models / "a.pocketmt").translate(["Two dogs."])[0])


@in_chromium
def test_another_server_at_the_address_of_the_page(folder: Path) -> None:
    with new_page() as page:
        with running_server("--web", folder) as server:
            page.goto(server.address)
            page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        with running_server("--port", str(server.place[1])):
            page.reload()
            page.wait_for_selector("#translation")  # of the page of the API
            while page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)"):
                page.wait_for_timeout(100)
            assert not [name for name in page.evaluate("caches.keys()") if name.startswith("pocketmt-page-")]


@in_chromium
def test_a_model_is_chosen_while_another_is_loaded(server: RunningServer, folder: Path) -> None:
    from playwright.sync_api import Error

    held: list[Route] = []
    with new_page(service_workers="block") as page:
        page.route("**/models/a.pocketmt", lambda route, _: held.append(route))
        page.goto(server.address)
        while not held:
            page.wait_for_timeout(50)
        page.select_option("#models", index=1)
        translated(page, Translator(folder / "b.pocketmt").translate([TEXT])[0])
        with suppress(Error):  # The page has cancelled it.
            held[0].abort()
        page.wait_for_timeout(500)
        assert page.is_hidden("#error") and page.is_hidden("#progress")
        assert page.text_content("#languages") == "en → fr"


@in_chromium
def test_a_model_that_cannot_be_downloaded(server: RunningServer, folder: Path) -> None:
    with new_page(service_workers="block") as page:
        page.route("**/models/b.pocketmt", lambda route: route.abort())
        page.goto(server.address)
        translated(page, Translator(folder / "a.pocketmt").translate([TEXT])[0])
        page.wait_for_selector("#facts dt")
        page.select_option("#models", index=1)
        page.wait_for_selector("#error:not([hidden])")
        assert [page.input_value("#target"), page.text_content("#facts"), page.text_content("#licence")] == ["", "", ""]
        page.select_option("#models", index=0)
        translated(page, Translator(folder / "a.pocketmt").translate([TEXT])[0])


# Keeps what the page and its worker send each other.
KEEP_MESSAGES = """
window.messages = [];
window.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => messages.push(data));
  }
  postMessage(message) {
    messages.push(message);
    super.postMessage(message);
  }
};
"""


@in_chromium
def test_the_time_of_a_text_that_waited_for_another(server: RunningServer, folder: Path) -> None:
    with new_page() as page:
        page.add_init_script(KEEP_MESSAGES)
        page.goto(server.address)
        translated(page, Translator(folder / "a.pocketmt").translate([TEXT])[0])
        page.fill("#source", f"{TEXT}\n" * 300)
        page.wait_for_function("() => messages.filter(({ kind }) => kind === 'translate').length === 2")
        page.fill("#source", "Two dogs.")
        translated(page, Translator(folder / "a.pocketmt").translate(["Two dogs."])[0])
        messages: Any = page.evaluate("messages")
        assert {each["options"]["batchSize"] for each in messages if each["kind"] == "translate"} == {8}
        last = messages[-1]
        assert (last["kind"], last["lines"]) == ("translated", [page.input_value("#target")])
        facts = str(page.inner_text("#facts")).split("\n")
        assert facts[facts.index("Translated in") + 1] == f"{int(last['milliseconds'] + 0.5)} ms"


@in_chromium
def test_model_files_that_are_opened(server: RunningServer, folder: Path, tmp_path: Path) -> None:
    first, second = (Translator(folder / name).translate([TEXT])[0] for name in ("a.pocketmt", "b.pocketmt"))
    (tmp_path / "broken.pocketmt").write_bytes(b"\0" * 100)
    with new_page() as page:
        page.add_init_script("window.revoked = []; URL.revokeObjectURL = (address) => revoked.push(address);")
        page.goto(server.address)
        translated(page, first)
        for _ in range(2):
            page.set_input_files("#file", folder / "b.pocketmt")
            translated(page, second)
            assert page.locator("#models option").all_text_contents()[2:] == ["b.pocketmt"]
            page.select_option("#models", index=0)
            translated(page, first)
        assert len(page.evaluate("revoked")) == 1  # of the file that the second one replaced
        page.set_input_files("#file", tmp_path / "broken.pocketmt")
        page.wait_for_selector("#error:not([hidden])")
        assert str(page.text_content("#error")).startswith("broken.pocketmt: ")


@in_chromium
def test_languages_are_chosen(tmp_path: Path) -> None:
    model = translator(tmp_path, OF_TRANSLATION, "en", "cs")
    with new_page() as page, running_server("--web", tmp_path) as server:
        page.goto(server.address)
        for target in ("cs", "en"):
            page.select_option("#into", target)
            translated(page, model.translate([TEXT], source_language="en", target_language=target, check=False)[0])
            assert page.get_attribute("#target", "lang") == target
        assert page.input_value("#from") == "en"
