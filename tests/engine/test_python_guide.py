"""The examples of docs/python.md run, in order."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 7
    names: dict[str, object] = {"__name__": "guide"}
    for example in examples:
        exec(compile(example, str(GUIDE), "exec"), names)
    printed = capsys.readouterr().out
    assert "en de" in printed
    assert "Mann" in printed
    assert "cancelled: the engine is free again" in printed
