"""Refuses files of more than 400 lines and functions of more than 60, in Python and C++: what is longer is split.

    python tools/check_lengths.py [FOLDER ...]

Without arguments it checks the folders of the repository. Prints each place that is too long and exits with 1.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 60
FOLDERS = ("src", "native", "tests", "tools", "benchmarks")
CPP_SUFFIXES = (".h", ".cpp", ".inl")

# What is no code in C++: comments, strings, characters. Line ends inside stay, so that lines can be counted.
_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
# A brace after one of these opens a scope that may hold functions; any other brace at that depth opens a function.
_SCOPE = re.compile(r"(?:^|\s)(?:namespace|struct|class|union|enum|extern)\b[^()]*$")


def too_long(path: Path) -> Iterator[str]:
    """Yield a message for the file, if it is too long, and for each of its functions that is."""
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if lines > FILE_LINES:
        yield f"{path}: {lines} lines, at most {FILE_LINES}"
    functions = python_functions(text) if path.suffix == ".py" else cpp_functions(text)
    for name, line, length in functions:
        if length > FUNCTION_LINES:
            yield f"{path}:{line}: {name} has {length} lines, at most {FUNCTION_LINES}"


def python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, first line and number of lines of each function, decorators not counted."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def cpp_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield heading, first line and number of lines of each function body that is not inside another."""
    code = _NOT_CODE.sub(lambda match: "\n" * match.group().count("\n"), text)
    scopes: list[bool] = []  # of each open brace: may it hold functions?
    heading_start, function_start, heading = 0, 0, ""
    for position, character in enumerate(code):
        if character == "{":
            outside = all(scopes)
            before = code[heading_start:position]
            holds_functions = outside and bool(_SCOPE.search(before.strip()))
            if outside and not holds_functions:
                heading = " ".join(before.split())
                function_start = heading_start + len(before) - len(before.lstrip())
            scopes.append(holds_functions)
        elif character == "}" and scopes:
            was_scope = scopes.pop()
            if all(scopes) and not was_scope and "(" in heading:
                first_line = code.count("\n", 0, function_start) + 1
                yield heading, first_line, code.count("\n", function_start, position) + 1
        if character in "{};" and all(scopes):
            heading_start = position + 1


def source_files(folders: list[Path]) -> Iterator[Path]:
    """Yield the Python and C++ files below the folders, in order."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix == ".py" or path.suffix in CPP_SUFFIXES:
                yield path


def main(arguments: list[str]) -> int:
    """Check the folders; return 1 where anything is too long."""
    root = Path(__file__).resolve().parent.parent
    folders = [Path(argument) for argument in arguments] or [root / folder for folder in FOLDERS]
    messages = [message for path in source_files(folders) for message in too_long(path)]
    for message in messages:
        print(message, file=sys.stderr)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
