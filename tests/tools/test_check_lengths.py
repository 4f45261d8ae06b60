import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _load(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


check_lengths = _load("check_lengths")

CPP = """
#include <vector>
namespace pocketmt {
namespace {
// not code: { { {
const char* text = "} } {";
struct Shape {
    size_t rows() const { return rows_; }  // a brace } here
    size_t rows_ = 1;
};
}  // namespace

template <class T>
void fill(std::vector<T>& values, T value) {
    for (auto& each : values) {
        if (value) { each = value; }
    }
    auto again = [&] { return '{'; };
}
}  // namespace pocketmt
"""


def test_the_functions_of_a_python_file() -> None:
    text = "class A:\n    @property\n    def b(self):\n        return 1\n\n\nasync def c():\n    pass\n    pass\n"
    assert sorted(check_lengths.python_functions(text)) == [("b", 3, 2), ("c", 7, 3)]


def test_the_functions_of_a_cpp_file() -> None:
    assert list(check_lengths.cpp_functions(CPP)) == [
        ("size_t rows() const", 8, 1),
        ("template <class T> void fill(std::vector<T>& values, T value)", 13, 7),
    ]


@pytest.mark.parametrize("lines", [60, 61])
@pytest.mark.parametrize(
    ("name", "heading", "line", "end"),
    [("a.py", "def long():", "    pass", "    pass"), ("a.cpp", "void longer() {", "    work();", "}")],
)
def test_a_long_function_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, heading: str, line: str, end: str, lines: int
) -> None:
    (tmp_path / name).write_text("\n".join([heading, *[line] * (lines - 2), end]) + "\n")
    assert check_lengths.main([str(tmp_path)]) == (lines > 60)
    assert ("61 lines, at most 60" in capsys.readouterr().err) == (lines > 60)


@pytest.mark.parametrize("lines", [400, 401])
def test_a_long_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: int) -> None:
    (tmp_path / "a.h").write_text("int x;\n" * lines)
    assert check_lengths.main([str(tmp_path)]) == (lines > 400)
    assert ("401 lines, at most 400" in capsys.readouterr().err) == (lines > 400)
