"""Imported M2M100 and NLLB models compute what transformers computes, from the same text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
import transformers

from pocketmt.errors import InteropError
from pocketmt.interop.formats import read_foreign
from pocketmt.interop.importing import import_model
from pocketmt.model_file import open_model
from pocketmt.packing.reference.network import load_reference

from .folders import SPECIAL, write_m2m100, write_nllb

LINES = ["the man rides a bike", "two dogs want bread, the red one!", "", "das rote Haus — ein Rad"]
WRITERS = {"NLLB": write_nllb, "M2M100": write_m2m100}


@pytest.mark.parametrize("kind", WRITERS)
def test_logits_are_those_of_transformers(tmp_path: Path, kind: str) -> None:
    model, languages = WRITERS[kind](tmp_path / "folder")
    import_model(tmp_path / "folder", tmp_path / "model.pocketmt")
    network = load_reference(tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        vocabulary = file.vocabularies().source
        pieces = file.language_pieces
    assert pieces is not None
    assert pieces.target_place == "translation"
    assert {code: vocabulary.id(piece) for code, piece in pieces.target.items()} == languages
    assert pieces.source == pieces.target
    source, target = languages.values()
    for line in LINES:
        ids = torch.tensor([[source, *vocabulary.encode(line), 2]])
        given = torch.tensor([[2, target, 9, 15, 12, 8]])
        with torch.no_grad():
            expected = model(input_ids=ids, decoder_input_ids=given).logits
            found = network.logits(network(ids, given))
        assert float((expected - found).abs().max()) < 1e-4


@pytest.mark.parametrize("key", ["decoder_start_token_id", "eos_token_id"])
@pytest.mark.parametrize("kind", WRITERS)
def test_padding_inside_a_sequence_is_refused(tmp_path: Path, kind: str, key: str) -> None:
    model, languages = WRITERS[kind](tmp_path / "folder")
    # transformers gives padding no position, and the pieces after it lower ones.
    given = torch.tensor([[SPECIAL["<pad>"], *languages.values()]])
    embedding = model.model.decoder.embed_positions
    assert torch.equal(embedding(given)[0, 1:], embedding(given[:, 1:])[0])
    for file in ("config.json", "generation_config.json"):
        path = tmp_path / "folder" / file
        path.write_text(json.dumps(json.loads(path.read_text()) | {key: SPECIAL["<pad>"]}))
    with pytest.raises(InteropError, match=f"{key} is 1, but PocketMT only has M2M100 and NLLB models where it is not"):
        read_foreign(tmp_path / "folder")


@pytest.mark.parametrize("kind", WRITERS)
def test_padding_is_not_found_in_text(tmp_path: Path, kind: str) -> None:
    WRITERS[kind](tmp_path / "folder")
    import_model(tmp_path / "folder", tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        vocabulary = file.vocabularies().source
    assert SPECIAL["<pad>"] not in vocabulary.encode("the <pad> man")
    assert SPECIAL["</s>"] in vocabulary.encode("the </s> man")
    assert vocabulary.decode([*vocabulary.encode("the man"), SPECIAL["<pad>"]]) == "the man"


@pytest.mark.parametrize("kind", WRITERS)
def test_a_forced_first_piece_is_the_target_language(tmp_path: Path, kind: str) -> None:
    _, languages = WRITERS[kind](tmp_path / "folder")
    path = tmp_path / "folder" / "generation_config.json"
    said = json.loads(path.read_text())
    for code, id in languages.items():
        path.write_text(json.dumps(said | {"forced_bos_token_id": id}))
        assert read_foreign(tmp_path / "folder").metadata.target_language == code
    for id in (SPECIAL["</s>"], -1, 10**6):
        path.write_text(json.dumps(said | {"forced_bos_token_id": id}))
        with pytest.raises(InteropError, match=f"forced_bos_token_id is {id}, .*: delete the key"):
            read_foreign(tmp_path / "folder")


def test_a_piece_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    write_nllb(tmp_path / "folder")
    path = tmp_path / "folder" / "sentencepiece.bpe.model"
    content = path.read_bytes()
    path.write_bytes(content.replace("▁the".encode(), b"\xff\xfe\xfdthe", 1))
    assert path.read_bytes() != content
    with pytest.raises(InteropError, match=r"sentencepiece\.bpe\.model: has a piece that is not UTF-8"):
        read_foreign(tmp_path / "folder")


def test_ids_of_nllb_are_those_of_its_sentencepiece_model_plus_one(tmp_path: Path) -> None:
    write_nllb(tmp_path / "folder")
    import_model(tmp_path / "folder", tmp_path / "model.pocketmt")
    processor = sentencepiece.SentencePieceProcessor(str(tmp_path / "folder" / "sentencepiece.bpe.model"))
    with open_model(tmp_path / "model.pocketmt") as file:
        vocabulary = file.vocabularies().source
    for line in LINES:
        expected = [id + 1 if id else SPECIAL["<unk>"] for id in processor.EncodeAsIds(line)]
        assert vocabulary.encode(line) == expected


def test_ids_of_m2m100_are_those_of_its_tokenizer(tmp_path: Path) -> None:
    write_m2m100(tmp_path / "folder")
    import_model(tmp_path / "folder", tmp_path / "model.pocketmt")
    tokenizer: Any = transformers.M2M100Tokenizer.from_pretrained(tmp_path / "folder")
    with open_model(tmp_path / "model.pocketmt") as file:
        vocabulary = file.vocabularies().source
    for line in LINES:
        assert vocabulary.encode(line) == tokenizer(line).input_ids[1:-1]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("sentencepiece.bpe.model", None, "sentencepiece.bpe.model: cannot be read"),
        ("special_tokens_map.json", None, "lists the pieces of languages"),
        ("special_tokens_map.json", json.dumps({"additional_special_tokens": ["eng_Latn"] * 99}), "or none of"),
        ("vocab.json", json.dumps({"<s>": 0}), "<pad> is not piece 1"),
        ("vocab.json", json.dumps(SPECIAL | {"x": 3}), "two pieces have the same id"),
        ("vocab.json", json.dumps(SPECIAL | {"x": 1 << 20}), "the vocabulary of another model"),
    ],
)
def test_damaged_tokenizers_are_refused(tmp_path: Path, file: str, content: str | None, message: str) -> None:
    write: Callable[[Path], Any] = write_m2m100 if file == "vocab.json" else write_nllb
    write(tmp_path / "folder")
    path = tmp_path / "folder" / file
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(InteropError, match=message):
        read_foreign(tmp_path / "folder")
