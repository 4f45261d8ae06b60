"""Arguments that the npm package refuses, and what its documentation says of those that it takes."""

import re
import socket
import subprocess
from typing import Any

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from tests.web.node import DIST, ROOT, missing, run_jobs, run_program

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
MODEL = resolve_model("everyday-en-de")
SEARCH = ["beamSize", "lengthPenalty", "maxLength", "shortlist", "batchSize", "sourceLanguage", "targetLanguage"]
TRANSLATING = [*SEARCH, "signal", "onTime"]
LOADING = ["onProgress", "cache", "digest", "workers", "signal"]


@pytest.fixture(scope="module")
def found() -> Any:
    return run_program("arguments.mjs", MODEL)


def unknown(name: str, known: list[str]) -> list[str]:
    return ["TypeError", f"unknown option '{name}'; known: {', '.join(known)}"]


def test_texts(found: Any) -> None:
    kinds = ("number", "undefined", "null", "object")
    lines = [f"lines[{index}] must be a string, not {kind}" for index, kind in [(1, "number"), (0, "undefined")]]
    expected = [*(f"text must be a string or an array of strings, not {kind}" for kind in kinds), *lines]
    assert found["texts"] == [["TypeError", message] for message in expected]
    assert found["after"] == Translator(MODEL).translate(["Two dogs."], beam_size=1)[0]


def test_unknown_options(found: Any) -> None:
    names = ("beam_size", "terms", "workers")
    kinds = [["TypeError", f"options must be an object, not {kind}"] for kind in ("string", "null")]
    assert found["options"] == [*(unknown(name, TRANSLATING) for name in names), *kinds]
    assert found["loading"] == unknown("worker", LOADING)


def wrong_type(name: str, type: str, found: str) -> list[str]:
    return ["TypeError", f"{name} must be of type {type}, not {found}"]


def test_options_of_other_types(found: Any) -> None:
    assert found["types"] == [
        wrong_type("beamSize", "number", "string"),
        wrong_type("maxLength", "number", "null"),
        wrong_type("shortlist", "boolean", "number"),
        wrong_type("targetLanguage", "string", "null"),
        wrong_type("signal", "AbortSignal", "object"),
        wrong_type("onTime", "function", "number"),
    ]
    assert found["loadingTypes"] == [
        wrong_type("digest", "string", "number"),
        wrong_type("workers", "number", "string"),
        wrong_type("cache", "boolean", "string"),
        wrong_type("signal", "AbortSignal", "number"),
        wrong_type("onProgress", "function", "string"),
    ]
    kinds = ("undefined", "null", "number")
    assert found["urls"] == [["TypeError", f"url must be a string or a URL, not {kind}"] for kind in kinds]


def test_errors_in_onprogress_end_the_loading(found: Any) -> None:
    assert found["thrown"] == ["RangeError", "no progress"]


def test_translators_without_workers() -> None:
    job: dict[str, Any] = {"kind": "lines", "path": str(MODEL), "lines": ["Two dogs."]}
    ids = {"kind": "ids", "path": str(MODEL), "sources": [[5]], "options": {"beam_size": 1}}
    refused = [job | {"lines": "Two dogs."}, job | {"options": {"beam_size": 1}}, job | {"options": {"beamSize": None}}]
    results = run_jobs([*refused, ids])
    assert [[each["error"], each["message"]] for each in results] == [
        ["TypeError", "lines must be an array of strings, not string"],
        unknown("beam_size", SEARCH),
        wrong_type("beamSize", "number", "null"),
        unknown("beam_size", SEARCH),
    ]


def test_the_progress_of_a_file_on_the_disk(found: Any) -> None:
    size = MODEL.stat().st_size
    assert found["progress"] == [{"loadedBytes": size, "totalBytes": size}]


def test_the_documentation_names_all_options() -> None:
    page = (ROOT / "docs" / "appendices" / "serving.md").read_text(encoding="utf-8")
    section = page.partition("\n## The npm package\n")[2].partition("\n## ")[0]
    tables = [part.partition("\n\n")[0] for part in section.split("| option | default | meaning |")[1:]]
    named = [re.findall(r"`(\w+)`", "".join(re.findall(r"^\| ([^|]+) \|", table, re.M))) for table in tables]
    assert named == [LOADING, TRANSLATING]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_downloads_that_fail_say_why(host: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://{host}:{closed.getsockname()[1]}/model.pocketmt"
        program = f"""
            import {{ Translator }} from "{(DIST / "index.node.js").as_uri()}";
            await Translator.load("{url}").catch((error) => console.log(`${{error.name}}: ${{error.message}}`));
        """
        command = ["node", "--input-type=module", "--eval", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith(f"DownloadError: {url}: cannot be downloaded: TypeError: fetch failed: ")
    assert "ECONNREFUSED" in done.stdout


def test_what_is_public() -> None:
    program = f"console.log(...Object.keys(await import('{(DIST / 'index.node.js').as_uri()}')).sort())"
    command = ["node", "--input-type=module", "--eval", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    errors = ["CancelledError", "DownloadError", "EngineError", "ModelFileError", "PocketMTError"]
    assert done.stdout.split() == [*errors, "Translator"]
