"""The tutorial and the guides run word by word."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from examples.demo.sentences import sentences
from tools.documentation.blocks import Block, blocks_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8"))
TUTORIAL = "tutorial"
CORPUS_LINES = 150


class Reader:
    """Someone who types all that a page says, in a folder."""

    def __init__(self, folder: Path, commands: Path) -> None:
        self.folder = folder
        programs = (str(commands), str(Path(sys.executable).parent), os.environ["PATH"])
        self.environment = {**os.environ, "PATH": os.pathsep.join(programs)}
        self.names: dict[str, Any] = {"__name__": "page"}

    def read(self, page: str) -> None:
        """Save the files and run the programs of a page, with its replacements."""
        blocks = blocks_of(DOCS / f"{page}.md")
        replacements = {old: new.replace("{port}", str(free_port())) for old, new in PAGES[page].items()}
        whole = "".join(block.text for block in blocks if block.runs or block.title)
        assert [text for text in replacements if text not in whole] == [], "a replacement is not in the page"
        if "curl " in whole and shutil.which("curl") is None:
            pytest.skip("this machine has no curl")
        for block in blocks:
            self._read(block, replacements)

    def _read(self, block: Block, replacements: dict[str, str]) -> None:
        text = block.text
        for old, new in replacements.items():
            text = text.replace(old, new)
        if block.title is not None:
            (self.folder / block.title).write_text(text, encoding="utf-8")
        elif block.language == "python":
            with contextlib.chdir(self.folder):
                exec(compile(text, f"the page, section {block.section}", "exec"), self.names)
        elif block.language == "sh":
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == 0, f"{block.section}:\n{text}\n{done.stdout}"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def tutorial(tmp_path_factory: pytest.TempPathFactory, commands: Path) -> Path:
    """The folder of a reader of the tutorial."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "corpus.en").write_text("".join(f"{line}\n" for line in sentences(CORPUS_LINES)), encoding="utf-8")
    translate = [str(commands / "pocketmt"), "translate", "--input", "corpus.en", "--output", "corpus.de"]
    subprocess.run(translate, cwd=folder, check=True)
    Reader(folder, commands).read(TUTORIAL)
    return folder


def test_the_tutorial_ends_with_a_model_that_is_much_smaller_than_its_weights(tutorial: Path) -> None:
    sizes = {path.stem: path.stat().st_size for path in tutorial.glob("*.pocketmt")}
    weights = (tutorial / "runs" / "captions" / "model.safetensors").stat().st_size
    assert sizes["captions"] < 0.4 * weights
    assert sizes["captions4"] < 0.25 * weights
    assert len((tutorial / "test.translated").read_text(encoding="utf-8").splitlines()) == 10


@pytest.mark.parametrize("page", [page for page in PAGES if page != TUTORIAL])
def test_a_guide_runs(page: str, tutorial: Path, commands: Path, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    shutil.copytree(tutorial, folder)
    Reader(folder, commands).read(page)


def test_every_guide_with_programs_runs() -> None:
    guides = [
        page
        for page in DOCS.rglob("*.md")
        if page.parent.name not in ("results", "appendices") and page.stem != "students"
    ]
    runnable = {str(page.relative_to(DOCS).with_suffix("")) for page in guides if any(b.runs for b in blocks_of(page))}
    assert runnable - set(PAGES) == set()
