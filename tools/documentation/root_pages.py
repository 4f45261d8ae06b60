"""MkDocs hook: CONTRIBUTING.md, CHANGELOG.md and SECURITY.md, which lie in the root of the repository, become pages."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages. Links to docs/ become relative; paths without a page become plain text."""
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/", "](", text)
        files.append(File.generated(config, name.lower(), content=text))
    return files
