"""The site: strict build, everything local, few words, commands that exist, questions answered within two clicks."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import pocketmt.engine
from pocketmt.cli.main import pocketmt_command
from pocketmt.cli.options import DEFAULT_MODEL
from tools.documentation.blocks import SHELL, blocks_of

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
HOME, CLICKS = DOCS / "index.md", DOCS / "appendices" / "questions.md"
MOST_WORDS = 25_000
LANGUAGES = {"de": "German", "en": "English"}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning, such as a broken link or anchor, fails."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_loads_nothing_from_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=[\"']?([^\"' >]+)", page.read_text("utf-8"))
        assert [address for address in loaded if address.startswith(("http:", "https:", "//"))] == [], page


def test_the_python_api_lists_all_public_names_and_their_methods(site: Path) -> None:
    page = (site / "reference" / "python-api.html").read_text("utf-8")
    names = [*pocketmt.engine.__all__, "Translator.translate", "Translator.translate_async"]
    assert [name for name in names if f'id="pocketmt.engine.{name}"' not in page] == []


def test_the_documentation_has_at_most_25_000_words() -> None:
    """Not counted are the appendices, CHANGELOG.md, SECURITY.md, link addresses, and numbers without a letter."""
    pages = [page for page in PAGES if "appendices" not in page.parts]
    words = {str(page.relative_to(ROOT)): count_words(page.read_text(encoding="utf-8")) for page in pages}
    assert sum(words.values()) <= MOST_WORDS, words


def count_words(text: str) -> int:
    """Count the words of a page, those of tables and code included; numbers and marks are not words."""
    text = re.sub(r"<!--.*?-->|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    return sum(1 for word in text.split() if re.search(r"[A-Za-z]", word))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_have_the_options_that_the_page_names(page: Path) -> None:
    for line in command_lines(page):
        words = shlex.split(line, comments=True)
        words = words[words.index("pocketmt") + 1 :]
        end = next((i for i, word in enumerate(words) if word in ("<", ">", "|", "&&", "2>", "&")), len(words))
        check_command(words[:end])


def command_lines(page: Path) -> list[str]:
    """Return the lines of blocks that begin a command or a pipe's part with `pocketmt`, continued lines joined."""
    texts = [block.text.replace("\\\n", " ") for block in blocks_of(page) if block.language in SHELL]
    return [
        part
        for text in texts
        for line in text.splitlines()
        for part in line.split(" | ")
        if re.match(r"\s*(?:\$ )?pocketmt\b", part)
    ]


def check_command(words: list[str]) -> None:
    """Parse a command line without running it; click.UsageError if a command or option does not exist."""
    name, *arguments = words
    if name.startswith("-"):
        return
    command = pocketmt_command.commands[name]
    if arguments != ["--list"]:
        command.make_context(name, arguments, parent=click.Context(pocketmt_command, info_name="pocketmt"))


# Questions of newcomers on the home page, and a part of the answer's page. CLICKS lists the links that lead there.
ANSWERS = {
    "How do I train on my own data?": "pocketmt train captions.toml",
    "Which recipe should I take?": "Start with `8bit`",
    "How long does training take?": "Time, memory and size",
    "Does it need a GPU?": "Training uses an NVIDIA GPU if",
    "How large is it?": "MB",
    "How good are the translations?": "without a measurable loss of quality",
    "Which languages does it know?": "Any two languages work",
    "Can I use it in a web application?": "pocketmt serve",
    "Does my text leave my machine?": "never uses the network",
    "Will my model files load in later versions?": "load in every later one",
    "Which licence does it have?": "Apache-2.0",
    "How do I report a bug?": "Send what you ran",
}


def test_the_list_of_clicks_has_every_question_of_the_home_page() -> None:
    asked = re.findall(r"^\*\*(.+?\?)\*\*", HOME.read_text(encoding="utf-8"), re.MULTILINE)
    assert asked == list(clicks()) == list(ANSWERS)


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_is_answered_within_two_clicks(question: str) -> None:
    stated, links = clicks()[question]
    assert stated == len(links) <= 2
    page, text = HOME, short_answer(question)
    for link in links:
        place = target_of(CLICKS, link)
        assert place in [target_of(page, each) for each in links_in(text)], f"{page}: no such link as {link}"
        page, text = place[0], place[0].read_text(encoding="utf-8")
    assert ANSWERS[question] in text


def test_the_answer_about_languages_is_that_of_the_default_model() -> None:
    translator = pocketmt.engine.Translator(DEFAULT_MODEL)
    source, target = LANGUAGES[translator.source_language], LANGUAGES[translator.target_language]
    answer = short_answer("Which languages does it know?")
    assert f"`{DEFAULT_MODEL}`" in answer
    assert f"from {source} to {target}" in answer


def clicks() -> dict[str, tuple[int, list[str]]]:
    """Return the stated number of clicks, and the links, of each question of the list."""
    rows = re.findall(r"^\| (.+?\?) \| (\d+) \| (.+) \|$", CLICKS.read_text(encoding="utf-8"), re.MULTILINE)
    return {question: (int(number), links_in(way)) for question, number, way in rows}


def short_answer(question: str) -> str:
    """Return the paragraph of the home page that answers a question, on one line."""
    _, _, rest = HOME.read_text(encoding="utf-8").partition(f"**{question}**")
    return " ".join(rest.partition("\n\n")[0].split())


def links_in(text: str) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", text)


def target_of(page: Path, link: str) -> tuple[Path, str]:
    """Return the page and the anchor to which a link of a page leads."""
    path, _, anchor = link.partition("#")
    return (page.parent / path).resolve(), anchor
