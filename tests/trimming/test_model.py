"""Trimmed networks give the logits of the whole ones, for the pieces that stay."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pytest

from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodedRows, CodesTensor, of_array
from pocketmt.interop.importing import write_foreign
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.trimming.loss import measure_segmentation
from pocketmt.trimming.model import trim_model, trimming_to
from pocketmt.trimming.sentencepiece_model import parse_model
from tests.engine.reference import architecture, random_network
from tests.foreign_vocabularies import ids_in, joint, pieces_of, sentencepiece_model, separate
from tests.parallel_text import parallel_text

ENGLISH, GERMAN = parallel_text()
SEEN, UNSEEN = slice(0, 40), slice(40, 120)
CODES = ("__de__", "__en__", "__cs__")
UNIT = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>{}</seg></tuv></tu>'


def model(shape: Architecture, stored: StoredVocabularies, **metadata: Any) -> ForeignModel:
    network = random_network(shape, seed=3)
    tensors = {name: of_array(weight.numpy()) for name, weight in network.state_dict().items()}
    return ForeignModel(architecture=shape, tensors=tensors, vocabularies=stored, metadata=ModelMetadata(**metadata))


def joint_model(**changes: Any) -> ForeignModel:
    table = joint().source.pieces
    assert table is not None
    ids = ids_in(table)
    special = {"pad_id": ids.pad, "bos_id": None, "eos_id": ids.eos, "unk_id": ids.unk}
    shape = architecture(
        vocabulary_size=len(table), vocabularies="separate", first_decoder_input="pad", **special, **changes
    )
    return model(shape, joint(), source_language="en", target_language="de")


def separate_model() -> ForeignModel:
    shape = architecture(
        **{"vocabulary_size": 500, "source_vocabulary_size": 450, "embeddings": "separate", "vocabularies": "separate"},
        **{"pad_id": None, "bos_id": None, "eos_id": 0, "unk_id": 1, "first_decoder_input": "zero"},
        output_bias=True,
    )
    return model(shape, separate(), source_language="en", target_language="de")


def multilingual_model(kind: str) -> ForeignModel:
    spm = sentencepiece_model(ENGLISH + GERMAN, 500, kind)
    special = ("<s>", "<pad>", "</s>", "<unk>")
    table = (*special, *pieces_of(spm), *CODES)
    stored = StoredVocabularies(StoredVocabulary(spm, table, "none", (*special, *CODES)))
    shape = architecture(vocabulary_size=len(table), bos_id=0, pad_id=1, eos_id=2, unk_id=3, first_decoder_input="eos")
    pieces = {code.strip("_"): code for code in CODES}
    return model(shape, stored, language_pieces=LanguagePieces(pieces, "translation", pieces))


MODELS = {"joint": joint_model, "separate": separate_model}


@pytest.mark.parametrize("case", MODELS)
def test_logits_of_the_pieces_that_stay_are_the_same(tmp_path: Path, case: str) -> None:
    whole = MODELS[case]()
    trimmed, report = trim_model(whole, [*ENGLISH[SEEN], *GERMAN[SEEN]])
    assert report.target_pieces[1] < report.target_pieces[0]
    assert report.parameters[1] < report.parameters[0]
    translators = []
    for name, each in (("whole", whole), ("trimmed", trimmed)):
        write_foreign(each, tmp_path / name)
        translators.append(Translator(tmp_path / name))
    before, after = translators
    old = load_checked(whole.vocabularies, whole.architecture).target
    new = load_checked(trimmed.vocabularies, trimmed.architecture).target
    places = [old.pieces(range(len(old))).index(piece) for piece in new.pieces(range(len(new)))]
    for source, target in zip(ENGLISH[SEEN][:5], GERMAN[SEEN][:5], strict=True):
        assert before.tokenizer.encode_as_pieces(source) == after.tokenizer.encode_as_pieces(source)
        expected = np.array(before.logits(before.encode(source), before.target_tokenizer.encode(target)))
        found = np.array(after.logits(after.encode(source), after.target_tokenizer.encode(target)))
        np.testing.assert_allclose(found, expected[:, places], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_languages_that_are_not_kept_are_cut(tmp_path: Path, kind: str) -> None:
    whole = multilingual_model(kind)
    trimmed, _ = trim_model(whole, [*ENGLISH[SEEN], *GERMAN[SEEN], "__cs__"], ["de", "en"])
    pieces = trimmed.metadata.language_pieces
    assert pieces is not None and [*pieces.target] == ["de", "en"] and [*pieces.source] == ["de", "en"]
    table = trimmed.vocabularies.source.pieces
    assert table is not None and "__cs__" not in table and {"__de__", "__en__", "</s>"} <= set(table)
    write_foreign(trimmed, tmp_path / "trimmed")
    write_foreign(whole, tmp_path / "whole")
    options: dict[str, Any] = {"source_language": "en", "target_language": "de", "check": False}
    found = Translator(tmp_path / "trimmed").translate(ENGLISH[SEEN], **options)
    assert len(found) == len(ENGLISH[SEEN])
    ids = trimmed.architecture.special_ids
    assert [table[id] for id in ids if id is not None] == ["<pad>", "<s>", "</s>", "<unk>"]


def test_one_language_that_stays_is_the_default() -> None:
    trimmed, _ = trim_model(multilingual_model("bpe"), ENGLISH[SEEN], ["en"])
    assert (trimmed.metadata.source_language, trimmed.metadata.target_language) == ("en", "en")


@pytest.mark.parametrize("german", ["deu", "de", "deu_Latn"])
def test_codes_may_leave_out_the_script(german: str) -> None:
    whole = multilingual_model("unigram")
    pieces = LanguagePieces({"deu_Latn": "__de__", "eng_Latn": "__en__"}, "translation", {"eng_Latn": "__en__"})
    metadata = dataclasses.replace(whole.metadata, language_pieces=pieces)
    trimmed, _ = trim_model(dataclasses.replace(whole, metadata=metadata), ENGLISH[SEEN], [german, "eng_Latn"])
    assert trimmed.metadata.language_pieces == pieces


@pytest.mark.parametrize(
    ("languages", "reason"),
    [(["fr"], "no language 'fr'; it has de, en, cs")],
)
def test_languages_that_the_model_lacks(languages: list[str], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        trim_model(multilingual_model("unigram"), ENGLISH[SEEN], languages)


def test_a_model_of_one_language_has_none_to_keep() -> None:
    with pytest.raises(ConfigurationError, match="no language 'de'"):
        trim_model(joint_model(), ENGLISH[SEEN], ["de"])


@pytest.mark.parametrize("suffix", ["tsv", "jsonl", "tmx"])
def test_both_sides_of_a_parallel_format_are_read(tmp_path: Path, suffix: str) -> None:
    pairs = list(zip(ENGLISH[SEEN], GERMAN[SEEN], strict=True))
    content = {
        "tsv": "".join(f"{source}\t{target}\n" for source, target in pairs),
        "jsonl": "".join(json.dumps({"en": source, "de": target}) + "\n" for source, target in pairs),
        "tmx": f"<tmx>{''.join(UNIT.format(escape(source), escape(target)) for source, target in pairs)}</tmx>",
    }[suffix]
    (tmp_path / f"pairs.{suffix}").write_text(content, encoding="utf-8")
    trimmed = trimming_to([tmp_path / f"pairs.{suffix}"], [])(joint_model())
    expected, _ = trim_model(joint_model(), [*ENGLISH[SEEN], *GERMAN[SEEN]])
    assert trimmed.vocabularies == expected.vocabularies


def test_text_without_pieces_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="the text has no pieces"):
        trim_model(joint_model(), ["", " "])


@pytest.mark.parametrize("make", [joint_model, separate_model], ids=["unknown pieces", "bytes"])
def test_text_of_other_languages_is_refused(make: Callable[[], ForeignModel]) -> None:
    with pytest.raises(ConfigurationError, match="the text has no pieces of the source vocabulary"):
        trim_model(make(), ["你好 世界", "我去公園。"])
    mixed, _ = trim_model(make(), [*GERMAN[:1], *["今天很好，我去公園。"] * 40])
    assert re.search(r"^8\d % of the characters of the text are unknown to the vocabulary", mixed.notes[-1])
    plain, _ = trim_model(make(), [*ENGLISH[SEEN], *GERMAN[SEEN], "今天很好"])
    assert "unknown" not in plain.notes[-1]


def test_text_of_one_side_alone_is_refused() -> None:
    chinese = sentencepiece_model(("今天很好。", "我去公園。") * 9, 40)
    german = sentencepiece_model(GERMAN, 300)
    sizes = [len(pieces_of(each)) + 2 for each in (german, chinese)]
    shape = architecture(
        **{"vocabulary_size": sizes[1], "source_vocabulary_size": sizes[0], "embeddings": "separate"},
        **{"vocabularies": "separate", "pad_id": None, "bos_id": None, "eos_id": 0, "unk_id": 1},
        first_decoder_input="zero",
    )
    sides = (StoredVocabulary(each, normalization="none") for each in (german, chinese))
    whole = model(shape, StoredVocabularies(*sides))
    with pytest.raises(ConfigurationError, match="no pieces of the target vocabulary"):
        trim_model(whole, ["ein Hund"])
    trimmed, _ = trim_model(whole, ["ein Hund", "今天很好。", "我去"])
    assert "unknown" not in trimmed.notes[-1], "each line counts for the side that knows it"


def test_the_loss_on_other_text_is_measured() -> None:
    whole = joint_model()
    trimmed, _ = trim_model(whole, [*ENGLISH[SEEN], *GERMAN[SEEN]])
    before = load_checked(whole.vocabularies, whole.architecture).source
    after = load_checked(trimmed.vocabularies, trimmed.architecture).source
    seen = measure_segmentation(before, after, ENGLISH[SEEN], split=True)
    assert (seen.changed_lines, seen.lost_pieces, seen.unknown_pieces) == (0, 0, (0, 0))
    unseen = measure_segmentation(before, after, ENGLISH[UNSEEN], split=True)
    assert 0 < unseen.changed_lines < unseen.lines
    assert 0 < unseen.lost_pieces < unseen.pieces
    for line in ENGLISH[UNSEEN]:
        pieces = after.encode_as_pieces(line)
        assert all(after.id(piece) is not None for piece in pieces) or after.ids.unk in after.encode(line)


def test_the_pieces_that_sentences_without_spaces_begin_with_stay() -> None:
    spoken = ("今天很好。", "我去公園。", "天気がいい！")
    table = sentencepiece_model(spoken * 9, 60, "bpe", bos_id=2, pad_id=3)
    shape = architecture(vocabulary_size=len(pieces_of(table)) + 4, pad_id=3, bos_id=2, eos_id=0, unk_id=1)
    whole = model(shape, StoredVocabularies(StoredVocabulary(table)))
    before = load_checked(whole.vocabularies, shape).source
    alone = {before.encode_as_pieces(text)[0] for text in spoken[1:]}
    assert not alone & set(before.encode_as_pieces("".join(spoken)))
    trimmed, _ = trim_model(whole, ["".join(spoken)])
    after = load_checked(trimmed.vocabularies, trimmed.architecture).source
    assert [after.encode_as_pieces(text) for text in spoken] == [before.encode_as_pieces(text) for text in spoken]
    smaller = Vocabulary(
        StoredVocabulary(parse_model(table).restricted(set(before.pieces(range(len(before)))) - alone).serialized()),
        before.ids,
    )
    lines = ["".join(spoken)]
    losses = [measure_segmentation(before, smaller, lines, split=split).changed_lines for split in (False, True)]
    assert losses == [0, 1], "the loss is seen only where the engine divides the text"


def test_text_after_a_piece_that_is_divided_into_bytes_is_where_it_was() -> None:
    model = sentencepiece_model(GERMAN, 500, byte_fallback=True)
    parsed = parse_model(model)
    without = parsed.restricted({piece.text for piece in parsed.pieces if "ü" not in piece.text}).serialized()
    whole, trimmed = (
        Vocabulary(StoredVocabulary(each, normalization="none"), SpecialIds(None, None, 0, 1))
        for each in (model, without)
    )
    assert "<0xC3>" in trimmed.encode_as_pieces("grün")
    alone, followed = (
        measure_segmentation(whole, trimmed, [line], split=True) for line in ("grün", f"grün {GERMAN[0]}")
    )
    assert 0 < alone.lost_pieces == followed.lost_pieces


def test_a_shortlist_keeps_the_pieces_that_stay() -> None:
    whole = separate_model()
    sides = listed_sides(whole.architecture)
    old = load_checked(whole.vocabularies, whole.architecture)
    frequent = sorted(set(old.target.encode(GERMAN[0]) + old.target.encode(GERMAN[100])))
    targets = [sorted(set(old.target.encode(GERMAN[id % 100]))) for id in range(sides.source_size)]
    shortlist = Shortlist(frequent, targets, sides)
    trimmed, _ = trim_model(dataclasses.replace(whole, shortlist=shortlist), [*ENGLISH[SEEN], *GERMAN[SEEN]])
    new = load_checked(trimmed.vocabularies, trimmed.architecture)
    assert trimmed.shortlist is not None and trimmed.shortlist.sides == listed_sides(trimmed.architecture)
    before = old.target.pieces(shortlist.pieces(old.source.encode(ENGLISH[0])))
    after = new.target.pieces(trimmed.shortlist.pieces(new.source.encode(ENGLISH[0])))
    assert sorted(after) == sorted(set(before) & set(new.target.pieces(range(len(new.target)))))


def test_rows_of_codes_are_cut_as_codes() -> None:
    whole = joint_model()
    rows, columns = whole.tensors["embedding.weight"].shape
    codes = np.random.default_rng(1).integers(-127, 128, (rows, columns)).astype(np.int8)
    scales = np.linspace(1, 2, rows, dtype=np.float32)
    groups = (
        CodedRows(100, scales[:100], lambda: codes[:100]),
        CodedRows(rows - 100, np.array([3.0], np.float32), lambda: codes[100:]),
    )
    coded = CodesTensor((rows, columns), groups)
    tensors = {**whole.tensors, "embedding.weight": coded}
    trimmed, _ = trim_model(dataclasses.replace(whole, tensors=tensors), ENGLISH[SEEN])
    found = trimmed.tensors["embedding.weight"]
    table, new = whole.vocabularies.source.pieces, trimmed.vocabularies.source.pieces
    assert isinstance(found, CodesTensor) and table is not None and new is not None
    places = [table.index(piece) for piece in new]
    expected = np.concatenate([codes[:100] * scales[:100, None], codes[100:] * np.float32(3)])[places]
    np.testing.assert_array_equal(found.read(), expected)
