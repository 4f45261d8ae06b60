"""MkDocs hook: CONTRIBUTING.md, CHANGELOG.md and SECURITY.md, which lie in the root of the repository, become pages."""

import posixpath
import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[2]
NAMES: Final = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
LINK: Final = re.compile(rf"\]\((?:\.\./)*({'|'.join(map(re.escape, NAMES))})")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages; their links to docs/ become links to its pages."""
    for name in NAMES:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name.lower(), content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to the files in the root lead to their pages."""
    folder = posixpath.dirname(page.file.src_uri)
    return LINK.sub(lambda link: f"]({posixpath.relpath(link[1].lower(), folder or '.')}", markdown)
