"""Refuses the commonest lapses from the style guide in CONTRIBUTING.md: labels of paper rows and private vocabulary.

    python tools/check_language.py [FILE ...]

Without arguments it checks the whole repository. It reads comments, docstrings and messages of Python and C++, and all
of Markdown, TOML and the Makefile. Prints each place with what to write instead, and exits with 1 where there is any.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUFFIXES = {".py", ".h", ".cpp", ".inl", ".md", ".toml"}
# Text to translate and quotations are not ours; the guide and this file name what they refuse.
EXCLUDED = ("benchmarks/records/", "tools/check_language.py", "CONTRIBUTING.md", "LICENSE", "THIRD_PARTY_LICENSES")
LAPSES = {
    r"\[(?:Q|B|Z|L|E)\d(?:[-,\s]+(?:Q|B|Z|L|E)?\d)*\]|\bpapers? [QBZLE]\b": "cite the paper by authors, year, section",
    r"\banew\b": "again",
    r"\blik(?:eli)?est\b": "most probable, top-k, or most similar",
    r"\bof (?:its|their|his) own\b": "its, separate, or leave it out",
    r"\b(?:comes?|came|coming) along\b": "built-in, bundled, or included",
    r"\bborne\b|\bbears? (?:few|fewer|\d) bits\b": "say how much the loss rises",
    r"\bso many\b": "the number of, or n",
    r"\bin the places? of\b": "instead of, or replaces",
    r"\bgo(?:es)? on where\b": "resumes",
    r"\bwhoever\b": "say who or what",
    r"\bcrews?\b": "thread pool, workers",
    r"\bpeople's (?:text|translations)\b": "human references, or authentic parallel data",
    r"\bwhere there is\b|\bwhere there are\b": "if",
    r"\bof use\b|\bworth (?:a|an|the) \w+'s while\b": "useful",
    r"\b(?:some|a few) hundredths?\b|\ban? \d+th of\b": "a number",
    r"\bbeside (?:the|our|its) (?:\w+ )?(?:8|eight) bits?\b": "compared with 8 bits",
}
OPENING = re.compile(r"^(?:What|Which|How)\b")


def passages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each passage that the guide is about."""
    text = path.read_bytes().decode()
    if path.suffix == ".py":
        yield from _python_passages(text, all_strings=path.relative_to(ROOT).parts[0] == "src")
    elif path.suffix in (".h", ".cpp", ".inl"):
        for match in re.finditer(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', text):
            yield text.count("\n", 0, match.start()) + 1, match.group()
    else:
        yield from enumerate(text.splitlines(), 1)


def _python_passages(text: str, all_strings: bool) -> Iterator[tuple[int, str]]:
    docstrings = set()
    for node in ast.walk(ast.parse(text.encode())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.add(first.lineno)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        wanted = token.type == tokenize.STRING and (all_strings or token.start[0] in docstrings)
        if wanted or token.type == tokenize.COMMENT:
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


def lapses(path: Path) -> Iterator[str]:
    """Yield a message for each lapse in a file."""
    name = path.relative_to(ROOT)
    for number, text in passages(path):
        for pattern, instead in LAPSES.items():
            for match in re.finditer(pattern, text, re.IGNORECASE if pattern[0] != "\\[" else 0):
                yield f"{name}:{number}: {match.group()!r}: write {instead}"
    if path.suffix == ".py":
        opening = OPENING.match(ast.get_docstring(ast.parse(path.read_bytes())) or "")
        if opening:
            yield f"{name}:1: a module docstring says what the module provides; it does not begin with {opening[0]}"


def tracked_files() -> list[Path]:
    """Return the repository's own text files."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.splitlines() if not name.startswith(EXCLUDED)]
    return [ROOT / name for name in names if Path(name).suffix in SUFFIXES or Path(name).name == "Makefile"]


def main() -> int:
    """Check the files that are named, or all."""
    files = [Path(name).resolve() for name in sys.argv[1:]] or tracked_files()
    found = [message for path in files if path.exists() for message in lapses(path)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
