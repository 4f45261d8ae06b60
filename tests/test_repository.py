"""The set-up: missing tools are named, pins are complete, links in the documentation work, private names are used."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def _pins() -> dict[str, Requirement]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin.name): pin for pin in pins}


def test_the_runtime_needs_two_packages(project: dict[str, Any]) -> None:
    assert {Requirement(each).name for each in project["dependencies"]} == {"sentencepiece", "click"}


def test_every_development_package_is_pinned(project: dict[str, Any]) -> None:
    pins = _pins()
    for text in chain(project["dependencies"], *project["optional-dependencies"].values()):
        requirement = Requirement(text)
        if requirement.name != "pocketmt":
            pin = pins[canonicalize_name(requirement.name)]
            (version,) = (each.version for each in pin.specifier)
            assert requirement.specifier.contains(version), f"{pin} is not what pyproject.toml requires: {requirement}"


def test_the_source_distribution_has_only_models_that_its_licence_covers(tmp_path: Path) -> None:
    program = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as files:
        root = files.getnames()[0].partition("/")[0]
        names = {name.removeprefix(f"{root}/") for name in files.getnames()}
        stream = files.extractfile(f"{root}/PKG-INFO")
        assert stream is not None
        metadata = stream.read().decode()
    bundled = {Path(name).stem for name in names if re.fullmatch(r"src/pocketmt/bundled/.*\.pocketmt", name)}
    assert bundled == {"everyday-en-de", "everyday-de-en"}
    assert "\nLicense-Expression: Apache-2.0 AND LicenseRef-CC-BY-2.0-FR\n" in metadata
    for name in ("LICENSE", "THIRD_PARTY_LICENSES", "src/pocketmt/bundled/README.md"):
        assert name in names and f"\nLicense-File: {name}\n" in metadata


def test_pins_are_exact_and_without_cuda() -> None:
    for name, pin in _pins().items():
        assert [each.operator for each in pin.specifier] == ["=="], pin
        assert not name.startswith(("nvidia", "cuda")), pin
        assert "+" not in str(pin.specifier), f"{pin} is not on PyPI"


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("PYTHON=no-such-python", "Install Python 3.11"),
        ("PYTHON=true", "Python.h"),  # exits with 0, but is not Python
        ("CXX=no-such-compiler", "no C++ compiler"),
        ("CXX=false", "does not support C++20"),
    ],
)
def test_make_names_missing_tools(variable: str, message: str) -> None:
    # Variables of an outer make must not reach this one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    answer = subprocess.run(
        ["make", "prerequisites", f"PYTHON={sys.executable}", variable],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode != 0
    assert answer.stderr.startswith("error: ")
    assert message in answer.stderr.splitlines()[0]


def test_continuous_integration_runs_every_check() -> None:
    run = ROOT / ".ci" / "run"
    assert os.access(run, os.X_OK)
    assert "exec make test" in run.read_text(encoding="utf-8")


def _unused(module: ast.Module) -> set[str]:
    """The private constants, functions and classes that their module does not read; a decorator reads its function."""
    defined: set[str] = set()
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined |= set() if statement.decorator_list else {statement.name}
        else:
            targets = (each for each in ast.walk(statement) if isinstance(each, ast.Name))
            defined |= {each.id for each in targets if isinstance(each.ctx, ast.Store)}
    names = (each for each in ast.walk(module) if isinstance(each, ast.Name))
    read = {each.id for each in names if isinstance(each.ctx, ast.Load)}
    return {name for name in defined - read if re.match("_[^_]", name)}


def test_every_private_name_is_used() -> None:
    modules = (ROOT / "src" / "pocketmt").rglob("*.py")
    found = {str(path): _unused(ast.parse(path.read_text(encoding="utf-8"))) for path in modules}
    assert {path: names for path, names in found.items() if names} == {}
    assert _unused(ast.parse("_A: int = 1\n_B = 2\ndef _c(): return _B\n@d\nclass _E: pass\n")) == {"_A", "_c"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_the_documentation_work(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"\w+:|#", target):
            assert (page.parent / target.partition("#")[0]).exists(), f"{page}: {target}"


def test_the_model_card_has_a_row_for_each_bundled_model() -> None:
    folder = ROOT / "src" / "pocketmt" / "bundled"
    rows = re.findall(r"^\| `([^`]+)` \|", (folder / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(rows) == sorted(model.stem for model in folder.glob("*.pocketmt"))
    assert rows


def test_each_data_package_has_its_model_and_the_version_of_pocketmt(project: dict[str, Any]) -> None:
    descriptions = list((ROOT / "models").glob("*/pyproject.toml"))
    assert descriptions
    for description in descriptions:
        name = description.parent.name
        package = tomllib.loads(description.read_text(encoding="utf-8"))["project"]
        assert (package["name"], package["version"]) == (f"pocketmt-{name}", project["version"])
        assert (ROOT / "src" / "pocketmt" / "bundled" / f"{name}.pocketmt").exists()
