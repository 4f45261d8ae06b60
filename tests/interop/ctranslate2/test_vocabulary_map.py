"""Shortlists of CTranslate2 (`vmap.txt`) are read and written, and mean what they mean there."""

from dataclasses import replace
from pathlib import Path

import ctranslate2  # type: ignore[import-untyped]
import pytest

from pocketmt.engine import Translator
from pocketmt.errors import InteropError
from pocketmt.interop.ctranslate2.folder import pieces_of
from pocketmt.interop.ctranslate2.reading import read_model
from pocketmt.interop.ctranslate2.vocabulary_map import MAP, read_map, vocabulary_map
from pocketmt.interop.ctranslate2.writing import write_model
from pocketmt.interop.importing import import_model
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides, own_sides
from tests.interop.bergamot.students import LINES, random_student

PIECES = ["<pad>", "<s>", "</s>", "<unk>", "a", "b", "c", "d"]
SIDES = own_sides(8)
# a and b in every list; c may become c or d, and d may become d.
LISTS = Shortlist([4, 5], [[], [], [], [], [], [], [6, 7], [7]], SIDES)


def test_the_entry_of_no_piece_is_in_every_list() -> None:
    assert vocabulary_map(LISTS, PIECES, PIECES) == "\ta b\nc\tc d\nd\td\n"
    of_eos = Shortlist([4], [[], [], [7], [], [], [], [], []])
    assert vocabulary_map(of_eos, PIECES, PIECES) == "\ta d\n"


def test_a_map_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / MAP).write_text(vocabulary_map(LISTS, PIECES, PIECES))
    assert read_map(tmp_path / MAP, SIDES, PIECES, PIECES) == (LISTS, 0)


@pytest.mark.parametrize(
    ("content", "frequent", "targets", "several"),
    [
        ("c\tc\nc\td d c\n\tb\n\ta\n", [4, 5], {6: [6, 7]}, 0),
        ("\ta\nc\ta c", [4], {6: [6]}, 0),
        ("\ta\nc d\tb\nd c a\tb\nc\tunlisted d\nunlisted\tc\n</s>\tb\n", [4], {6: [7]}, 2),
        ("c\tc\n", [0], {6: [6]}, 0),
    ],
    ids=["several lines", "in every list", "several pieces", "none in every list"],
)
def test_entries(
    tmp_path: Path, content: str, frequent: list[int], targets: dict[int, list[int]], several: int
) -> None:
    (tmp_path / MAP).write_text(content)
    expected = Shortlist(frequent, [targets.get(id, []) for id in range(8)], SIDES)
    assert read_map(tmp_path / MAP, SIDES, PIECES, PIECES) == (expected, several)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\ta\nc d\n", "line 2 has no tab"), (b"", "line 1 has no tab"), (b"\xff\ta\n", "is not UTF-8")],
)
def test_a_damaged_map_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / MAP).write_bytes(content)
    with pytest.raises(InteropError, match=rf"vmap\.txt: {message}"):
        read_map(tmp_path / MAP, SIDES, PIECES, PIECES)


def test_more_targets_than_a_model_file_holds_are_refused(tmp_path: Path) -> None:
    pieces = [*PIECES, *(f"p{number}" for number in range(300))]
    (tmp_path / MAP).write_text("\ta\nc\t" + " ".join(pieces[8:]) + "\n")
    with pytest.raises(InteropError, match="piece 6 has 300 targets, at most 255"):
        read_map(tmp_path / MAP, own_sides(len(pieces)), pieces, pieces)


def test_pieces_with_spaces_cannot_be_written() -> None:
    pieces = [*PIECES[:-1], "d e"]
    with pytest.raises(InteropError, match="'d e'"):
        vocabulary_map(LISTS, pieces, pieces)


def test_translations_are_those_of_ctranslate2(tmp_path: Path) -> None:
    changes = {"decoder_autoregression": "self_attention", "activation": "swish", "normalization_epsilon": 1e-5}
    model = random_student(11, **changes, ban_special_pieces=False)
    sides = listed_sides(model.architecture)
    chosen = [*range(20, sides.target_size, 7)]
    lists = [[id for id in (piece + 5, piece + 9) if id < sides.target_size] for piece in range(sides.source_size)]
    lists[sides.source_eos] = []
    unequal = [[id for id in ids if id not in chosen] for ids in lists]
    model = replace(model, shortlist=Shortlist(chosen, unequal, sides))
    folder = tmp_path / "folder"
    folder.mkdir()
    assert any("use_vmap" in note for note in write_model(model, folder))
    read = read_model(folder)
    assert read.shortlist == model.shortlist
    assert any("use_vmap" in note for note in read.notes)
    import_model(folder, tmp_path / "imported.pocketmt")
    translator = Translator(tmp_path / "imported.pocketmt")
    peer = ctranslate2.Translator(str(folder), compute_type="float32", inter_threads=1, intra_threads=1)
    pieces = pieces_of(model.vocabularies.source)
    options = {"beam_size": 1, "max_decoding_length": 20}
    changed = 0
    for line in LINES:
        source = translator.encode(line)
        assert source[-1] != sides.source_eos
        tokens = [pieces[id] for id in source]
        (result,) = peer.translate_batch([tokens], use_vmap=True, **options)
        (whole,) = peer.translate_batch([tokens], **options)
        (found,) = translator.translate_ids([source], beam_size=1, max_length=20)
        assert [pieces[id] for id in found] == result.hypotheses[0]
        changed += result.hypotheses[0] != whole.hypotheses[0]
    assert changed


def test_a_shortlist_that_the_file_cannot_hold_is_left_out_of_an_export(tmp_path: Path) -> None:
    model = random_student(11, decoder_autoregression="self_attention", ban_special_pieces=False)
    sides = listed_sides(model.architecture)
    source = model.vocabularies.source
    pieces = [*pieces_of(source)]
    pieces[20] = "two words"
    model = replace(
        model,
        vocabularies=model.vocabularies._replace(source=replace(source, pieces=tuple(pieces))),
        shortlist=Shortlist([20], [[]] * sides.source_size, sides),
    )
    assert any("left out" in note and "'two words'" in note for note in write_model(model, tmp_path))
    assert not (tmp_path / MAP).exists()
