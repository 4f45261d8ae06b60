"""Installs PocketMT in a fresh environment, and measures its size, import time and a translation.

    python tools/check_install.py [--output RECORD.json]

Builds a wheel, installs it with its runtime dependencies only, and fails if another package is installed, a size or
time is far above its goal, or the bundled model does not translate. The size of the `train` extra is that of its
packages in the environment of this program. 1 MB is 10^6 bytes; .pyc files, which Python writes, are counted
separately.
"""

import argparse
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from pocketmt.evaluation.records import Provenance, provenance, to_json

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = {"pocketmt", "sentencepiece", "click"}
# Packages of every new virtual environment.
INSTALLERS = {"pip", "setuptools"}
SIZE_GOAL_BYTES, SIZE_LIMIT_BYTES = 10_000_000, 15_000_000
# The limit, of processor time, is generous because times are long on a busy machine.
IMPORT_GOAL_MILLISECONDS, IMPORT_LIMIT_MILLISECONDS = 100, 1000
IMPORT_REPEATS = 9
SENTENCE = "Where is the train station?"
TRANSLATION_REPEATS = 5
# Errors only: warnings about package indexes of the machine hide the result.
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "--quiet")
KINDS = {".so": "compiled module", ".pocketmt": "bundled model", ".bin": "normalization tables"}


@dataclass(frozen=True)
class Package:
    """One installed distribution."""

    name: str
    version: str
    bytes: int
    bytecode_bytes: int  # .pyc, not in `bytes`


@dataclass(frozen=True)
class Sizes:
    """A set of installed distributions."""

    packages: list[Package]
    total_bytes: int
    total_megabytes: float
    bytecode_megabytes: float

    @classmethod
    def of(cls, packages: list[Package]) -> "Sizes":
        """Add the packages up."""
        total = sum(package.bytes for package in packages)
        bytecode = sum(package.bytecode_bytes for package in packages)
        return cls(packages, total, total / 1e6, bytecode / 1e6)


@dataclass(frozen=True)
class ImportTime:
    """Milliseconds of one import statement in fresh processes, files in the page cache."""

    module: str
    median_milliseconds: float
    median_processor_milliseconds: float  # processor time, which excludes waiting for other programs
    fastest_milliseconds: float
    slowest_milliseconds: float
    repeats: int


@dataclass(frozen=True)
class Part:
    """Files of one kind in an installed distribution."""

    part: str
    megabytes: float


@dataclass(frozen=True)
class CommandTime:
    """Milliseconds of a command that translates one sentence, in fresh processes, files in the page cache."""

    median_milliseconds: float
    median_processor_milliseconds: float  # processor time, which excludes waiting for other programs
    repeats: int


@dataclass(frozen=True)
class InstallRecord:
    """All measurements."""

    wheel_bytes: int
    bundled_models_bytes: int  # in the wheel, included in the runtime's size
    pocketmt_megabytes: float  # without models and dependencies
    runtime: Sizes
    runtime_without_models_megabytes: float
    parts: list[Part]  # of `runtime`, largest first
    train: Sizes
    imports: list[ImportTime]
    import_engine_milliseconds: float
    translation: str | None  # of SENTENCE by the default model; None without a bundled model
    first_translation: CommandTime | None  # from the start of the process to its end
    size_goal_megabytes: float
    import_goal_milliseconds: float
    provenance: Provenance


def build_wheel(folder: Path) -> Path:
    """Build the wheel with the packages of this environment and the object files of the editable install."""
    command: list[str | Path] = [sys.executable, *PIP, "wheel", "--no-deps", "--no-build-isolation"]
    settings = ["build-dir=build/editable", "cmake.define.POCKETMT_TESTING=ON", "install.components=engine"]
    for setting in settings:
        command += ["--config-settings", setting]  # pip before 23.1 has no short form
    subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("pocketmt-*.whl")
    for_tests = [name for name in zipfile.ZipFile(wheel).namelist() if "_native_testing" in name]
    if for_tests:
        raise SystemExit(f"error: the wheel contains files for tests: {', '.join(for_tests)}")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Install the wheel with its dependencies into a fresh virtual environment; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    # Pinned versions make measurements comparable over time.
    subprocess.run([python, *PIP, "install", "--constraint", ROOT / "requirements.lock", wheel], check=True)
    return python


def measure_package(installed: Distribution) -> Package:
    """Add up the sizes of the files that a distribution lists."""
    sizes = {Path(str(file)).suffix == ".pyc": 0 for file in installed.files or []} | {True: 0, False: 0}
    for file in installed.files or []:
        path = Path(str(installed.locate_file(file)))
        if path.is_file():
            sizes[path.suffix == ".pyc"] += path.stat().st_size
    return Package(installed.metadata["Name"], installed.version, sizes[False], sizes[True])


def distributions_in(python: Path) -> list[Distribution]:
    """Return the distributions of a fresh environment, without those of every environment."""
    (folder,) = (python.parent.parent / "lib").glob("python3.*/site-packages")
    found = [each for each in distributions(path=[str(folder)]) if each.metadata["Name"].lower() not in INSTALLERS]
    return sorted(found, key=lambda each: each.metadata["Name"])


def parts_of(installed: list[Distribution]) -> list[Part]:
    """Add up the files of each distribution by kind, largest first."""
    sizes: Counter[str] = Counter()
    for each in installed:
        for file in each.files or []:
            path = Path(str(each.locate_file(file)))
            if path.is_file() and path.suffix != ".pyc":
                kind = next((KINDS[suffix] for suffix in path.suffixes if suffix in KINDS), "Python files and others")
                if Path(str(file)).parts[0].endswith(".libs"):
                    kind = "libraries in its wheel"
                sizes[f"{each.metadata['Name']}: {kind}"] += path.stat().st_size
    return [Part(name, size / 1e6) for name, size in sizes.most_common()]


def packages_for(extra: str, runtime: list[Package]) -> list[Package]:
    """Return the runtime and the distributions of this environment that the extra needs, with their dependencies."""
    found: dict[str, Package] = {}
    waiting = [name for name in _required("pocketmt", extra) if name not in RUNTIME]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = measure_package(distribution(name))
            waiting += [each for each in _required(name, None) if each not in RUNTIME]
    return [*runtime, *sorted(found.values(), key=lambda each: each.name.lower())]


def _required(name: str, extra: str | None) -> list[str]:
    from packaging.requirements import Requirement

    needed = []
    for text in distribution(name).requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or any(
            requirement.marker.evaluate({"extra": each}) for each in ("", *([extra] if extra else []))
        ):
            needed.append(re.sub(r"[-_.]+", "-", requirement.name).lower())
    return needed


def time_import(python: Path, module: str) -> ImportTime:
    """Time `import module` in fresh processes, without the first, which reads the files from disk."""
    clocks = "time.perf_counter(), time.process_time()"
    program = f"import time; start = {clocks}; import {module}; print(start, ({clocks}))"
    walls, processors = [], []
    for _ in range(IMPORT_REPEATS + 1):
        answer = subprocess.run([python, "-I", "-c", program], check=True, capture_output=True, text=True)
        wall, processor, wall_end, processor_end = map(float, re.findall(r"[\d.e-]+", answer.stdout))
        walls.append(1000 * (wall_end - wall))
        processors.append(1000 * (processor_end - processor))
    walls, processors = walls[1:], processors[1:]
    return ImportTime(
        module, statistics.median(walls), statistics.median(processors), min(walls), max(walls), len(walls)
    )


def translate(python: Path) -> tuple[str, CommandTime]:
    """Translate one sentence by the installed command, and time it."""
    command = [str(python.parent / "pocketmt"), "translate"]
    walls, processors = [], []
    for _ in range(TRANSLATION_REPEATS):
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = subprocess.run(command, input=SENTENCE + "\n", check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        walls.append(1000 * (time.perf_counter() - started))
        processors.append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    timing = CommandTime(statistics.median(walls), statistics.median(processors), TRANSLATION_REPEATS)
    return answer.stdout.removesuffix("\n"), timing


def check(record: InstallRecord) -> list[str]:
    """Return error messages for a fresh install."""
    wrong = []
    names = {package.name for package in record.runtime.packages}
    if names != RUNTIME:
        wrong.append(f"the runtime install has the packages {sorted(names)}, expected {sorted(RUNTIME)}")
    if record.runtime.total_bytes > SIZE_LIMIT_BYTES:
        wrong.append(f"the runtime install is {record.runtime.total_bytes} bytes, the limit is {SIZE_LIMIT_BYTES}")
    for each in record.imports:
        if each.median_processor_milliseconds > IMPORT_LIMIT_MILLISECONDS:
            wrong.append(f"import {each.module} takes {each.median_processor_milliseconds:.0f} ms of a processor")
    if record.translation is not None and (not record.translation or "\n" in record.translation):
        wrong.append(f"{SENTENCE!r} was translated to {record.translation!r}, expected one line of text")
    return wrong


def measure() -> InstallRecord:
    """Build, install and measure."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        python = install(wheel, Path(folder) / "environment")
        installed = distributions_in(python)
        runtime = [measure_package(each) for each in installed]
        imports = [time_import(python, module) for module in ("pocketmt", "pocketmt.engine")]
        sizes = Sizes.of(runtime)
        own = next(package for package in runtime if package.name == "pocketmt")
        models = [each for each in zipfile.ZipFile(wheel).infolist() if each.filename.endswith(".pocketmt")]
        models_bytes = sum(model.file_size for model in models)
        translation, timing = translate(python) if models else (None, None)
        return InstallRecord(
            wheel_bytes=wheel.stat().st_size,
            bundled_models_bytes=models_bytes,
            pocketmt_megabytes=(own.bytes - models_bytes) / 1e6,
            runtime=sizes,
            runtime_without_models_megabytes=(sizes.total_bytes - models_bytes) / 1e6,
            parts=parts_of(installed),
            train=Sizes.of(packages_for("train", runtime)),
            imports=imports,
            import_engine_milliseconds=imports[-1].median_milliseconds,
            translation=translation,
            first_translation=timing,
            size_goal_megabytes=SIZE_GOAL_BYTES / 1e6,
            import_goal_milliseconds=IMPORT_GOAL_MILLISECONDS,
            provenance=provenance("python tools/check_install.py"),
        )


def main() -> int:
    """Measure, write the record, print errors."""
    parser = argparse.ArgumentParser(description="Install PocketMT in a fresh environment and measure it.")
    parser.add_argument("--output", type=Path, help="the record (default: stdout)")
    output: Path | None = parser.parse_args().output
    record = measure()
    if output is None:
        print(to_json(record))
    else:
        output.write_text(f"{to_json(record)}\n", encoding="utf-8")
    wrong = check(record)
    for message in wrong:
        print(f"error: {message}", file=sys.stderr)
    print(
        f"runtime install: {record.runtime.total_megabytes:.1f} MB (goal {record.size_goal_megabytes:.0f}), "
        f"of it models {record.bundled_models_bytes / 1e6:.1f}; "
        f"with [train]: {record.train.total_megabytes:.0f} MB; import pocketmt.engine: "
        f"{record.import_engine_milliseconds:.0f} ms (goal {record.import_goal_milliseconds:.0f}); "
        f"translation: {record.translation or 'none, without a bundled model'}",
        file=sys.stderr,
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
