"""Tokens that were added to a tokenizer are found in text, as transformers finds them."""

import json
from pathlib import Path
from typing import Any

import pytest

from pocketmt.errors import InteropError
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS, read_foreign
from pocketmt.interop.importing import import_model
from pocketmt.model_file import open_model
from tests.interop.models import same

from .folders import tokenizer_of, write_m2m100, write_marian, write_nllb
from .test_marian import compare

LINES = ["the <ent> rides a bike", ">>fra<< the SKU of the red house <ent>", "a<ent>bSKU", "<mask> SKU", "the man"]
SPECIAL = [">>fra<<", "<ent>"]
FORMS = ("tokenizer_config.json", "added_tokens.json")


def add_tokens(folder: Path, model: Any, form: str, special: list[str]) -> Any:
    """Add special tokens, and SKU as one that is not special, with rows of the embedding; returns the tokenizer."""
    tokenizer = tokenizer_of(folder)
    assert tokenizer.add_tokens(special, special_tokens=True) == len(special)
    assert tokenizer.add_tokens(["SKU"]) == 1
    tokenizer.save_pretrained(folder)
    if model.config.vocab_size < len(tokenizer):
        model.resize_token_embeddings(len(tokenizer))
        model.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    if form == "added_tokens.json":
        # As transformers wrote it before version 4.34.
        assert json.loads((folder / form).read_text())["SKU"] == tokenizer.convert_tokens_to_ids("SKU")
        del settings["added_tokens_decoder"]
        path.write_text(json.dumps(settings))
    else:
        (folder / "added_tokens.json").unlink()
        assert settings["added_tokens_decoder"]
    return tokenizer_of(folder)


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_ids_and_text_of_marian_are_those_of_transformers(tmp_path: Path, form: str, separate: bool) -> None:
    folder = tmp_path / "folder"
    model = write_marian(folder, separate=separate, tie_word_embeddings=not separate)
    tokenizer = add_tokens(folder, model, form, SPECIAL)
    import_model(folder, tmp_path / "model.pocketmt", target_language="fra")
    assert compare(folder, tmp_path / "model.pocketmt", model, LINES) < 1e-4
    with open_model(tmp_path / "model.pocketmt") as file:
        target = file.vocabularies().target
    # The target of two vocabularies has no rows for them.
    added = [] if separate else tokenizer.convert_tokens_to_ids(["SKU", "<ent>"])
    ids = [*target.encode("der Mann"), *added, *target.encode("ein Rad")]
    assert target.decode(ids) == tokenizer.decode(ids, skip_special_tokens=True)


@pytest.mark.parametrize("form", FORMS)
def test_ids_and_text_of_m2m100_are_those_of_transformers(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "folder"
    model, languages = write_m2m100(folder)
    tokenizer = add_tokens(folder, model, form, ["<ent>", "__fr__"])
    import_model(folder, tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        vocabularies, pieces = file.vocabularies(), file.language_pieces
    assert pieces is not None
    assert list(pieces.target) == [*languages, "fr"]
    assert vocabularies.source.id("__fr__") == tokenizer.convert_tokens_to_ids("__fr__")
    for line in LINES:
        ids = tokenizer(line).input_ids[1:-1]
        assert vocabularies.source.encode(line) == ids
        assert vocabularies.target.decode(ids) == tokenizer.decode(ids, skip_special_tokens=True)


def test_nllb_has_languages_from_a_list_and_others_with_ids(tmp_path: Path) -> None:
    _, languages = write_nllb(tmp_path / "folder")
    folder = tmp_path / "folder"
    mask = max(languages.values()) + 1
    (folder / "added_tokens.json").write_text(json.dumps({"<mask>": mask, "tyv_Cyrl": mask + 1}))
    (folder / "special_tokens_map.json").write_text(
        json.dumps({"mask_token": "<mask>", "additional_special_tokens": [*languages, "tyv_Cyrl"]})
    )
    vocabularies = read_foreign(folder).vocabularies
    assert vocabularies.target is None
    assert vocabularies.source.pieces is not None
    assert vocabularies.source.pieces[min(languages.values()) :][:4] == (*languages, "<mask>", "tyv_Cyrl")
    assert {"<mask>", "tyv_Cyrl"} <= {*vocabularies.source.verbatim}


def test_a_written_folder_has_the_added_tokens(tmp_path: Path) -> None:
    add_tokens(tmp_path / "given", write_marian(tmp_path / "given"), FORMS[0], SPECIAL)
    given = read_foreign(tmp_path / "given")
    write_folder(given, FORMATS["hugging-face"], tmp_path / "written")
    assert same(given, read_foreign(tmp_path / "written"))
    first, second = (tokenizer_of(tmp_path / name) for name in ("given", "written"))
    for line in LINES:
        assert first(line).input_ids == second(line).input_ids


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ({"content": "▁red"}, "the id of '▁red' is 3, which another piece has"),
        ({"content": "</s>"}, "the id of '</s>' is 3, which another piece has"),
        ({"content": "a\0b"}, r"id 3 has the piece 'a\\x00b', which no text has"),
        ({"content": "SKU", "single_word": True}, "'SKU' is found only as a whole word"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(tmp_path: Path, token: dict[str, Any], message: str) -> None:
    write_marian(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"3": token}}))
    with pytest.raises(InteropError, match=message):
        read_foreign(tmp_path)


def test_a_token_without_a_row_is_left_out(tmp_path: Path) -> None:
    model = write_marian(tmp_path)
    given = read_foreign(tmp_path).vocabularies
    tokens = {str(model.config.vocab_size): {"content": "<s>", "special": True}, "?": {"content": "x"}, "4": "text"}
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"added_tokens_decoder": tokens}))
    assert read_foreign(tmp_path).vocabularies == given
