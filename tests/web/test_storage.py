"""Checks what the page keeps in the browser's storage: models, and the list that describes them."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pocketmt.engine import Translator
from pocketmt.serving.models.description import describe_model
from tests.cli.conftest import write_random_model
from tests.web import chromium
from tests.web.chromium import new_page, translated, wait_until
from tests.web.node import DIST, missing

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.skipif(
    missing() is not None or chromium.program() is None, reason="web/dist or chromium is missing"
)
TEXT = "A man rides a bike. Two dogs are running through the snow."
KEPT = """async (text) => {
  const list = await (await caches.open("pocketmt-models-1")).match("models.json");
  return list !== undefined && (await list.text()).includes(text) && navigator.serviceWorker.controller !== null;
}"""
KEPT_NAMES = """async () => {
  const requests = await (await caches.open("pocketmt-models-1")).keys();
  return requests.map(({ url }) => new URL(url).pathname);
}"""


PAGE_CACHES = """async () => {
  const names = await caches.keys();
  return names.filter((name) => name.startsWith("pocketmt-page-")).sort();
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the page, which lists models with random weights."""
    folder = tmp_path / "site"
    shutil.copytree(DIST / "page", folder)
    (folder / "model.pocketmt").unlink()
    return folder


@pytest.fixture
def site(folder: Path) -> Iterator[chromium.Site]:
    with chromium.Site(folder) as site:
        yield site


def put_model(path: Path, seed: int) -> tuple[str, str]:
    """Write another model under a name; return its digest, and what it makes of the page's text."""
    write_random_model(path, "uniform8", seed)
    os.utime(path, (seed, seed))  # Servers compare times in seconds, and tests write two files within one.
    return describe_model(path).digest, Translator(path).translate([TEXT])[0]


def write_list(folder: Path, *offers: dict[str, str]) -> None:
    """Write the page's list, with a time that no earlier one has."""
    path = folder / "models.json"
    seconds = int(path.stat().st_mtime) + 1 if path.exists() else 1
    path.write_text(json.dumps(offers))
    os.utime(path, (seconds, seconds))


def kept(page: "Page", text: str) -> None:
    """Wait until the page works offline, with a list of models that has a text."""
    wait_until(page, KEPT, text)


def test_an_update_that_is_interrupted(folder: Path, site: chromium.Site) -> None:
    with new_page() as page:
        old_digest, old = put_model(folder / "model.pocketmt", 1)
        write_list(folder, {"url": "model.pocketmt", "digest": old_digest})
        page.goto(site.url)
        translated(page, old)
        kept(page, old_digest)
        new_digest, new = put_model(folder / "model.pocketmt", 2)
        write_list(folder, {"url": "model.pocketmt", "digest": new_digest})
        site.failing.add("/model.pocketmt")
        page.reload()
        page.wait_for_selector("#error:not([hidden])")
        site.online = False
        page.reload()
        translated(page, old)
        site.online = True
        site.failing.clear()
        page.reload()
        translated(page, new)
        kept(page, new_digest)
        site.online = False
        page.reload()
        translated(page, new)


def test_another_model_that_was_not_loaded_again(folder: Path, site: chromium.Site) -> None:
    with new_page() as page:
        models = {name: put_model(folder / name, seed) for seed, name in enumerate(("a.pocketmt", "b.pocketmt"))}
        write_list(folder, *({"url": name, "digest": digest} for name, (digest, _) in models.items()))
        page.goto(site.url)
        translated(page, models["a.pocketmt"][1])
        page.select_option("#models", index=1)
        translated(page, models["b.pocketmt"][1])
        kept(page, models["b.pocketmt"][0])
        changed = {name: put_model(folder / name, seed) for seed, name in enumerate(models, 2)}
        write_list(folder, *({"url": name, "digest": digest} for name, (digest, _) in changed.items()))
        page.reload()
        translated(page, changed["a.pocketmt"][1])
        kept(page, changed["a.pocketmt"][0])
        site.online = False
        page.reload()
        translated(page, changed["a.pocketmt"][1])
        page.select_option("#models", index=1)
        translated(page, models["b.pocketmt"][1])


def test_storage_that_is_full(folder: Path, site: chromium.Site) -> None:
    with new_page() as page:
        first, second = (put_model(folder / name, seed) for seed, name in enumerate(("a.pocketmt", "b.pocketmt")))
        write_list(folder, {"url": "a.pocketmt", "digest": first[0]})
        page.goto(site.url)
        translated(page, first[1])
        kept(page, first[0])
        page.evaluate("async () => (await caches.open('pocketmt-models-1')).put('c.pocketmt', new Response(''))")
        quota = page.context.new_cdp_session(page)
        quota.send("Storage.overrideQuotaForOrigin", {"origin": site.url, "quotaSize": 1})
        write_list(folder, {"url": "b.pocketmt", "digest": second[0]})
        page.reload()
        translated(page, second[1])
        assert page.is_hidden("#error")
        # A model that is no longer listed makes room.
        wait_until(page, f"async () => !(await ({KEPT_NAMES})()).includes('/a.pocketmt')")
        quota.send("Storage.overrideQuotaForOrigin", {"origin": site.url})
        page.reload()
        translated(page, second[1])
        kept(page, second[0])
        assert sorted(page.evaluate(KEPT_NAMES)) == ["/b.pocketmt", "/c.pocketmt", "/models.json"]
        site.online = False
        page.reload()
        translated(page, second[1])


@pytest.mark.parametrize("path", ["/", "/?model=model.pocketmt"])
def test_without_digests_a_newer_model_is_loaded(folder: Path, site: chromium.Site, path: str) -> None:
    write_list(folder, {"url": "model.pocketmt"})
    with new_page() as page:
        for seed in (1, 2):
            _, expected = put_model(folder / "model.pocketmt", seed)
            page.goto(f"{site.url}{path}")
            translated(page, expected)
        page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        site.online = False
        page.reload()
        translated(page, expected)


def test_a_list_that_cannot_be_had(folder: Path, site: chromium.Site) -> None:
    site.failing.add("/models.json")
    with new_page() as page:
        page.goto(site.url)
        page.wait_for_selector("#error:not([hidden])")
        assert page.text_content("#error") == "models.json: the server answers 503"


def test_pages_in_two_folders_of_a_server(folder: Path, tmp_path: Path) -> None:
    _, expected = put_model(folder / "model.pocketmt", 1)
    write_list(folder, {"url": "model.pocketmt"})
    for name in ("a", "b"):
        shutil.copytree(folder, tmp_path / "sites" / name)
    with chromium.Site(tmp_path / "sites") as site, new_page() as page:
        for name in ("a", "b"):
            page.goto(f"{site.url}/{name}/")
            kept(page, "model.pocketmt")
        first, second = page.evaluate(PAGE_CACHES)
        assert [f"{site.url}/{name}/" for name in ("a", "b")] == [first.split()[0][14:], second.split()[0][14:]]
        worker = tmp_path / "sites" / "a" / "service_worker.js"
        worker.write_text(worker.read_text().replace(first.split()[1], "0123456789abcdef"))
        page.goto(f"{site.url}/a/")
        wait_until(page, f"async first => !(await ({PAGE_CACHES})()).includes(first)", first)
        newer, other = page.evaluate(PAGE_CACHES)
        assert newer.endswith("0123456789abcdef") and other == second
        site.online = False
        for name in ("a", "b"):
            page.goto(f"{site.url}/{name}/")
            translated(page, expected)
