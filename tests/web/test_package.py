"""The npm package in Node: loading, cancelling, closing, and files that are broken or hostile."""

import json
import random
import subprocess
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.model_file.container.file_compression import decompress, is_compressed
from tests.web.node import DIST, ENGINES, missing, run_jobs

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

MOST_BYTES = 150_000
MODEL = resolve_model("everyday-en-de")


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
    assert sum(compressed_size(name, "brotliCompressSync") for name in (engine, "worker.js", "index.js")) <= MOST_BYTES


def test_as_a_program_uses_it(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.pocketmt"
    damaged.write_bytes(MODEL.read_bytes()[:-1])
    command = ["node", *map(str, (Path(__file__).with_name("package.mjs"), MODEL, damaged))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
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
    assert found["used"] == ["EngineError", "the translator is closed: load it again"]
    assert found["shared"][0] == found["shared"][1]
    assert found["sharedText"] == found["text"]
    assert found["sharedMemory"]
    assert found["sharedCancelled"][0] == "CancelledError"
    assert found["sharedAfter"] == 3 * [two_dogs]
    assert found["workers"] == ["EngineError", "workers is 0, it must be a whole number from 1 to 64"]


def with_digest(content: bytes) -> bytes:
    """Return a changed model file with the digest that it now needs."""
    import hashlib
    import re

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
