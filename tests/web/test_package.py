"""The npm package in Node: loading, cancelling, closing, and files that are broken or hostile."""

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import EngineError
from pocketmt.model_file.container.file_compression import decompress, is_compressed
from pocketmt.serving.models.description import describe_model
from tests.cli.conftest import write_random_model
from tests.engine.text.test_languages import translator
from tests.web.node import DIST, ENGINES, WEB, missing, newer_file, run_jobs, run_program

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

MOST_BYTES = 150_000
MOST_BYTES_WITH_SCRIPTS = 152 << 10
MODEL = resolve_model("everyday-en-de")
MODULES = WEB / "node_modules"


def plain_model() -> bytes:
    """The bundled model, decompressed if it is one xz stream."""
    content = memoryview(MODEL.read_bytes())
    return bytes(decompress(content)) if is_compressed(content) else bytes(content)


def compressed_size(name: str, method: str) -> int:
    """Bytes of a file of the package, compressed by a function of Node's zlib."""
    program = f"console.log(require('zlib').{method}(require('fs').readFileSync(process.argv[1])).length)"
    done = subprocess.run(["node", "-e", program, str(DIST / name)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.parametrize("engine", ENGINES.values())
def test_the_download_of_the_engine_is_small(engine: str) -> None:
    assert compressed_size(engine, "gzipSync") <= MOST_BYTES
    # With the scripts, as most static hosts send them.
    files = engine, "worker.js", "index.js"
    assert sum(compressed_size(name, "brotliCompressSync") for name in files) <= MOST_BYTES_WITH_SCRIPTS


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    path = tmp_path / "damaged.pocketmt"
    path.write_bytes(MODEL.read_bytes()[:-1])
    return path


def test_as_a_program_uses_it(damaged: Path) -> None:
    found = run_program("package.mjs", MODEL, damaged)
    translator = Translator(MODEL)
    [two_dogs] = translator.translate(["Two dogs."])
    assert found["text"] == translator.translate_text("A man rides a bike.\r\n\nTwo dogs.")
    assert found["lines"] == translator.translate(["Two dogs.", ""], beam_size=1)
    assert found["cancelled"][0] == "CancelledError"
    assert found["refused"] == ["EngineError", "beamSize is 0, it must be a whole number from 1 to 256"]
    assert found["stopped"][0] == "EngineError"
    assert found["after"] == two_dogs
    assert found["digest"][0] == found["damaged"][0] == "ModelFileError"
    assert found["absent"][0] == "DownloadError"
    assert found["closed"][0] == "CancelledError"
    assert found["used"] == found["asked"] == ["EngineError", "the translator is closed: load it again"]
    assert found["shared"][0] == found["shared"][1]
    assert found["sharedText"] == found["text"]
    assert found["sharedMemory"]
    assert found["sharedCancelled"][0] == "CancelledError"
    assert found["sharedAfter"] == 3 * [two_dogs]
    assert found["workers"] == ["EngineError", "workers is 0, it must be a whole number from 1 to 64"]


def test_a_program_that_is_no_file() -> None:
    program = f"""
        import {{ Translator }} from "{(DIST / "index.node.js").as_uri()}";
        const translator = await Translator.load("{MODEL}");
        console.log(await translator.translate("Two dogs."));
        translator.close();
    """
    command = ["node", "--input-type=module", "--eval", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == Translator(MODEL).translate(["Two dogs."])


def test_arguments_that_are_refused_leave_the_model_loaded(tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    write_random_model(path, "uniform8", 1)
    with pytest.raises(EngineError, match="it must be 1 to ") as refused:
        Translator(path).translate(["Two dogs."], beam_size=256)
    largest = int(str(refused.value).rpartition(" ")[2])
    assert largest < 100
    lines = {"kind": "lines", "path": str(path), "lines": ["Two dogs."]}
    ids = {"kind": "ids", "path": str(path), "options": {}}
    jobs: list[dict[str, Any]] = [
        lines | {"options": {"beamSize": largest + 1}},
        lines | {"options": {"lengthPenalty": -10.1}},
        lines | {"options": {"lengthPenalty": 11}},
        *(lines | {"options": {name: count}} for name in ("maxLength", "batchSize") for count in (0, 2**31)),
        ids | {"sources": [[5], [1000]]},
        ids | {"sources": [[-1]]},
        lines | {"options": {"beamSize": largest, "lengthPenalty": -10, "batchSize": 2**31 - 1}},
    ]
    *found, last = run_jobs(jobs)
    assert [each["message"].partition(",")[0] for each in found] == [
        f"beamSize is {largest + 1}",
        "lengthPenalty is -10.1",
        "lengthPenalty is 11",
        *("maxLength is 0", f"maxLength is {2**31}", "batchSize is 0", f"batchSize is {2**31}"),
        "an id of a source is 1000",
        "an id of a source is -1",
    ]
    assert last == {"result": Translator(path).translate(["Two dogs."], beam_size=largest, length_penalty=-10.0)}


CONSUMER = """
import { CancelledError, type LoadOptions, type ModelInfo, type TranslateOptions, Translator } from "pocketmt";
const loading: LoadOptions = { workers: 2, signal: new AbortController().signal };
const options: TranslateOptions = { beamSize: 1, onTime: (milliseconds) => milliseconds.toFixed() };
export async function translated(text: string): Promise<[string, ModelInfo]> {
  const translator = await Translator.load("model.pocketmt", loading);
  return [await translator.translate(text, options), translator.info];
}
export const cancelled: Error = new CancelledError();
// @ts-expect-error: it is not public.
export { namedError } from "pocketmt";
"""
LOCAL_CONSUMER = """
import { LocalTranslator, type ModelInfo, type TranslateOptions, hasRelaxedSimd } from "pocketmt/local";
const options: TranslateOptions = { beamSize: hasRelaxedSimd() ? 1 : 2 };
export async function translated(module: object, file: Uint8Array): Promise<[string[], ModelInfo]> {
  const translator = await LocalTranslator.load(module, file);
  return [await translator.translate(["Two dogs."], options, async () => {}), translator.info];
}
"""


@pytest.mark.skipif(not (MODULES / ".bin" / "tsc").exists(), reason="TypeScript is missing: run `make web`")
@pytest.mark.parametrize("program", [CONSUMER, LOCAL_CONSUMER])
def test_declarations_in_a_program_for_node(tmp_path: Path, program: str) -> None:
    (tmp_path / "node_modules" / "@types").mkdir(parents=True)
    for name, package in {"pocketmt": WEB, "@types/node": MODULES / "@types" / "node"}.items():
        (tmp_path / "node_modules" / name).symlink_to(package)
    (tmp_path / "program.mts").write_text(program)
    options = ("--target", "es2022", "--lib", "es2022", "--types", "node", "--module", "nodenext")
    command = [str(MODULES / ".bin" / "tsc"), "--noEmit", "--strict", *options, "program.mts"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_workers_that_stop() -> None:
    found = run_program("stopped.mjs", MODEL)
    assert found["running"] == ["EngineError", "the worker stopped with exit code 1"]
    assert found["sent"] == ["load", "load", "translate", "translate", "cancel"]  # the other worker's share
    assert [found["workers"], found["after"]] == [1, *Translator(MODEL).translate(["Two dogs."])]
    assert found["later"] == ["EngineError", "an error stopped all workers: load the translator again"]
    assert found["unread"] == ["EngineError", "the worker stopped: RangeError: out of memory"]


URL = "https://example.org/model.pocketmt"


def test_with_a_digest_only_a_wrong_file_is_downloaded_again(damaged: Path) -> None:
    digest, other = describe_model(MODEL).digest, resolve_model("everyday-de-en")
    assert run_program("cached.mjs", MODEL, "", "yes", digest) == [["loaded", digest]]
    assert run_program("cached.mjs", MODEL, damaged, "no", digest) == [["failed", "EngineError"]]
    downloaded = [["fetch", "no-cache"], ["put", URL], ["loaded", digest]]
    assert run_program("cached.mjs", damaged, MODEL, "yes", digest) == downloaded
    assert run_program("cached.mjs", other, MODEL, "yes", digest) == downloaded
    refused = [["fetch", "no-cache"], ["failed", "ModelFileError"]]
    assert run_program("cached.mjs", damaged, damaged, "yes", digest) == refused
    unreachable = [["fetch", "no-cache"], ["failed", "DownloadError"]]
    assert run_program("cached.mjs", other, "", "yes", digest) == unreachable


def test_without_a_digest_the_server_is_asked_first(damaged: Path) -> None:
    digest, other = describe_model(MODEL).digest, resolve_model("everyday-de-en")
    downloaded = [["fetch", "no-cache"], ["put", URL], ["loaded", digest]]
    assert run_program("cached.mjs", other, MODEL, "yes") == downloaded
    assert run_program("cached.mjs", MODEL, "", "yes") == [["fetch", "no-cache"], ["loaded", digest]]
    unreachable = [["fetch", "no-cache"], ["fetch", "no-cache"], ["failed", "DownloadError"]]
    assert run_program("cached.mjs", damaged, "", "yes") == unreachable


def test_after_an_error_of_the_engine_a_worker_has_the_same_model_again() -> None:
    digest, other = describe_model(MODEL).digest, resolve_model("everyday-de-en")
    failed = [["loaded", digest], ["failed", "EngineError"]]
    assert run_program("reloaded.mjs", MODEL, other, "yes") == [*failed, ["translated", digest]]
    assert run_program("reloaded.mjs", MODEL, other, "no") == [*failed, ["failed", "ModelFileError"]]


# Built-ins that came after Chrome 91, and so after the other browsers and Node 20 that docs/guides/browser.md names.
NEWER = re.compile(
    r"\.(at|findLast|findLastIndex|toSorted|toReversed|toSpliced|with|throwIfAborted|isWellFormed|toWellFormed)\("
    r"|\b(structuredClone|Object\.(hasOwn|groupBy)|Array\.fromAsync|AbortSignal\.(any|timeout)|Response\.json"
    r"|Promise\.(withResolvers|try))\b"
)


@pytest.mark.parametrize("name", ["index.js", "local.js", "worker.js", "page/page.js", "page/service_worker.js"])
def test_scripts_run_in_the_oldest_browsers(name: str) -> None:
    assert NEWER.search((DIST / name).read_text(encoding="utf-8")) is None


# The model takes longer than the engine, whose error nothing must miss meanwhile.
ENGINE_PROGRAM = """
import http from "node:http";
import { Translator } from "./index.node.js";
const server = http.createServer((_, response) => setTimeout(() => response.end(), 500)).listen(0);
await new Promise((resolve) => server.on("listening", resolve));
const url = `http://127.0.0.1:${server.address().port}/`;
const { name, message } = await Translator.load(url).catch((error) => error);
console.log(JSON.stringify([name, message]));
process.exit();
"""


@pytest.mark.parametrize(
    ("engine", "kind", "reason"), [(None, "DownloadError", "wasm: cannot be read"), (b"\0asm", "EngineError", "SIMD")]
)
def test_an_engine_that_cannot_run(tmp_path: Path, engine: bytes | None, kind: str, reason: str) -> None:
    for name in ("index.node.js", "worker.node.js"):
        shutil.copy(DIST / name, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "program.mjs").write_text(ENGINE_PROGRAM)
    if engine is not None:
        (tmp_path / "pocketmt-simd128.wasm").write_bytes(engine)
    done = subprocess.run(["node", "program.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    name, message = json.loads(done.stdout)
    assert name == kind and reason in message


def test_calls_that_overlap() -> None:
    lines = ["Two dogs.", "A man rides a bike. A woman reads.", ""]
    [found] = run_jobs([{"kind": "overlapping", "path": str(MODEL), "lines": lines}])
    assert found == {"result": Translator(MODEL).translate(lines)}


def test_addresses_above_2_gigabytes() -> None:
    lines = ["Two dogs.", "A man rides a bike."]
    [found] = run_jobs([{"kind": "high", "path": str(MODEL), "lines": lines}])
    assert found == {"result": [True, Translator(MODEL).translate(lines)]}


def test_the_memory_of_the_file_is_given_back(tmp_path: Path) -> None:
    translator(tmp_path, None, "en", "de")
    assert run_jobs([{"kind": "released", "path": str(tmp_path / "model.pocketmt")}]) == [{"result": True}]


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is missing")
def test_what_is_packed() -> None:
    command = ["npm", "pack", "--dry-run", "--json"]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=True, timeout=60)
    packed = {file["path"] for file in json.loads(done.stdout)[0]["files"]}
    exports = json.loads((WEB / "package.json").read_text())["exports"].values()
    named = {path.removeprefix("./") for entry in exports if isinstance(entry, dict) for path in entry.values()}
    workers = {"dist/worker.js", "dist/worker.node.js"}
    engines = {f"dist/{name}" for name in ENGINES.values()}
    assert named | workers | engines | {"LICENSE", "THIRD_PARTY_LICENSES", "README.md", "package.json"} <= packed
    others = ("dist/page", "source", "dist/testing", "dist/types/testing", "dist/.built")
    assert not [path for path in packed if path.startswith(others)]


def test_a_newer_source_is_found(tmp_path: Path) -> None:
    built, old, new = (tmp_path / name for name in ("built", "old", "new"))
    for time, path in enumerate((old, built, new)):
        path.touch()
        os.utime(path, (time, time))
    assert newer_file(built, [old, built]) is None
    assert newer_file(built, [old, new]) == new


def with_digest(content: bytes) -> bytes:
    """Return a changed model file with the digest that it now needs."""
    import hashlib

    header = 8 + int.from_bytes(content[:8], "little")
    found = re.search(rb'"digest":\s*"([0-9a-f]{64})"', content[:header])
    if found is None:
        return content
    start, end = found.span(1)
    digest = hashlib.sha256(content[:start] + b"0" * 64 + content[end:]).hexdigest().encode()
    return content[:start] + digest + content[end:]


def hostile_files() -> list[bytes]:
    """Files that are cut off, changed at random, or whose headers say something else."""
    content, draw = plain_model(), random.Random(1)
    header = 8 + int.from_bytes(content[:8], "little")
    files = [b"", b"\0" * 100, content[:100], content[:-1], MODEL.read_bytes()[:5000], content + b"\0"]
    for first, last in [(0, 8), (8, header), (8, header), (8, header), (header, len(content))] * 8:
        changed = bytearray(content)
        for _ in range(draw.choice([1, 8])):
            changed[draw.randrange(first, last)] = draw.randrange(256)
        files.append(with_digest(bytes(changed)))
    for before, after in [
        (b'\\"decoder_layers\\":', b'\\"decoder_layers\\":9'),
        (b'\\"vocabulary_size\\":', b'\\"vocabulary_size\\":9'),
        (b'\\"model_dimension\\":', b'\\"model_dimension\\":6'),
        (b'\\"format_version\\":', b'\\"format_version\\":9'),
        (b'\\"affine\\"', b'\\"afxine\\"'),
    ]:
        files.append(replaced(content, before, after))
    return files


def replaced(content: bytes, before: bytes, after: bytes) -> bytes:
    """Return a file with another header of the same size."""
    header = content[8 : 8 + int.from_bytes(content[:8], "little")]
    changed = header.replace(before, after).rstrip()
    return with_digest(content[:8] + changed[: len(header)].ljust(len(header)) + content[8 + len(header) :])


def test_hostile_files_give_messages(tmp_path: Path) -> None:
    jobs = []
    for index, content in enumerate(hostile_files()):
        path = tmp_path / f"{index}.pocketmt"
        path.write_bytes(content)
        jobs.append({"kind": "lines", "path": str(path), "lines": ["Two dogs."], "options": {"beamSize": 1}})
    results = run_jobs(jobs)
    refused = [each for each in results if "error" in each]
    assert len(refused) > len(results) // 2
    for each in refused:
        assert each["error"] in ("ModelFileError", "EngineError"), each
        assert "RuntimeError" not in each["message"], each
