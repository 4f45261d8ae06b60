"""Builds the source distribution, a wheel for each Python and the data packages, and checks that each wheel translates.

    python tools/build_packages.py python3.11 python3.12 [--output dist]

Runs in the environment of tools/packages-requirements.lock, on Linux (`make wheel` creates it). Wheels are built from
the source distribution. The wheel of CPython 3.12 uses the stable ABI and is for all later versions, too. Zig's C++
compiler links against the symbols of an old glibc and links the C++ runtime statically, so that a wheel runs on the
systems of its tag, manylinux_2_31: glibc 2.31 or later, the oldest on which both wheels have run. auditwheel refuses a
wheel that needs more.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "packages"
GLIBC = "2.31"
MODELS = ROOT / "models"  # A folder for each data package.
# Sentences and their translations, by the default model and by those of the data packages.
EXAMPLE = ("Where is the train station?", "Wo ist der Bahnhof?")
EXAMPLES_OF_MODELS = {"everyday-de-en": ("Ich brauche Hilfe.", "I need help.")}
# Calls a function of the build backend in the project's folder: folder, function, output folder, build folder.
CALL_BACKEND = """
import os, sys
from scikit_build_core import build
folder, function, output, cmake = sys.argv[1:]
os.chdir(folder)
settings = {"build-dir": cmake} if cmake else {}
print(getattr(build, function)(output, settings))
"""


def main() -> int:
    """Build, audit and check everything; return 1 if a step failed."""
    parser = argparse.ArgumentParser(description="Build the source distribution and the wheels of PocketMT.")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="interpreters to build for, 3.11 or later")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder of the packages (default: dist)")
    options = parser.parse_args()
    if untracked := untracked_files():
        print(
            f"error: the source distribution would hold files that git does not track: {', '.join(untracked)}: "
            "add, ignore or move them",
            file=sys.stderr,
        )
        return 1
    output: Path = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    for earlier in output.glob("pocketmt[-_]*"):
        earlier.unlink()
    try:
        say("Building the source distribution ...")
        archive = output / call_backend(Path(sys.executable), ROOT, "build_sdist", output)
        print(f"  {archive.name}, {archive.stat().st_size / 1e6:.1f} MB", flush=True)
        source = unpack(archive)
        for python in options.pythons:
            wheel = build_wheel(python, source, output)
            check_wheel(python, wheel, *EXAMPLE)
        for folder in sorted(MODELS.iterdir()):
            wheel = build_data_package(folder, output)
            check_wheel(options.pythons[0], wheel, *EXAMPLES_OF_MODELS[folder.name], "--model", folder.name)
    except subprocess.CalledProcessError as error:
        print(f"error: {error}\n{error.stdout or ''}{error.stderr or ''}", file=sys.stderr)
        return 1
    return 0


def untracked_files() -> list[str]:
    """Return the files of the checkout that git neither tracks nor ignores; none outside a checkout."""
    if not (ROOT / ".git").exists():
        return []
    found = run(["git", "-C", ROOT, "ls-files", "--others", "--exclude-standard"])
    return found.stdout.splitlines()


def run(
    command: list[str | Path], environment: dict[str, str] | None = None, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command whose output is shown only if it fails."""
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment, input=text)


def say(line: str) -> None:
    """Print a step at once."""
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def call_backend(python: Path, folder: Path, function: str, output: Path, cmake: Path | None = None) -> str:
    """Call a function of the build backend; return the name of the file that it wrote into `output`."""
    command: list[str | Path] = [python, "-c", CALL_BACKEND, folder, function, output, cmake or ""]
    done = run(command, compiler_environment())
    return done.stdout.splitlines()[-1]


def compiler_environment() -> dict[str, str]:
    """Return the environment of this process with Zig as the C++ compiler, and without other options for compilers."""
    import ziglang  # type: ignore[import-not-found, import-untyped, unused-ignore]

    zig = Path(ziglang.__file__).parent / "zig"
    environment = {name: value for name, value in os.environ.items() if name not in ("CFLAGS", "CXXFLAGS", "LDFLAGS")}
    return environment | {
        "CXX": f"{zig} c++ -target {platform.machine()}-linux-gnu.{GLIBC}",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",  # cmake and ninja
        "ZIG_GLOBAL_CACHE_DIR": str(BUILD / "zig-cache"),
        "ZIG_LOCAL_CACHE_DIR": str(BUILD / "zig-cache"),
    }


def unpack(archive: Path) -> Path:
    """Unpack the source distribution and return its folder. Files keep their times, so that builds are incremental."""
    parent = BUILD / "source"
    shutil.rmtree(parent, ignore_errors=True)
    with tarfile.open(archive) as files:
        files.extractall(parent, filter="data")
    (folder,) = parent.iterdir()
    stable = parent / "pocketmt"
    return folder.rename(stable)


def build_wheel(python: str, source: Path, output: Path) -> Path:
    """Build a wheel with the build requirements of this environment, audit it, and return it with its final tag."""
    version = run([python, "-c", "import sys; print('%d%d' % sys.version_info[:2])"])
    folder = BUILD / f"cp{version.stdout.strip()}"
    say(f"Building the wheel for {python} (a few minutes) ...")
    environment = create_environment(python, folder / "environment", "--without-pip")
    (packages,) = (environment.parent.parent / "lib").glob("python3.*/site-packages")
    (packages / "build-requirements.pth").write_text(f"{site_packages()}\n", encoding="utf-8")
    shutil.rmtree(folder / "wheel", ignore_errors=True)
    (folder / "wheel").mkdir()
    wheel = folder / "wheel" / call_backend(environment, source, "build_wheel", folder / "wheel", folder / "cmake")
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{platform.machine()}"
    audit: list[str | Path] = [sys.executable, "-m", "auditwheel", "repair", "--plat", tag, "--only-plat"]
    run([*audit, "--wheel-dir", output, wheel], compiler_environment())
    (audited,) = output.glob(f"{'-'.join(wheel.name.split('-')[:4])}-*.whl")
    print(f"  {audited.name}, {audited.stat().st_size / 1e6:.1f} MB", flush=True)
    return audited


def check_wheel(python: str, wheel: Path, sentence: str, translation: str, *arguments: str) -> None:
    """Install a wheel, and ours that it needs, in a fresh environment without a compiler; translate a sentence."""
    environment = create_environment(python, BUILD / "check", "--clear")
    alone = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX")}
    alone["PATH"] = str(environment.parent)
    pip: list[str | Path] = [environment, "-m", "pip", "--disable-pip-version-check", "--quiet", "--quiet"]
    run([*pip, "install", "--only-binary", ":all:", "--find-links", wheel.parent, wheel], alone)
    done = run([environment.with_name("pocketmt"), "translate", *arguments], alone, f"{sentence}\n")
    if done.stdout != f"{translation}\n":
        raise SystemExit(f"error: {wheel.name}: {sentence!r} was translated to {done.stdout!r}, not {translation!r}")
    print(f"  installed for {python} without a compiler: {sentence} -> {done.stdout}", end="", flush=True)


def build_data_package(folder: Path, output: Path) -> Path:
    """Build the wheel that has one model of the repository alone, for all systems."""
    say(f"Building the data package {folder.name} ...")
    staged = BUILD / folder.name
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(folder, staged)
    (staged / "pocketmt_models").mkdir()
    model = f"{folder.name}.pocketmt"
    shutil.copy(ROOT / "src" / "pocketmt" / "bundled" / model, staged / "pocketmt_models" / model)
    wheel = output / call_backend(Path(sys.executable), staged, "build_wheel", output)
    print(f"  {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return wheel


def create_environment(python: str, folder: Path, option: str) -> Path:
    """Create a virtual environment and return its Python."""
    run([python, "-m", "venv", option, folder])
    return folder / "bin" / "python"


def site_packages() -> Path:
    """Return the folder of this environment's packages."""
    return Path(sys.prefix) / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


if __name__ == "__main__":
    sys.exit(main())
