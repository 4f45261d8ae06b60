"""The page in headless Chromium: the native engine's translations, also without a server after the first visit."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.serving.models.description import describe_model
from tests.cli.conftest import write_random_model
from tests.web import chromium
from tests.web.node import DIST, ENGINES, WEB, missing

WHY = missing() or (None if chromium.program() else "chromium is missing: Debian's package is chromium")
pytestmark = pytest.mark.skipif(WHY is not None, reason=str(WHY))

LINES = ["A man rides a bike.", "Two dogs are running through the snow. A woman reads."]
# Reports what the page shows, once it has translated.
PAGE_REPORT = """
const done = setInterval(() => {
  const error = document.getElementById("error");
  if (document.body.dataset.translated !== "yes" && error.hidden) return;
  clearInterval(done);
  const report = async () => {
    await navigator.serviceWorker.ready;
    const kept = () => !error.hidden || caches.match("models.json");
    while (!(await kept())) await new Promise((resolve) => setTimeout(resolve, 20));
    const facts = document.getElementById("facts").innerText, target = document.getElementById("target").value;
    const shown = { facts, target, licence: document.getElementById("licence").textContent, error: error.textContent };
    await fetch("/report", { method: "POST", body: JSON.stringify(shown) });
  };
  void report();
}, 50);
"""
ENGINES_REPORT = """<script type="module">
import { LocalTranslator } from "./local.js";
const file = new Uint8Array(await (await fetch("page/model.pocketmt")).arrayBuffer());
const found = {};
for (const name of ["simd128", "relaxed"]) {
  try {
    const module = await WebAssembly.compileStreaming(fetch(`pocketmt-${name}.wasm`));
    const translator = await LocalTranslator.load(module, file.slice());
    found[name] = [translator.info.instructionSet, ...(await translator.translate(LINES))];
  } catch (error) {
    found[name] = String(error);
  }
}
await fetch("/report", { method: "POST", body: JSON.stringify(found) });
</script>"""


def test_both_engines(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(DIST, folder)
    (folder / "test.html").write_text(ENGINES_REPORT.replace("LINES", json.dumps(LINES)))
    with chromium.Site(folder) as site:
        found = json.loads(site.visit("test.html", tmp_path / "profile"))
    expected = Translator("everyday-en-de").translate(LINES)
    assert found == {"simd128": ["wasm_simd128", *expected], "relaxed": ["wasm_relaxed_simd", *expected]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the page, which reports what it shows."""
    folder = tmp_path / "site"
    shutil.copytree(DIST / "page", folder)
    (folder / "page.js").write_text((folder / "page.js").read_text() + PAGE_REPORT)
    return folder


def test_the_page_comes_with_its_licences() -> None:
    card = (DIST / "page" / "model-card.md").read_text(encoding="utf-8")
    assert "https://creativecommons.org/licenses/by/2.0/fr/" in card
    assert "Apache License" in (DIST / "page" / "LICENSE").read_text(encoding="utf-8")
    assert "musl" in (DIST / "page" / "THIRD_PARTY_LICENSES").read_text(encoding="utf-8")


def test_the_page_online_and_offline(folder: Path, tmp_path: Path) -> None:
    expected = Translator("everyday-en-de").translate(["A man rides a bike. Two dogs are running through the snow."])
    with chromium.Site(folder) as site:
        for online in (True, False):
            site.online = online
            found = json.loads(site.visit("", tmp_path / "profile"))
            assert found["error"] == ""
            assert [found["target"]] == expected
            assert all(name in found["facts"] for name in ("Model file", "Speed", "Engine memory"))
            assert found["licence"].endswith(": CC BY 2.0 FR; data: www.manythings.org/anki and tatoeba.org")
        assert "/model.pocketmt" in site.requests


def test_returning_visitors_get_a_new_model(folder: Path, tmp_path: Path) -> None:
    model, profile = folder / "model.pocketmt", tmp_path / "profile"
    with chromium.Site(folder) as site:
        site.visit("", profile)
        write_random_model(model, "uniform8", 1)
        (folder / "models.json").write_text(json.dumps([{"url": model.name, "digest": describe_model(model).digest}]))
        found = json.loads(site.visit("", profile))
    expected = Translator(model).translate(["A man rides a bike. Two dogs are running through the snow."])
    assert [found["error"], found["target"]] == ["", *expected]


PROGRAM = f"""
import {{ Translator }} from "pocketmt";
const translated = Translator.load("model.pocketmt").then((translator) => translator.translate("{LINES[0]}"));
const body = await translated.catch((error) => `${{error.name}}: ${{error.message}}`);
await fetch("/report", {{ method: "POST", body }});
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of a program that esbuild has bundled with the package."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "pocketmt").symlink_to(WEB)
    (folder / "program.js").write_text(PROGRAM)
    site = folder / "site"
    scripts = ("program.js", str(DIST / "worker.js"))
    command = [str(WEB / "node_modules" / ".bin" / "esbuild"), *scripts, f"--outdir={site}", "--entry-names=[name]"]
    subprocess.run([*command, "--bundle", "--platform=browser", "--format=esm"], cwd=folder, check=True)
    for path in (*(DIST / name for name in ENGINES.values()), resolve_model("everyday-en-de")):
        shutil.copy(path, site)
    (site / "everyday-en-de.pocketmt").rename(site / "model.pocketmt")
    (site / "index.html").write_text('<script type="module" src="program.js"></script>')
    return site


@pytest.mark.parametrize(
    ("lacking", "expected"),
    [
        ([], "Ein Mann fährt Fahrrad."),
        (["worker.js"], "EngineError: the worker stopped: worker.js cannot be loaded as a module"),
        (list(ENGINES.values()), "DownloadError: URL/pocketmt-relaxed.wasm: the server answers 404"),
    ],
)
def test_a_bundled_program(program: Path, tmp_path: Path, lacking: list[str], expected: str) -> None:
    shutil.copytree(program, tmp_path / "site")
    for name in lacking:
        (tmp_path / "site" / name).unlink()
    with chromium.Site(tmp_path / "site") as site:
        assert site.visit("", tmp_path / "profile").replace(site.url, "URL") == expected
