"""Build the npm package in web/dist: the engine as WebAssembly, the scripts, and the page for browsers."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pocketmt.sentences.abbreviations import ORDINAL_LANGUAGES
from pocketmt.serving.models.description import describe_model

ROOT: Final = Path(__file__).resolve().parent.parent
WEB: Final = ROOT / "web"
DIST: Final = WEB / "dist"
PAGE: Final = DIST / "page"
BUILD: Final = ROOT / "build" / "web"
ENGINES: Final = {"simd128": "simd128", "relaxed": "relaxed_simd"}  # name in the package: instruction set
FEATURES: Final = (
    "simd",
    "relaxed-simd",
    "bulk-memory",
    "nontrapping-float-to-int",
    "sign-ext",
    "mutable-globals",
    "reference-types",
    "multivalue",
)
MODEL: Final = ROOT / "src" / "pocketmt" / "bundled" / "everyday-en-de.pocketmt"
# The oldest that docs/guides/browser.md names.
HOSTS: Final = (
    "--target=chrome91,firefox114,safari16.4,node20",
    # They know \p{...}, but not the newest scripts, for which esbuild would compile each pattern where it is used.
    "--supported:regexp-unicode-property-escapes=true",
)


def main() -> None:
    """Build everything, or what changed; exits with a message if a tool fails."""
    shutil.rmtree(PAGE, ignore_errors=True)
    PAGE.mkdir(parents=True)
    build_engines()
    write_abbreviations()
    bundle("index", "local", "worker", "testing", NODE=False)
    bundle("index", "worker", suffix=".node", NODE=True)
    run("npx", "tsc", "--project", WEB)
    for configuration in ("page", "service_worker"):
        run("npx", "tsc", "--project", WEB / f"tsconfig.{configuration}.json")
    build_page()
    copy_licences(WEB)


def build_engines() -> None:
    """Compile the engine for each instruction set, and make it smaller."""
    spec = find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("error: the package ziglang is missing; install the pinned packages: pip install -r requirements.lock")
    folder = BUILD / "engine"
    # A cache of its compiled library, and of nothing outside of this repository.
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = str(BUILD / "cache")
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # cmake and ninja
    run(
        *("cmake", "-S", ROOT / "native", "-B", folder, "-G", "Ninja", "-DPOCKETMT_WEB=ON"),
        f"-DZIG={Path(spec.submodule_search_locations[0]) / 'zig'}",
        f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'native' / 'web' / 'toolchain.cmake'}",
    )
    run("cmake", "--build", folder)
    features = [f"--enable-{feature}" for feature in FEATURES]
    for name, instruction_set in ENGINES.items():
        compiled, optimized = folder / f"pocketmt_{instruction_set}.wasm", DIST / f"pocketmt-{name}.wasm"
        if not optimized.exists() or optimized.stat().st_mtime < compiled.stat().st_mtime:
            unfinished = optimized.with_suffix(".part")
            run("npx", "wasm-opt", compiled, "-o", unfinished, *features, "--strip-debug", "--strip-producers", "-O3")
            unfinished.replace(optimized)  # whole, even if the build was interrupted before


def write_abbreviations() -> None:
    """Write the abbreviations that end no sentence for the scripts."""
    languages = tomllib.loads((ROOT / "src/pocketmt/sentences/abbreviations.toml").read_text(encoding="utf-8"))
    content = {"ordinal_languages": sorted(ORDINAL_LANGUAGES), "languages": languages}
    path = WEB / "source" / "generated" / "abbreviations.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def bundle(*names: str, folder: str = "source", to: Path = DIST, suffix: str = "", **defined: object) -> None:
    """Bundle scripts, each as one module whose name ends in a suffix, with constants that the scripts leave open."""
    definitions = [f"--define:{name}={json.dumps(value)}" for name, value in defined.items()]
    scripts = [WEB / folder / f"{name}.ts" for name in names]
    options = ("--bundle", "--minify", "--format=esm", "--external:node:*", *HOSTS, "--charset=utf8")
    places = (f"--outdir={to}", f"--entry-names=[name]{suffix}")
    run("npx", "esbuild", *scripts, *options, "--log-level=warning", *places, *definitions)


def build_page() -> None:
    """Put the page together: static files, with a model, that any web server can serve."""
    bundle("page", folder="page", to=PAGE, NODE=False)
    for path in (WEB / "page" / "index.html", WEB / "page" / "style.css", DIST / "worker.js"):
        shutil.copy(path, PAGE)
    for name in ENGINES:
        shutil.copy(DIST / f"pocketmt-{name}.wasm", PAGE)
    files = sorted(PAGE.iterdir())
    version = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    names = ["./", *(path.name for path in files)]
    bundle("service_worker", folder="page", to=PAGE, VERSION=version, FILES=names)
    shutil.copy(MODEL, PAGE / "model.pocketmt")
    shutil.copy(MODEL.with_name("README.md"), PAGE / "model-card.md")
    copy_licences(PAGE)
    models = [{"url": "model.pocketmt", "digest": describe_model(MODEL).digest}]
    (PAGE / "models.json").write_text(json.dumps(models) + "\n", encoding="utf-8")


def copy_licences(folder: Path) -> None:
    """Copy our licence, and those of the libraries that are compiled into the modules."""
    for name in ("LICENSE", "THIRD_PARTY_LICENSES"):
        shutil.copy(ROOT / name, folder)


def run(*command: str | Path) -> None:
    """Run a tool in the package's folder; exits with its output if it fails."""
    done = subprocess.run([str(part) for part in command], cwd=WEB, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command[:3]))} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


if __name__ == "__main__":
    main()
