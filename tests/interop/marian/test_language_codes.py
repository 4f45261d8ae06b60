"""Multilingual models of Marian keep the language codes of their tables, which sources begin with."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import transformers

from pocketmt.engine.languages import ModelLanguages
from pocketmt.errors import ConfigurationError
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.formats import FORMATS, read_foreign
from pocketmt.interop.importing import import_model
from pocketmt.model_file import open_model
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from tests.interop.bergamot.students import random_student, vocabulary
from tests.interop.models import marian_architecture, random_model
from tests.interop.toy_text import SOURCE_LINES, TARGET_LINES, pieces_of, sentencepiece_model


def write_multilingual(folder: Path, codes: tuple[str, ...] = (">>deu<<", ">>fra<<")) -> ForeignModel:
    """Write a model with one table for the two SentencePiece models, as OPUS-MT's."""
    models = (sentencepiece_model(SOURCE_LINES, 60), sentencepiece_model(TARGET_LINES, 50))
    pieces = dict.fromkeys(piece for model in models for piece in pieces_of(model))
    table = (*pieces, *codes, "<pad>")
    vocabularies = StoredVocabularies(*(StoredVocabulary(model, table, "none") for model in models))
    sizes = {"vocabulary_size": len(table), "source_vocabulary_size": 0, "embeddings": "shared", "unk_id": 1}
    model = random_model(marian_architecture(vocabularies, **sizes), vocabularies)
    write_folder(model, FORMATS["marian"], folder)
    return model


def test_codes_are_languages_and_get_their_ids(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    write_multilingual(folder)
    import_model(folder, tmp_path / "model.pocketmt", target_language="fra")
    with open_model(tmp_path / "model.pocketmt") as file:
        vocabularies = file.vocabularies()
        assert file.language_pieces == LanguagePieces({"deu": ">>deu<<", "fra": ">>fra<<"}, "source")
        assert file.target_language == "fra"
        chosen = ModelLanguages((file.source_language, "fra"), file.language_pieces, vocabularies).choose(None, None)
    source = vocabularies.source
    table = {piece: id for id, piece in enumerate(source.pieces(range(len(source))))}
    (folder / "vocab.json").write_text(json.dumps(table))
    tokenizer: Any = transformers.MarianTokenizer(
        str(folder / "source.spm"), str(folder / "target.spm"), str(folder / "vocab.json")
    )
    for line in ("the man rides a bike", "two dogs want bread"):
        expected = tokenizer(f">>fra<< {line}").input_ids
        assert [*source.encode(f">>fra<< {line}"), source.ids.eos] == expected
        assert [*chosen.prefix(None), *source.encode(line), source.ids.eos] == expected
    with pytest.raises(ConfigurationError, match="the target language is 'ita'"):
        import_model(folder, tmp_path / "other.pocketmt", target_language="ita")


@pytest.mark.parametrize("format", ["marian", "bergamot"])
def test_codes_of_a_sentencepiece_model_are_noted(tmp_path: Path, format: str) -> None:
    plain = random_student(1)
    noted = []
    for number, symbols in enumerate((">>deu<<,>>fra<<", "<other>")):
        trained = vocabulary(user_defined_symbols=symbols)
        model = replace(plain, vocabularies=StoredVocabularies(StoredVocabulary(trained, normalization="none")))
        write_folder(model, FORMATS[format], tmp_path / f"folder{number}")
        notes = read_foreign(tmp_path / f"folder{number}").notes
        noted.append([note for note in notes if "codes of languages" in note])
    assert noted[0] == [
        "the vocabulary has codes of languages: begin each sentence with one, such as >>deu<<, because "
        "--target-language does not choose it"
    ]
    assert noted[1] == []


def test_a_table_without_codes_has_no_languages(tmp_path: Path) -> None:
    model = write_multilingual(tmp_path / "folder", codes=())
    found = read_foreign(tmp_path / "folder")
    assert found.metadata.language_pieces is None
    assert found.vocabularies == model.vocabularies
