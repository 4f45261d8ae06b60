"""Folders that CTranslate2 converted from Hugging Face translate as its own translator with the tokens it asks for."""

import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ctranslate2  # type: ignore[import-untyped]
import pytest
import torch
from ctranslate2.converters import TransformersConverter  # type: ignore[import-untyped]

from pocketmt.engine import Translator
from pocketmt.errors import InteropError
from pocketmt.interop.ctranslate2.reading import read_model
from pocketmt.interop.ctranslate2.text_rules import Decoder, FoundInText, found_rules
from pocketmt.interop.ctranslate2.writing import write_model
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.importing import import_model
from pocketmt.model_file.language_pieces import LanguagePieces
from tests.interop.bergamot.conftest import loaded
from tests.interop.hugging_face.folders import write_marian, write_nllb

LINES = ["the man rides a bike", "two dogs want bread, the red one!", "a house"]
LENGTH = 12
SEED = 3  # its random models translate each line differently
MARIAN = Decoder("</s>", True, "</s>")
MULTILINGUAL = Decoder("</s>", False, "</s>")
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
NLLB = {"eng_Latn": "eng_Latn", "deu_Latn": "deu_Latn"}
M2M100 = {"en": "__en__", "de": "__de__"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders as `ct2-transformers-converter` writes them."""
    root = tmp_path_factory.mktemp("converted")
    torch.manual_seed(SEED)
    write_marian(root / "marian")
    _, languages = write_nllb(root / "nllb")
    path = root / "nllb" / "tokenizer_config.json"
    added = {str(id): {"content": piece, "special": True} for piece, id in languages.items()}
    listed = {"added_tokens_decoder": added, "extra_special_tokens": list(languages)}
    path.write_text(json.dumps(json.loads(path.read_text()) | listed))
    files = {"marian": ["source.spm", "target.spm"], "nllb": ["sentencepiece.bpe.model"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # transformers recommends a package that it does not use.
        for name, copied in files.items():
            TransformersConverter(str(root / name), copy_files=copied).convert(str(root / f"{name}-ctranslate2"))
    return {name: root / f"{name}-ctranslate2" for name in files}


def changed(folder: Path, to: Path, renamed: dict[str, str], **configuration: object) -> Path:
    """A copy of a folder with other names of pieces, and other values in its configuration."""
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    pieces = json.loads((folder / "shared_vocabulary.json").read_text())
    (to / "shared_vocabulary.json").write_text(json.dumps([renamed.get(piece, piece) for piece in pieces]))
    values = json.loads((folder / "config.json").read_text())
    (to / "config.json").write_text(json.dumps(values | configuration))
    return to


def translated_by_peer(
    folder: Path, model: ForeignModel, before: Sequence[str], after: Sequence[str], prefix: Sequence[str] = ()
) -> list[str]:
    """Translations by CTranslate2 of lines between pieces, with a prefix that is left out."""
    peer = ctranslate2.Translator(str(folder), compute_type="float32", inter_threads=1, intra_threads=1)
    source = loaded(model.vocabularies.source.model)
    sources = [[*before, *source.encode_as_pieces(line), *after] for line in LINES]
    prefixes = [[*prefix]] * len(LINES) if prefix else None
    length = LENGTH + len(prefix)
    results = peer.translate_batch(sources, target_prefix=prefixes, beam_size=1, max_decoding_length=length)
    left_out = {*SPECIAL, *prefix}
    translations = [[piece for piece in result.hypotheses[0] if piece not in left_out] for result in results]
    return ["".join(pieces).replace("▁", " ").strip() for pieces in translations]


def imported(folder: Path, output: Path) -> Translator:
    import_model(folder, output)
    return Translator(output)


@pytest.mark.parametrize("code", [">>deu<<", None])
def test_marian_models(folders: dict[str, Path], tmp_path: Path, code: str | None) -> None:
    folder = folders["marian"] if code else changed(folders["marian"], tmp_path / "folder", {">>deu<<": "other"})
    model = read_model(folder)
    assert model.architecture.append_source_eos
    assert model.metadata.language_pieces == (LanguagePieces({"deu": ">>deu<<"}, "source") if code else None)
    assert model.notes == ()
    before = [code] if code else []
    expected = translated_by_peer(folder, model, before, ["</s>"])
    assert expected != translated_by_peer(folder, model, before, [])
    translator = imported(folder, tmp_path / "model.pocketmt")
    assert translator.translate(LINES, beam_size=1, max_length=LENGTH) == expected
    given = [f"{code} {line}" if code else line for line in LINES]
    assert translator.translate(given, beam_size=1, max_length=LENGTH) == expected


@pytest.mark.parametrize("languages", [NLLB, M2M100], ids=["NLLB", "M2M100"])
def test_multilingual_models(folders: dict[str, Path], tmp_path: Path, languages: dict[str, str]) -> None:
    renamed = dict(zip(NLLB.values(), languages.values(), strict=True))
    folder = changed(folders["nllb"], tmp_path / "folder", renamed)
    model = read_model(folder)
    assert model.architecture.append_source_eos
    assert model.metadata.language_pieces == LanguagePieces(languages, "translation", languages)
    # SMaLL-100 has the pieces of M2M100, in another place.
    assert ["SMaLL-100" in note for note in model.notes] == [True] * (languages is M2M100)
    source, target = languages
    pieces = languages[source], languages[target]
    expected = translated_by_peer(folder, model, [pieces[0]], ["</s>"], [pieces[1]])
    assert expected != translated_by_peer(folder, model, [], [])
    translator = imported(folder, tmp_path / "model.pocketmt")
    options: Any = {"source_language": source, "target_language": target, "beam_size": 1, "max_length": LENGTH}
    assert translator.translate(LINES, **options) == expected


def test_what_was_found_is_written_for_ctranslate2(folders: dict[str, Path], tmp_path: Path) -> None:
    for name, folder in folders.items():
        model = read_model(folder)
        (tmp_path / name).mkdir()
        write_model(model, tmp_path / name)
        again = read_model(tmp_path / name)
        assert (again.architecture, again.vocabularies) == (model.architecture, model.vocabularies)
        assert again.metadata == model.metadata


@pytest.mark.parametrize(
    ("start", "appended", "notes"),
    [("</s>", True, 1), ("<pad>", True, 1), ("<s>", False, 0)],
)
def test_the_end_of_a_source_without_languages(
    folders: dict[str, Path], tmp_path: Path, start: str, appended: bool, notes: int
) -> None:
    renamed = {piece: f"other{piece}" for piece in NLLB}
    model = read_model(changed(folders["nllb"], tmp_path / "folder", renamed, decoder_start_token=start))
    assert model.architecture.append_source_eos == appended
    assert model.metadata.language_pieces is None
    assert len(model.notes) == notes
    assert all(f"decoder_start_token is {start}, as in Hugging Face models: </s>" in note for note in model.notes)


@pytest.mark.parametrize("start", ["<s>", None])
def test_pieces_of_languages_at_an_unknown_place_are_refused(
    folders: dict[str, Path], tmp_path: Path, start: str | None
) -> None:
    folder = changed(folders["nllb"], tmp_path / "folder", {}, decoder_start_token=start)
    with pytest.raises(InteropError, match=f"'deu_Latn' of a language, but decoder_start_token is {start!r}"):
        read_model(folder)


def cases() -> Iterator[Any]:
    plain, codes = FoundInText(), FoundInText(language_codes=True)
    both = FoundInText((*SPECIAL, "__en__", "__zh_Hant__"))
    yield [], [], MARIAN, (plain, plain), None
    # Words of a Marian vocabulary are no languages.
    yield ["__en__"], ["__en__"], MARIAN, (plain, plain), None
    yield ["__name__", "a_B"], ["eng_Latns", "Eng_Latn"], MULTILINGUAL, (plain, plain), None
    german = LanguagePieces({"de": ">>de<<"}, "source")
    yield [">>de<<", ">>a<b<<"], [">>de<<"], MARIAN, (codes, codes), german
    yield [">>de<<"], ["de"], MARIAN, (codes, plain), german
    names = {"en": "__en__", "zh_Hant": "__zh_Hant__"}
    pieces = [*SPECIAL, *names.values()]
    yield pieces, pieces, MULTILINGUAL, (both, both), LanguagePieces(names, "translation", names)
    sides = FoundInText(("</s>", "eng_Latn")), FoundInText(("deu_Latn",))
    languages = LanguagePieces({"deu_Latn": "deu_Latn"}, "translation", {"eng_Latn": "eng_Latn"})
    yield ["</s>", "eng_Latn"], ["deu_Latn"], MULTILINGUAL, sides, languages


@pytest.mark.parametrize(("source", "target", "decoder", "sides", "languages"), [*cases()])
def test_rules_are_found(
    source: list[str],
    target: list[str],
    decoder: Decoder,
    sides: tuple[FoundInText, FoundInText],
    languages: LanguagePieces | None,
) -> None:
    for add_source_eos in (False, True):
        rules = found_rules(Path(), source, target, decoder, add_source_eos)
        assert (rules.sides, rules.languages, rules.append_source_eos) == (sides, languages, True)
