"""Writes the generated pages of the documentation: `python -m tools.documentation`; with --check, compares them.

Exits with 1 if a page differs from what the code says, or cannot be generated.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pocketmt.errors import PocketMTError
from tools.documentation.commands_page import commands_page
from tools.documentation.configuration_page import configuration_page
from tools.documentation.recipes_page import recipes_page

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES: Final[dict[str, Callable[[], str]]] = {
    "commands.md": commands_page,
    "configuration.md": configuration_page,
    "recipes.md": recipes_page,
}


def main(arguments: list[str]) -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(prog="python -m tools.documentation", description="Write the generated pages.")
    parser.add_argument("--check", action="store_true", help="change nothing, fail if a page would change")
    check = parser.parse_args(arguments).check
    failed = False
    for name, generate in PAGES.items():
        path = FOLDER / name
        try:
            text = generate()
        except PocketMTError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            print(f"error: docs/reference/{name} is out of date: run `python -m tools.documentation`", file=sys.stderr)
            failed = True
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
