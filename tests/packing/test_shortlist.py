"""Shortlists of model files: nothing but the shortlist changes."""

from pathlib import Path

import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.packing.shortlist import add_shortlist, held_shortlist
from tests.model_file import sample

PIECES = sample.ARCHITECTURE.vocabulary_size
FIRST = Shortlist([4, 7], [[5]] * PIECES)
SECOND = Shortlist([8], [[]] * PIECES)


def test_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    plain, first, second = (tmp_path / f"{name}.pocketmt" for name in ("plain", "first", "second"))
    sample.write_sample(plain)
    assert add_shortlist(plain, FIRST, first) == first.stat().st_size
    add_shortlist(first, SECOND, second)
    with open_model(plain) as before, open_model(second) as after:
        assert {**after.manifest, "shortlist": None} == {**before.manifest, "shortlist": None}
        assert after.tensors.keys() - before.tensors.keys() == {"shortlist"}
        for name in before.tensors:
            assert after.data(name) == before.data(name)
        assert after.vocabulary() == before.vocabulary()
    assert held_shortlist(second) == SECOND
    assert held_shortlist(first) == FIRST


def test_a_file_may_be_replaced_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "plain.pocketmt"
    sample.write_sample(path)
    add_shortlist(path, FIRST, path)
    add_shortlist(path, SECOND, path)
    assert held_shortlist(path) == SECOND


def test_a_list_of_another_vocabulary_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.pocketmt"
    content = sample.write_sample(path)
    with pytest.raises(ModelFileError, match=f"its vocabulary has {PIECES} pieces, the shortlist is for 12"):
        add_shortlist(path, Shortlist([4], [[]] * 12), path)
    assert path.read_bytes() == content
