"""Engines that run bergamot's models translate what PocketMT writes as the reference with saturating sums does."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from fxtranslate import Translator

from pocketmt.engine import Translator as PocketMT
from pocketmt.interop.bergamot.reading import read_model
from pocketmt.interop.bergamot.writing import write_model
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.importing import import_model
from pocketmt.model_file.shortlist_encoding import Shortlist
from tests.interop.bergamot.conftest import loaded
from tests.interop.bergamot.saturating import Student
from tests.interop.bergamot.students import LINES, PIECES, random_student

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "build" / "bergamot" / "node_modules" / "@browsermt" / "bergamot-translator"
LIMIT = 12  # pieces that are compared
Engine = Callable[[Path], list[str]]


def fxtranslate(folder: Path) -> list[str]:
    """Translations by the engine in Rust."""
    vocabulary = (folder / "vocab.spm").read_bytes()
    lists = [(folder / "lex.bin").read_bytes()] if (folder / "lex.bin").exists() else []
    translator = Translator((folder / "model.bin").read_bytes(), vocabulary, vocabulary, *lists)
    return [translator.translate(line) for line in LINES]


def webassembly(folder: Path) -> list[str]:
    """Translations by Marian, compiled to WebAssembly, in Node."""
    node = shutil.which("node")
    if node is None or not PACKAGE.is_dir():
        pytest.skip("bergamot's WebAssembly is not here: install Node, and run `make bergamot`")
    program = ROOT / "benchmarks" / "four_engines" / "run_bergamot.mjs"
    done = subprocess.run(
        [node, program, PACKAGE, folder],
        input="\n".join(LINES),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [json.loads(line)["text"] for line in done.stdout.splitlines()[:-1]]


ENGINES = pytest.mark.parametrize("engine", [fxtranslate, webassembly])


def assert_same(model: ForeignModel, processor: sentencepiece.SentencePieceProcessor, found: list[str]) -> None:
    """Each translation begins with that of the reference, whose first pieces alone are made."""
    assert len(found) == len(LINES)
    network = Student(model, saturating=True)
    for line, text in zip(LINES, found, strict=True):
        source = processor.encode(line)
        allowed = None if model.shortlist is None else batch_list(model, source)
        expected = processor.decode(network.greedy(source, LIMIT, allowed))
        assert text.startswith(expected.rstrip())


def batch_list(model: ForeignModel, source: list[int]) -> set[int]:
    """The list of a batch of one sentence, which bergamot fills up to a multiple of 8."""
    assert model.shortlist is not None
    allowed = {0, *model.shortlist.frequent}.union(*(model.shortlist.targets[piece] for piece in (*source, 0)))
    others = (piece for piece in range(len(model.shortlist.frequent), PIECES) if piece not in allowed)
    while len(allowed) % 8:
        allowed.add(next(others))
    return allowed


@ENGINES
def test_translations_are_those_of_the_reference(
    folder: Path, read: ForeignModel, processor: sentencepiece.SentencePieceProcessor, engine: Engine
) -> None:
    assert_same(read, processor, engine(folder))


def test_sums_that_do_not_saturate_are_nearer_to_full_precision(
    student: ForeignModel, read: ForeignModel, processor: sentencepiece.SentencePieceProcessor
) -> None:
    sources = [processor.encode(line) for line in LINES]
    exact = Student(student, quantized=False)
    same = {}
    for saturating in (False, True):
        network = Student(read, saturating=saturating)
        pairs = [zip(exact.greedy(each, LIMIT), network.greedy(each, LIMIT), strict=False) for each in sources]
        same[saturating] = sum(left == right for pair in pairs for left, right in pair)
    assert same[False] >= same[True]


def test_pocketmts_engine_sums_exactly(
    folder: Path, read: ForeignModel, processor: sentencepiece.SentencePieceProcessor, tmp_path: Path
) -> None:
    import_model(folder, tmp_path / "model.pocketmt")
    found = PocketMT(tmp_path / "model.pocketmt").translate(LINES, beam_size=1, check=False, max_length=LIMIT)
    network = Student(read)
    for line, text in zip(LINES, found, strict=True):
        assert text == processor.decode(network.greedy(processor.encode(line), LIMIT)).strip()


@ENGINES
def test_a_shortlist_is_theirs(
    student: ForeignModel, processor: sentencepiece.SentencePieceProcessor, tmp_path: Path, engine: Engine
) -> None:
    draw = np.random.default_rng(4)
    lists = [sorted(map(int, draw.choice(np.arange(16, PIECES), 6, replace=False))) for _ in range(PIECES)]
    lists = [sorted({*each, *([piece] if piece >= 16 else [])}) for piece, each in enumerate(lists)]
    write_model(replace(student, shortlist=Shortlist(range(16), lists)), tmp_path)
    model = read_model(tmp_path)
    assert model.shortlist is not None
    assert [list(each) for each in model.shortlist.targets] == lists
    assert_same(model, processor, engine(tmp_path))


@ENGINES
@pytest.mark.parametrize(
    "changes",
    [
        {"tied_decoder_layers": True, "decoder_layers": 3},
        {"encoder_layers": 6, "model_dimension": 128, "attention_dimension": 128, "feed_forward_dimension": 192},
    ],
    ids=["tied", "other sizes"],
)
def test_other_students(tmp_path: Path, engine: Engine, changes: dict[str, object]) -> None:
    if engine is fxtranslate and "tied_decoder_layers" in changes:
        pytest.skip("fxtranslate has no tied layers")
    plain = random_student(7, **changes)
    processor = loaded(plain.vocabularies.source.model)
    network = Student(plain, quantized=False)
    for line in LINES:
        network.greedy(processor.encode(line), LIMIT)
    write_model(replace(plain, activation_scales=network.alphas()), tmp_path)
    assert_same(read_model(tmp_path), processor, engine(tmp_path))
