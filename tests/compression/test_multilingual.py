"""Models of several languages are compressed on text in the languages of a configuration, or of their files."""

from pathlib import Path

import pytest
import sacrebleu

from pocketmt.compression.choosing.sensitivity import validation_text
from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compress_run, configured
from pocketmt.compression.texts import parallel_text, teacher_of, translated_text, with_translations
from pocketmt.engine import Translator
from pocketmt.errors import EngineError
from pocketmt.model_file import open_model
from pocketmt.packing.decoded import read_model
from pocketmt.progress import no_progress
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.training.configuration import Configuration, Data
from pocketmt.training.trained_model import TrainedModel
from pocketmt.training.validation import validate
from tests.compression.tiny_run import one_stage
from tests.engine.text.test_languages import LINES, OF_SOURCE, OF_TRANSLATION, id_of, translator
from tests.short_translations import LIMIT


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "plain.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def with_parallel_text(folder: Path, source: str, target: str, first: str = "") -> TrainedModel:
    """The model of a folder with a configuration, whose text has an empty pair and a first line."""
    paths = [folder / "text.en", folder / "text.cs"]
    for path, lines in zip(paths, (LINES, LINES[::-1]), strict=True):
        path.write_text("".join(f"{line}\n" for line in ["", first, *lines]), encoding="utf-8")
    english, czech = map(str, paths)
    data = Data(source, target, english, english, czech, czech, maximum_ratio=1e6)
    return configured(read_model(str(folder / "model.pocketmt")), Configuration(data=data))


def test_parallel_text_has_the_pieces_of_the_languages_of_the_configuration(tmp_path: Path) -> None:
    loaded = translator(tmp_path, OF_TRANSLATION, "cs", "cs")
    model = with_parallel_text(tmp_path, "en", "en")
    plan = make_plan(
        one_stage("logarithmic", 4, method="straight_through", objective="sequence_distillation"), model.architecture
    )
    teacher = teacher_of(model, tmp_path / "work", no_progress)
    texts = with_translations(parallel_text(model, plan, None), plan, None, teacher)
    assert texts.corpus is not None and texts.translations is not None
    for pairs in (texts.corpus.training, texts.corpus.validation, texts.translations.training):
        assert {source[0] for source, _ in pairs} == {target[0] for _, target in pairs} == {id_of("__en__")}
    assert texts.corpus.validation_sources[:2] == [[], []] and len(texts.corpus.validation) == len(LINES)
    scored = validation_text(model)
    assert (scored.validation, [*scored.training]) == (texts.corpus.validation, [*texts.corpus.training])
    sources = [source for source, _ in texts.translations.training]
    expected = loaded.translate_ids(sources, source_language="en", target_language="en")
    decode = loaded.target_tokenizer.decode
    assert [decode(target[1:]) for _, target in texts.translations.training] == [decode(ids) for ids in expected]


def test_scored_translations_begin_with_the_piece_of_their_language(tmp_path: Path, text: Path) -> None:
    loaded = translator(tmp_path, OF_TRANSLATION, "en", "cs")
    model = read_model(str(tmp_path / "model.pocketmt"))
    parallel = validation_text(with_parallel_text(tmp_path, "en", "cs"))
    for corpus in (parallel, translated_text(model, text, tmp_path / "work", no_progress)):
        sources = [source for source in corpus.validation_sources if source]
        expected = loaded.translate_ids(sources, beam_size=1, max_length=LIMIT)
        found = validate(model.network(), corpus, 4096, "char")
        decode = model.vocabularies.target.decode
        assert [line for line in found.translations if line] == [decode(ids) for ids in expected]
        best = sacrebleu.corpus_bleu(found.translations, [corpus.validation_references], tokenize="char").score
        assert found.bleu == best


def test_a_line_of_parallel_text_may_name_its_language(tmp_path: Path) -> None:
    translator(tmp_path, OF_SOURCE, "en")
    corpus = validation_text(with_parallel_text(tmp_path, "en", "fr", f">>deu<< {LINES[0]}"))
    assert [source[0] for source in corpus.validation_sources[1:3]] == [id_of(">>deu<<"), id_of(">>fra<<")]
    assert corpus.validation_sources[1][1:] == corpus.validation_sources[2][1:]


def test_a_configuration_of_other_languages_than_those_of_the_model_is_refused(tmp_path: Path) -> None:
    translator(tmp_path, OF_TRANSLATION, "en", "cs")
    with pytest.raises(EngineError, match="the target language is 'de'"):
        validation_text(with_parallel_text(tmp_path, "en", "de"))


def test_sources_and_translations_begin_with_the_pieces_of_their_languages(tmp_path: Path, text: Path) -> None:
    loaded = translator(tmp_path, OF_TRANSLATION, "en", "cs")
    corpus = translated_text(read_model(str(tmp_path / "model.pocketmt")), text, tmp_path / "work", no_progress)
    assert {source[0] for source, _ in corpus.training} == {id_of("__en__")}
    assert {target[0] for _, target in corpus.training} == {id_of("__cs__")}
    sources = [source for source, _ in corpus.training[:3]]
    expected = loaded.translate_ids(sources, source_language="en", target_language="cs")
    decode = loaded.target_tokenizer.decode
    assert [decode(target[1:]) for _, target in corpus.training[:3]] == [decode(ids) for ids in expected]


def test_a_line_that_names_its_language_keeps_it(tmp_path: Path) -> None:
    translator(tmp_path, OF_SOURCE, "en", "fra")
    text = tmp_path / "plain.txt"
    text.write_text("".join(f">>deu<< {line}\n{line}\n" for line in LINES), encoding="utf-8")
    corpus = translated_text(read_model(str(tmp_path / "model.pocketmt")), text, tmp_path / "work", no_progress)
    pairs = [*corpus.training, *corpus.validation]
    assert {source[0] for source, _ in pairs} == {id_of(">>deu<<"), id_of(">>fra<<")}
    assert not any({id_of(">>deu<<"), id_of(">>fra<<")} & set(source[1:]) for source, _ in pairs)


def test_the_compressed_file_keeps_the_languages(tmp_path: Path, text: Path) -> None:
    translator(tmp_path, OF_TRANSLATION, "en", "cs")
    output = tmp_path / "small.pocketmt"
    task = CompressionTask(run=tmp_path / "model.pocketmt", folder=tmp_path / "work", source_text=text)
    compress_run(task, find_recipe("log4-compensated"), output)
    with open_model(output) as file:
        assert file.language_pieces == OF_TRANSLATION
        assert (file.source_language, file.target_language) == ("en", "cs")
    small = Translator(output)
    assert small.target_languages == ("en", "cs")
    assert small.translate([LINES[0]], target_language="en", check=False)


def test_a_model_without_default_languages_asks_for_them(tmp_path: Path, text: Path) -> None:
    translator(tmp_path, OF_SOURCE, "en")
    with pytest.raises(EngineError, match="give the target language, one of deu, fra"):
        translated_text(read_model(str(tmp_path / "model.pocketmt")), text, tmp_path / "work", no_progress)
