"""Notes of exports say which pieces CTranslate2 may generate although the model never does."""

import json
from pathlib import Path

import pytest

from pocketmt.engine.bundled import resolve_model
from pocketmt.interop.ctranslate2.folder import pieces_of
from pocketmt.interop.ctranslate2.writing import write_model
from pocketmt.model_file import open_model
from pocketmt.packing.foreign import foreign_model_of
from tests.interop.bergamot.students import random_student


def test_special_pieces_of_our_models_are_named(tmp_path: Path) -> None:
    with open_model(resolve_model("captions-en-de-8bit")) as file:
        notes = write_model(foreign_model_of(file), tmp_path)
    assert any('disable_unk=True and suppress_sequences=[["<pad>"], ["<s>"]]' in note for note in notes)


@pytest.mark.parametrize(
    ("special", "banned", "shown"),
    [(True, 0, 0), (False, 0, None), (False, 2, 2), (True, 4, 4), (True, 7, 4)],
)
def test_options_are_named_where_they_are_needed(tmp_path: Path, special: bool, banned: int, shown: int | None) -> None:
    ids = tuple(range(5, 5 + banned))
    changes = {"decoder_autoregression": "self_attention", "ban_special_pieces": special, "banned_ids": ids}
    model = random_student(1, **changes)
    notes = [note for note in write_model(model, tmp_path) if "may generate" in note]
    assert len(notes) == (shown is not None)
    for note in notes:
        assert ("disable_unk=True" in note) == special
        pieces = [[pieces_of(model.vocabularies.source)[id]] for id in ids[:shown]]
        listed = json.dumps(pieces, ensure_ascii=False).removesuffix("]")
        assert (f"suppress_sequences={listed}" in note) == bool(shown)
        assert note.endswith(", and 3 more]") == (banned == 7)
