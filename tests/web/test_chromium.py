"""The page in headless Chromium: the native engine's translations, also without a server after the first visit."""

import json
import shutil
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from tests.web import chromium
from tests.web.node import DIST, missing

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
    const facts = document.getElementById("facts").innerText, target = document.getElementById("target").value;
    await fetch("/report", { method: "POST", body: JSON.stringify({ facts, target, error: error.textContent }) });
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


def test_the_page_online_and_offline(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(DIST / "page", folder)
    (folder / "page.js").write_text((folder / "page.js").read_text() + PAGE_REPORT)
    expected = Translator("everyday-en-de").translate(["A man rides a bike. Two dogs are running through the snow."])
    with chromium.Site(folder) as site:
        for online in (True, False):
            site.online = online
            found = json.loads(site.visit("", tmp_path / "profile"))
            assert found["error"] == ""
            assert [found["target"]] == expected
            assert all(name in found["facts"] for name in ("Model file", "Speed", "Engine memory"))
        assert "/model.pocketmt" in site.requests
