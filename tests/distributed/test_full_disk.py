"""A worker whose disk is full names the file that it could not write."""

import errno
import tempfile
from pathlib import Path

import pytest

from pocketmt.cli.bulk_translation import TranslationWork
from pocketmt.cli.search import SearchChoices
from pocketmt.distillation.teachers_on_cluster import TeacherWork
from pocketmt.distributed.blocks import Work
from pocketmt.engine.bundled import resolve_model

SEARCH = SearchChoices({"beam_size": 1}, 1, scores=False, alignment=False, as_json=False, token_scores=False)


@pytest.mark.parametrize("kind", ["translation", "teacher"])
def test_the_file_of_the_model_is_named_and_not_left(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    model = resolve_model("captions-en-de").read_bytes()
    works: dict[str, Work] = {
        "translation": TranslationWork([model], SEARCH, {}, check=False),
        "teacher": TeacherWork(("captions-en-de",), model, 1, 1, "cpu", None),
    }
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    with pytest.raises(OSError, match="No space left on device") as raised:
        works[kind].start(1)
    assert raised.value.errno == errno.ENOSPC
    assert Path(raised.value.filename).parent.parent == small_disk
    assert Path(raised.value.filename).suffix == ".pocketmt"
    assert list(small_disk.iterdir()) == []
