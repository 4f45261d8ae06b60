"""Paths in settings files: where they start, and the environment variables in them."""

from pathlib import Path

import msgspec
import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.toml_file import absolute_path, read_toml

FOLDER = Path("/settings")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("train.en", "/settings/train.en"),
        ("/data/train.en", "/data/train.en"),
        ("${TEXTS}/train.en", "/corpora/train.en"),
        ("${TEXTS:-../data}/train.en", "/corpora/train.en"),
        ("${UNSET:-../data}/train.en", "/settings/../data/train.en"),
        ("${EMPTY:-/data}/train.en", "/data/train.en"),
        ("$TEXTS/cost{5}.en", "/settings/$TEXTS/cost{5}.en"),
    ],
)
def test_a_path_starts_at_the_folder_and_may_hold_variables(
    text: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXTS", "/corpora")
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("UNSET", raising=False)
    assert absolute_path(text, FOLDER) == expected


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSET", raising=False)
    with pytest.raises(ConfigurationError, match=r"needs the environment variable UNSET, which is not set: set it"):
        absolute_path("${UNSET}/train.en", FOLDER)


class Settings(msgspec.Struct):
    name: str


def test_a_byte_order_mark_is_ignored_and_utf_16_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes('\ufeffname = "a"\n'.encode())
    assert read_toml(path, Settings) == Settings("a")
    path.write_bytes('name = "a"\n'.encode("utf-16"))
    with pytest.raises(ConfigurationError, match=r"a\.toml is in UTF-16: convert it to UTF-8"):
        read_toml(path, Settings)
