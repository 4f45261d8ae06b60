"""The file that is attacked, and what must come of it."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from tests.model_file import sample

Change = Callable[[dict[str, Any]], Any]  # of a header, in place


def _sample() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return sample.write_sample(Path(folder) / "sample.pocketmt")


SAMPLE = _sample()
HEADER, DATA = sample.split(SAMPLE)


def refused(path: Path, content: bytes, reason: str = "") -> None:
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=rf"hostile.pocketmt: .*{reason}") as caught:
        open_model(path)
    assert len(str(caught.value)) < 1000
    assert str(caught.value).endswith(
        (". Copy or download the file again, or pack it again", ". Install a newer PocketMT")
    )


def refuse_header(path: Path, change: Change, reason: str) -> None:
    """Change the header of a model file in place; the file must be refused."""
    header, data = sample.split(path.read_bytes())
    change(header)
    refused(path, sample.join(header, data), reason)
