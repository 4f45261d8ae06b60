"""The tutorial and the guides run word by word.

Blocks in `sh`, `console`, `python` and `js` are run, without the lines that pages.toml lists with a reason. A block
with a title is saved as a file. One in `json` or `text` after a program is all that the program prints.
"""

import ast
import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.demo.sentences import sentences
from pocketmt.cli.serve import DEFAULT_PORT
from pocketmt.engine import Translator
from tests.documentation.preparations import PREPARATIONS, ROOT
from tests.serve.conftest import running_server
from tests.web.node import missing
from tools.documentation.blocks import PROGRAMS, SHELL, Block, blocks_of

DOCS = ROOT / "docs"
SETTINGS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8"))
PAGES: dict[str, dict[str, str]] = SETTINGS["replaced"]
NOT_RUN: dict[str, str] = SETTINGS["not_run"]
SHOWN = ("json", "text")
# Their examples are those of `--help`, or they are records of measurements.
OTHER_FOLDERS = ("reference", "results", "appendices")
TUTORIAL, BROWSER = "tutorial", "guides/browser"
CORPUS_LINES = 150
SERVE = "pocketmt serve"


class Reader:
    """Someone who types all that a page says, in a folder; at the end, the servers that were started are ended.

    Attributes:
        printed: by the last program; None: none was run yet, or it is a server.
    """

    def __init__(self, folder: Path, commands: Path) -> None:
        self.folder = folder
        programs = (str(commands), str(Path(sys.executable).parent), os.environ["PATH"])
        self.environment = {**os.environ, "PATH": os.pathsep.join(programs)}
        self.names: dict[str, Any] = {"__name__": "page"}
        self.printed: str | None = None
        self._addresses: dict[str, str] = {}  # of running servers, by those in the pages
        self._servers = contextlib.ExitStack()

    def read(self, page: str) -> None:
        """Save the files and run the programs of a page, with its replacements."""
        blocks = blocks_of(DOCS / f"{page}.md")
        whole = "".join(block.text for block in blocks if block.language in PROGRAMS or block.title)
        assert [text for text in PAGES[page] if text not in whole] == [], "a replacement is not in the page"
        if "curl " in whole and shutil.which("curl") is None:
            pytest.skip("this machine has no curl")
        with self._servers:
            for block in blocks:
                self._read(block, replaced(block.text, PAGES[page] | self._addresses))

    def _read(self, block: Block, text: str) -> None:
        if block.title is not None:
            (self.folder / block.title).write_text(text, encoding="utf-8")
        elif block.language in SHELL:
            text = without_lines_that_are_not_run(text)
            if text.startswith(SERVE):
                self._serve(text)
            elif text:
                self._run(["bash", "-euo", "pipefail", "-c", text], block)
        elif block.language == "js":
            (self.folder / "page.mjs").write_text(text, encoding="utf-8")
            self._run(["node", "page.mjs"], block)
        elif block.language == "python":
            output = io.StringIO()
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(output):
                exec(compile(text, f"the page, section {block.section}", "exec"), self.names)
            self.printed = output.getvalue()
        elif self.printed is not None:
            assert self.printed.strip() == text.strip(), f"{block.section}: another output than the page shows"

    def _run(self, command: list[str], block: Block) -> None:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, f"{block.section}:\n{block.text}\n{done.stdout}\n{done.stderr}"
        self.printed = done.stdout

    def _serve(self, command: str) -> None:
        """Start a server at a free port; all that the page says of its address is said of that port."""
        with contextlib.chdir(self.folder):
            arguments = shlex.split(command.removeprefix(SERVE))
            server = self._servers.enter_context(running_server(*arguments, bundled=True))
        assert server.get("/").status == 200
        self._addresses = {f"http://127.0.0.1:{DEFAULT_PORT}": server.address}
        self.printed = None


def replaced(text: str, replacements: dict[str, str]) -> str:
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text


def without_lines_that_are_not_run(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if command_of(line) not in NOT_RUN)


def command_of(line: str) -> str:
    """Return a line of a shell without the comment behind it."""
    return line.partition(" # ")[0].strip()


def pages_to_read() -> Iterator[tuple[str, list[Block]]]:
    """Yield the name and the blocks of each page that readers follow."""
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        if page.parent.name not in OTHER_FOLDERS:
            yield os.path.relpath(page.with_suffix(""), DOCS), blocks_of(page)


@pytest.fixture(scope="session")
def tutorial(tmp_path_factory: pytest.TempPathFactory, commands: Path) -> Path:
    """The folder of a reader of the tutorial."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "corpus.en").write_text("".join(f"{line}\n" for line in sentences(CORPUS_LINES)), encoding="utf-8")
    translate = [str(commands / "pocketmt"), "translate", "--input", "corpus.en", "--output", "corpus.de"]
    subprocess.run(translate, cwd=folder, check=True)
    Reader(folder, commands).read(TUTORIAL)
    return folder


@pytest.fixture
def folder(tutorial: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(tutorial, tmp_path / "page"))


def test_the_tutorial_ends_with_a_model_that_is_much_smaller_than_its_weights(tutorial: Path) -> None:
    sizes = {path.stem: path.stat().st_size for path in tutorial.glob("*.pocketmt")}
    weights = (tutorial / "runs" / "captions" / "model.safetensors").stat().st_size
    assert sizes["captions"] < 0.4 * weights
    assert sizes["captions4"] < 0.25 * weights
    assert len((tutorial / "test.translated").read_text(encoding="utf-8").splitlines()) == 10


@pytest.mark.parametrize("page", [page for page in PAGES if page not in (TUTORIAL, BROWSER)])
def test_a_guide_runs(page: str, folder: Path, commands: Path) -> None:
    if page in PREPARATIONS:
        PREPARATIONS[page](folder)
    Reader(folder, commands).read(page)


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_the_guide_of_the_browser_runs(tmp_path: Path, commands: Path) -> None:
    PREPARATIONS[BROWSER](tmp_path)
    reader = Reader(tmp_path, commands)
    reader.read(BROWSER)
    expected = Translator(tmp_path / "model.pocketmt").translate(["A man rides a bike."], beam_size=1)
    assert reader.printed is not None and reader.printed.splitlines()[-1:] == expected


def test_every_block_runs_or_is_saved_or_shown() -> None:
    found = dict(pages_to_read())
    with_programs = {page for page, blocks in found.items() if any(block.language in PROGRAMS for block in blocks)}
    assert with_programs == set(PAGES)
    others = [
        (page, block.section, block.language)
        for page, blocks in found.items()
        for block in blocks
        if block.title is None and block.language not in PROGRAMS + SHOWN
    ]
    assert others == [], "neither a program in a language that is run nor an output"


def test_every_line_that_is_not_run_is_in_a_page() -> None:
    lines = {
        command_of(line)
        for _, blocks in pages_to_read()
        for block in blocks
        if block.language in SHELL
        for line in block.text.splitlines()
    }
    assert set(NOT_RUN) - lines == set()


@pytest.mark.parametrize(
    "blocks",
    [
        "```console\nmake wheel  # a line that is not run\nfalse\n```\n",
        "```sh\necho 1\n```\n\n```text\n2\n```\n",
        "```python\nprint(1)\n```\n\n```json\n2\n```\n",
    ],
)
def test_a_block_that_fails_or_prints_something_else_is_found(
    blocks: str, commands: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.md").write_text(f"# A section\n\n{blocks}", encoding="utf-8")
    monkeypatch.setattr("tests.documentation.test_pages.DOCS", tmp_path)
    monkeypatch.setitem(PAGES, "page", {})
    with pytest.raises(AssertionError, match="A section"):
        Reader(tmp_path, commands).read("page")


def test_comments_of_the_python_page_are_the_outputs() -> None:
    """A comment after a printing line is printed by its block; one with a list is the value of its line."""
    names: dict[str, Any] = {"__name__": "page"}
    compared = 0
    for block in blocks_of(DOCS / "python.md"):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(block.text, f"the page, section {block.section}", "exec"), names)
        for line in block.text.splitlines():
            code, _, comment = line.partition("  # ")
            if comment and code.lstrip().startswith("print("):
                assert comment.removeprefix("the last: ") in output.getvalue().splitlines()
                compared += 1
            elif comment.startswith("["):
                assert eval(code, names) == ast.literal_eval(comment)
                compared += 1
    assert compared > 10
