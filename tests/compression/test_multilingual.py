"""Models of several languages are compressed from plain text in the languages that their files name."""

from pathlib import Path

import pytest

from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.compression.texts import translated_text
from pocketmt.engine import Translator
from pocketmt.errors import EngineError
from pocketmt.model_file import open_model
from pocketmt.packing.decoded import read_model
from pocketmt.progress import no_progress
from pocketmt.recipes.catalogue import find_recipe
from tests.engine.text.test_languages import LINES, OF_SOURCE, OF_TRANSLATION, id_of, translator


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "plain.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


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
