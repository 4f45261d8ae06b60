"""Only `models` and `model_file` test the type of an architecture; other packages call its methods."""

import ast
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src" / "pocketmt"
ARCHITECTURES = {"TransformerArchitecture", "LstmArchitecture", "Transformer", "LstmNetwork"}


def type_tests(path: Path) -> list[str]:
    """Calls of isinstance with an architecture or its network, as "file:line"."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            names = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
            if names & ARCHITECTURES:
                found.append(f"{path.relative_to(SOURCES)}:{node.lineno}")
    return found


def test_other_packages_do_not_ask_for_the_architecture() -> None:
    places: dict[bool, list[str]] = {True: [], False: []}
    for path in SOURCES.rglob("*.py"):
        allowed = path.relative_to(SOURCES).parts[0] in (
            "models",
            "model_file",
            "interop",
        )  # a format holds some networks
        places[allowed] += type_tests(path)
    assert places[True]  # the scan finds some
    assert not places[False]
