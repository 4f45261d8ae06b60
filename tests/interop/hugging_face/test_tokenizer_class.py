"""The class of a tokenizer decides where pieces of languages are placed; unknown classes are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pocketmt.engine.languages import ModelLanguages
from pocketmt.errors import InteropError
from pocketmt.interop.formats import read_foreign
from pocketmt.interop.importing import import_model
from pocketmt.model_file import open_model
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.packing.reference.network import load_reference

from .folders import write_m2m100, write_marian, write_nllb

EOS = 2


def name_class(folder: Path, file: str, name: object) -> None:
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tokenizer_class": name}))


def named(folder: Path) -> None:
    name_class(folder, "tokenizer_config.json", "SMALL100Tokenizer")


def with_code(folder: Path) -> None:
    (folder / "tokenization_small100.py").write_text("class SMALL100Tokenizer: ...")


@pytest.mark.parametrize("mark", [named, with_code])
def test_sources_of_small100_begin_with_the_target_language(tmp_path: Path, mark: Callable[[Path], None]) -> None:
    model, languages = write_m2m100(tmp_path / "folder")
    mark(tmp_path / "folder")
    import_model(tmp_path / "folder", tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        vocabularies = file.vocabularies()
        assert file.language_pieces == LanguagePieces({"en": "__en__", "de": "__de__"}, "source")
        chosen = ModelLanguages(("", ""), file.language_pieces, vocabularies).choose(None, "de")
    assert chosen.forced is None
    network = load_reference(tmp_path / "model.pocketmt")
    for line in ("the man rides a bike", "two dogs want bread"):
        text = vocabularies.source.encode(line)
        found_ids = [*chosen.prefix(None), *text, vocabularies.source.ids.eos]
        # As SMALL100Tokenizer does with tgt_lang="de": prefix_tokens are [de], suffix_tokens are [eos].
        ids = [languages["de"], *text, EOS]
        assert found_ids == ids
        # Its labels have no language, and the decoder starts with eos.
        given = torch.tensor([[EOS, 9, 15, 12, 8]])
        with torch.no_grad():
            expected = model(input_ids=torch.tensor([ids]), decoder_input_ids=given).logits
            found = network.logits(network(torch.tensor([found_ids]), given))
        assert float((expected - found).abs().max()) < 1e-4


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_marian, None),
        (write_marian, "MarianTokenizer"),
        (write_m2m100, None),
        (write_m2m100, "M2M100TokenizerFast"),
        (write_nllb, "NllbTokenizerFast"),
    ],
)
@pytest.mark.parametrize("file", ["tokenizer_config.json", "config.json"])
def test_known_classes_are_taken(tmp_path: Path, write: Any, name: object, file: str) -> None:
    write(tmp_path / "folder")
    name_class(tmp_path / "folder", "tokenizer_config.json", None)
    name_class(tmp_path / "folder", file, name)
    read_foreign(tmp_path / "folder")


@pytest.mark.parametrize(
    ("write", "name", "known"),
    [
        (write_marian, "T5Tokenizer", "MarianTokenizer for"),
        (write_marian, "SMALL100Tokenizer", "MarianTokenizer for"),
        (write_m2m100, "PreTrainedTokenizerFast", "M2M100Tokenizer, NllbTokenizer, SMALL100Tokenizer for"),
        (write_m2m100, ["M2M100Tokenizer"], "M2M100Tokenizer, NllbTokenizer, SMALL100Tokenizer for"),
    ],
)
@pytest.mark.parametrize("file", ["tokenizer_config.json", "config.json"])
def test_other_classes_are_refused(tmp_path: Path, write: Any, name: object, known: str, file: str) -> None:
    write(tmp_path / "folder")
    name_class(tmp_path / "folder", "tokenizer_config.json", None)
    name_class(tmp_path / "folder", file, name)
    with pytest.raises(InteropError, match=rf"{file}: tokenizer_class is .*, but PocketMT only has {known}"):
        read_foreign(tmp_path / "folder")


def test_the_old_order_of_nllb_is_refused(tmp_path: Path) -> None:
    write_nllb(tmp_path / "folder")
    path = tmp_path / "folder" / "tokenizer_config.json"
    configuration = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps({**configuration, "legacy_behaviour": False}))
    read_foreign(tmp_path / "folder")
    path.write_text(json.dumps({**configuration, "legacy_behaviour": True}))
    with pytest.raises(InteropError, match=r"tokenizer_config\.json: legacy_behaviour is true"):
        read_foreign(tmp_path / "folder")
