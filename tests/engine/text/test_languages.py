"""The languages of a translation are chosen by pieces that its source, or the translation itself, begins with."""

from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.languages import ModelLanguages
from pocketmt.errors import EngineError, ModelFileError
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary import Vocabularies, Vocabulary
from tests.engine.reference import architecture, random_network
from tests.foreign_vocabularies import pieces_of, sentencepiece_model
from tests.parallel_text import parallel_text

CODES = (">>deu<<", ">>fra<<", "__en__", "__cs__")
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
MODEL = sentencepiece_model(parallel_text()[0])
TABLE = (*SPECIAL, *pieces_of(MODEL), *CODES)
STORED = StoredVocabulary(MODEL, TABLE, "none", (*SPECIAL, *CODES[2:]), language_codes=True)
OF_SOURCE = LanguagePieces({"deu": ">>deu<<", "fra": ">>fra<<"}, "source")
OF_TRANSLATION = LanguagePieces({"en": "__en__", "cs": "__cs__"}, "translation", {"en": "__en__", "cs": "__cs__"})
LINE = parallel_text()[0][0]
LINES = parallel_text()[0][:20]


def id_of(piece: str) -> int:
    return TABLE.index(piece)


def translator(folder: Path, pieces: LanguagePieces | None, source: str = "", target: str = "") -> Translator:
    model = random_network(architecture(vocabulary_size=len(TABLE)))
    metadata = ModelMetadata(source_language=source, target_language=target, language_pieces=pieces)
    contents = ModelContents(model.state_dict(), model.architecture, StoredVocabularies(STORED), "float32", metadata)
    pack(folder / "model.pocketmt", contents)
    return Translator(folder / "model.pocketmt")


def test_the_source_begins_with_the_target_language(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_SOURCE, "en", "fra")
    sources = [loaded.encode(line) for line in LINES]
    expected = {
        code: [loaded.decode(ids) for ids in loaded.translate_ids([[id_of(f">>{code}<<"), *ids] for ids in sources])]
        for code in ("deu", "fra")
    }
    assert expected["deu"] != expected["fra"]
    options: dict[str, Any] = {"split": False, "check": False}
    for code, texts in expected.items():
        assert loaded.translate(LINES, target_language=code, **options) == texts
        assert loaded.translate([f">>{code}<< {line}" for line in LINES], **options) == texts
    assert loaded.translate(LINES, **options) == expected["fra"], "the default of the model file"
    assert loaded.target_languages == ("deu", "fra") and loaded.source_languages == ("en",)


def test_each_sentence_of_a_line_has_its_language(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_SOURCE, "en")
    first, second = [line for line in parallel_text()[0] if line.endswith(".") and line[0].isupper()][:2]
    alone = loaded.translate([f">>deu<<{first}", f">>deu<<{second}"], check=False)
    assert loaded.translate([f">>deu<< {first} {second}"], check=False) == [" ".join(alone)]


def test_a_line_must_name_a_language_if_none_is_chosen(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_SOURCE, "en", "de")
    assert loaded.translate(["", "https://example.org/"], check=False) == ["", "https://example.org/"]
    with pytest.raises(EngineError, match=r"give the target language, one of deu, fra, or begin .* as >>deu<<"):
        loaded.translate([LINE])


def test_the_translation_begins_with_the_target_language(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_TRANSLATION)
    source = [[id_of("__en__"), *loaded.encode(LINE)]]
    options: dict[str, Any] = {"source_language": "en", "target_language": "cs"}
    ids = loaded.translate_ids(source, **options)[0]
    assert id_of("__cs__") not in ids[:1]
    assert loaded.translate([LINE], check=False, **options) == [loaded.decode(ids)]
    other = loaded.translate_ids(source, source_language="en", target_language="en")[0]
    assert other != ids
    logits = loaded.logits(source[0], [id_of("__cs__")])[1]
    greedy = loaded.translate_ids(source, beam_size=1, **options)[0]
    allowed = [id for id in range(len(TABLE)) if id not in (0, 1, 3)]
    assert (greedy or [2])[0] == max(allowed, key=logits.__getitem__)


def test_no_result_shows_pieces_of_languages(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_TRANSLATION, "en", "cs")
    pieces = loaded.tokenizer.encode_as_pieces(LINE)
    ((best, *_),) = loaded.translate_detailed([LINE], n_best=2, check=False)
    assert best.alignment is not None
    assert best.alignment.source_pieces == tuple(pieces)
    assert all(len(row) == len(pieces) for row in best.alignment.attention)
    assert len(best.alignment.attention) == len(best.pieces) == len(best.token_scores)
    assert best.pieces[:1] != ("__cs__",)


def test_prefixes_follow_the_language(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_TRANSLATION, "en", "cs")
    assert loaded.translate([LINE], target_prefix="the", check=False)[0].startswith("the")


def test_scores_leave_out_what_is_given_and_count_it_in_the_length(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_TRANSLATION, "en", "cs")
    given = len(loaded.encode("the"))
    # The limit ends the translations: there is no eos.
    lengths: dict[str, Any] = {"max_length": 8, "min_length": 8, "length_penalty": 0.6}
    [hypotheses] = loaded.translate_detailed([LINE], n_best=2, target_prefix="the", check=False, split=False, **lengths)
    for each in hypotheses:
        assert len(each.pieces) == 8
        assert each.score == pytest.approx(sum(each.token_scores[given:]) / (1 + 8) ** 0.6)


def test_lengths_do_not_count_the_language(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_TRANSLATION, "en", "cs")
    ids = loaded.encode(LINE)
    assert len(loaded.translate_ids([ids], min_length=7, max_length=7)[0]) in (6, 7)
    assert len(loaded.translate_ids([ids], max_length=1)[0]) <= 1


@pytest.mark.parametrize(
    ("pieces", "options", "reason"),
    [
        (
            None,
            {"target_language": "fr"},
            "the target language is 'fr', but this model supports only 'de': omit it, or choose",
        ),
        (OF_SOURCE, {"target_language": "xx"}, "'xx', which the model does not have; it has deu, fra"),
        (OF_SOURCE, {"source_language": "cs"}, "the source language is 'cs', but this model supports only 'en'"),
        (OF_TRANSLATION, {"source_language": "de"}, "'de', which the model does not have; it has en, cs"),
        (OF_TRANSLATION, {}, "translates into several languages: give the target language, one of en, cs"),
    ],
)
def test_languages_that_are_refused(
    tmp_path: Path, pieces: LanguagePieces | None, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(EngineError, match=reason):
        translator(tmp_path, pieces, "en", "de").translate([LINE], **options)


def test_the_only_languages_may_be_named(tmp_path: Path) -> None:
    loaded = translator(tmp_path, None, "en", "de")
    named = loaded.translate([LINE], source_language="en", target_language="de", check=False)
    assert named == loaded.translate([LINE], check=False)


def test_other_codes_of_a_language_are_taken(tmp_path: Path) -> None:
    (tmp_path / "several").mkdir()
    several = translator(tmp_path / "several", OF_SOURCE, "en", "fra")
    german = several.translate([LINE], target_language="deu", check=False)
    assert several.translate([LINE], source_language="en-GB", target_language="de", check=False) == german
    alone = translator(tmp_path, None, "en", "de")
    expected = alone.translate([LINE], check=False)
    assert alone.translate([LINE], source_language="eng_Latn", target_language="deu", check=False) == expected


def test_many_languages_are_shortened() -> None:
    vocabulary = Vocabulary(STORED)
    pieces = LanguagePieces({f"l{index}": "a" for index in range(30)}, "translation")
    languages = ModelLanguages(("", ""), pieces, Vocabularies(vocabulary, vocabulary))
    with pytest.raises(EngineError, match=r"l18, l19 and 10 more \(`pocketmt inspect` names all\)$"):
        languages.choose(None, "xx")


def test_a_code_is_a_string(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="target_language must be a string, not int"):
        translator(tmp_path, OF_SOURCE).translate([LINE], target_language=1)  # type: ignore[arg-type]


def test_a_piece_that_the_vocabulary_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="lacks the piece '>>ita<<' of the language 'ita'"):
        translator(tmp_path, LanguagePieces({"ita": ">>ita<<"}, "source"))


@pytest.mark.parametrize("code", ["de", "DE", "deu", "de-AT", "deu_Latn"])
def test_any_code_of_a_language_selects_its_rules_for_sentences(tmp_path: Path, code: str) -> None:
    line = "Ich fahre am 3. Oktober nach Berlin."
    loaded = translator(tmp_path, None, code, "en")
    expected = loaded.translate([line], split=False, check=False)
    assert loaded.translate([line], check=False) == expected
    (tmp_path / "english").mkdir()
    english = translator(tmp_path / "english", None, "eng_Latn", "en")
    assert english.translate([line], check=False) != expected, "the same weights"


def test_a_language_that_the_model_does_not_name_may_be_given(tmp_path: Path) -> None:
    line = "Ich fahre am 3. Oktober nach Berlin."
    loaded = translator(tmp_path, None)
    whole = loaded.translate([line], split=False, check=False)
    assert loaded.translate([line], source_language="deu", target_language="en", check=False) == whole
    assert loaded.translate([line], check=False) != whole
    with pytest.raises(EngineError, match="the source language: 'english' is not the code of a language: write 'en'"):
        loaded.translate([line], source_language="english")


def test_a_code_of_several_languages_is_refused_with_their_codes() -> None:
    vocabulary = Vocabulary(STORED)
    pieces = LanguagePieces({f"{code}": "a" for code in ("ace_Arab", "zho_Hans", "zho_Hant")}, "translation")
    languages = ModelLanguages(("", ""), pieces, Vocabularies(vocabulary, vocabulary))
    message = "'zh', which may be any of zho_Hans, zho_Hant in this model: give one of these codes"
    with pytest.raises(EngineError, match=message):
        languages.choose(None, "zh")
