"""The built npm package, run by Node."""

import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model

ROOT: Final = Path(__file__).resolve().parents[2]
WEB: Final = ROOT / "web"
DIST: Final = WEB / "dist"
BUILT: Final = DIST / ".built"  # as old as the package
ENGINES: Final = {"simd128": "pocketmt-simd128.wasm", "relaxed": "pocketmt-relaxed.wasm"}
# Node 20 has relaxed SIMD behind a flag, and its baseline compiler computes wrong sums.
FLAGS: Final = ("--experimental-wasm-relaxed-simd", "--no-liftoff")


def missing() -> str | None:
    """Return what keeps this machine from running the package; None where nothing does."""
    if shutil.which("node") is None:
        return "node is missing: install Node 20 or later"
    if not BUILT.exists():
        return "web/dist is missing: run `make web`, which needs npm and the pinned packages"
    return None


def sources() -> list[Path]:
    """Return the files that the package is built of."""
    package = ROOT / "src" / "pocketmt"
    bundled = [package / "bundled" / name for name in ("everyday-en-de.pocketmt", "README.md")]
    folders = [
        WEB.glob("*.json"),
        (WEB / "source").rglob("*.ts"),
        (WEB / "page").iterdir(),
        (ROOT / "native").rglob("*.*"),
    ]
    return [
        ROOT / "tools" / "build_web.py",
        *bundled,
        *(package / "sentences").glob("abbreviations.*"),
        *(path for paths in folders for path in paths),
    ]


def newer_file(built: Path, paths: Iterable[Path]) -> Path | None:
    """Return a file that was changed after another one; None: there is none."""
    return next((path for path in paths if path.stat().st_mtime > built.stat().st_mtime), None)


def run_jobs(jobs: list[dict[str, Any]], engine: str = "simd128") -> list[dict[str, Any]]:
    """Run jobs (run.mjs says which there are) in one process; each has a "result", or an "error" and a "message"."""
    flags = FLAGS if engine == "relaxed" else ()
    command = ["node", *flags, Path(__file__).with_name("run.mjs"), ENGINES[engine]]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def translations_of_both(lines: Sequence[str], *models: str) -> list[list[str]]:
    """Return the translations of lines by each bundled model, after checking that those of Python are the same."""
    results = run_jobs([{"kind": "lines", "path": str(resolve_model(name)), "lines": lines} for name in models])
    expected = [Translator(name).translate(lines, check=False) for name in models]
    assert results == [{"result": translations} for translations in expected]
    return expected


def run_program(name: str, *arguments: str | Path) -> Any:
    """Return the JSON that a program of this folder prints."""
    command = ["node", *map(str, (Path(__file__).with_name(name), *arguments))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
