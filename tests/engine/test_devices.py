"""Devices of PyTorch behind `Translator`: the same translations, and clear errors for what is missing."""

import sys
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest
import torch

from pocketmt.engine import Translator, _native, devices
from pocketmt.errors import EngineError
from pocketmt.packing.device import model as device_model
from pocketmt.packing.device.precision import PRECISIONS
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.reference import GROUPINGS, architecture, plain, random_network, write
from tests.engine.test_shortlist import random_shortlist

LINES = ["A man rides a bike.", "", "the dog reads. A woman sees the big red house!", "two old men", "http://a.b/c"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.pocketmt"
    write(path, random_network(architecture()), vocabulary, plain)
    return path


@pytest.fixture(scope="module")
def pair(path: Path) -> tuple[Translator, Translator]:
    """The same file on the native engine and in PyTorch."""
    return Translator(path), Translator(path, device="torch-cpu")


def test_results_equal_the_engine(pair: tuple[Translator, Translator]) -> None:
    native, pytorch = pair
    for beam in (1, 3):
        options: dict[str, Any] = {"beam_size": beam, "max_length": 12, "check": False}
        assert pytorch.translate(LINES, **options) == native.translate(LINES, **options)
    for ours, theirs in zip(
        pytorch.translate_detailed(LINES, n_best=3, alignment=False, max_length=9, check=False),
        native.translate_detailed(LINES, n_best=3, alignment=False, max_length=9, check=False),
        strict=True,
    ):
        assert [(each.text, each.pieces) for each in ours] == [(each.text, each.pieces) for each in theirs]
        assert [each.score for each in ours] == pytest.approx([each.score for each in theirs], abs=1e-4)
        for one, other in zip(ours, theirs, strict=True):
            assert one.token_scores == pytest.approx(other.token_scores, abs=1e-4)
    ids = [native.encode(line) for line in LINES[:1]]
    assert pytorch.translate_ids(ids, max_length=8) == native.translate_ids(ids, max_length=8)
    assert pytorch.flat_logits(ids[0], [9, 10]) == pytest.approx(native.flat_logits(ids[0], [9, 10]), abs=1e-3)


def test_prefixes_and_lengths_equal_the_engine(pair: tuple[Translator, Translator]) -> None:
    native, pytorch = pair
    for beam in (1, 3):
        options: dict[str, Any] = {
            "beam_size": beam,
            "check": False,
            "max_length": 12,
            "min_length": 8,
            "length_penalty": 0.5,
        }
        options |= {"target_prefix": ["the big", None, "a dog", "two", None]}
        found = pytorch.translate_n_best(LINES, beam, **options)
        expected = native.translate_n_best(LINES, beam, **options)
        for ours, theirs in zip(found, expected, strict=True):
            assert [each.text for each in ours] == [each.text for each in theirs]
            assert [each.score for each in ours] == pytest.approx([each.score for each in theirs], abs=1e-4)
    with pytest.raises(EngineError, match="max_length is 2, it must be more than the"):
        pytorch.translate(LINES, target_prefix="the big red house", max_length=2)


def test_the_least_length_may_exceed_the_default_limit(pair: tuple[Translator, Translator]) -> None:
    native, pytorch = pair
    source = native.encode("two")
    for beam in (1, 3):
        [found] = pytorch.translate_ids([source], beam_size=beam, min_length=60)
        assert [found] == native.translate_ids([source], beam_size=beam, min_length=60)
        assert len(found) in (59, 60)


@pytest.mark.parametrize("length", [15, 17, 40])
def test_a_long_prefix_equals_the_engine(pair: tuple[Translator, Translator], length: int) -> None:
    native, pytorch = pair
    for beam in (1, 3):
        options: dict[str, Any] = {
            "beam_size": beam,
            "check": False,
            "target_prefix": [None, " ".join(["the"] * length)],
        }
        lines = [LINES[0], "two old men"]
        assert pytorch.translate(lines, **options) == native.translate(lines, **options)


def test_a_shortlist_too_short_for_the_beam_is_not_used(path: Path, tmp_path: Path) -> None:
    listed = tmp_path / "listed.pocketmt"
    add_shortlist(path, random_shortlist(targets=0, frequent=3), listed)
    native, pytorch = Translator(listed), Translator(listed, device="torch-cpu")
    for beam in (1, 2, 3, 4, 6):
        options: dict[str, Any] = {"beam_size": beam, "max_length": 9, "check": False, "shortlist": True}
        assert pytorch.translate(LINES, **options) == native.translate(LINES, **options)


def test_a_shortlist_is_used_if_it_is_asked_for(path: Path, tmp_path: Path) -> None:
    listed = tmp_path / "listed.pocketmt"
    add_shortlist(path, random_shortlist(), listed)
    native, pytorch = Translator(listed), Translator(listed, device="torch-cpu")
    options: dict[str, Any] = {"max_length": 9, "check": False}
    with_list = native.translate(LINES, shortlist=True, **options)
    without = native.translate(LINES, shortlist=False, **options)
    assert with_list != without
    assert pytorch.translate(LINES, shortlist=True, **options) == with_list
    assert pytorch.translate(LINES, **options) == without


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("grouping", [None, "mixed"])
def test_precisions(tmp_path: Path, vocabulary: Vocabulary, grouping: str | None, precision: str) -> None:
    path = tmp_path / "model.pocketmt"
    write(path, random_network(architecture()), vocabulary, GROUPINGS[grouping] if grouping else plain)
    exact, rounded = Translator(path), Translator(path, device="torch-cpu", precision=precision)
    ids = exact.encode(LINES[0])
    expected = torch.tensor(exact.logits(ids, [9, 10, 11]))
    error = (torch.tensor(rounded.logits(ids, [9, 10, 11])) - expected).abs().max() / expected.std()
    bound = 1e-4 if precision == "float32" and grouping is None else 0.3
    assert error < bound
    assert len(rounded.translate(LINES, max_length=6, check=False)) == len(LINES)


def test_a_translation_can_be_cancelled(pair: tuple[Translator, Translator]) -> None:
    pending = pair[1]._prepare(LINES, pair[1]._check({}))
    pending.cancel()
    with pytest.raises(CancelledError):
        pending.texts()


def test_what_pytorch_lacks_is_refused(pair: tuple[Translator, Translator]) -> None:
    translator = pair[1]
    refused: list[dict[str, Any]] = [{"sampling": True}, {"terms": {"dog": "man"}}, {"repetition_penalty": 1.2}]
    for options in refused:
        with pytest.raises(EngineError, match=r"PyTorch does not support .*: leave it out"):
            translator.translate(LINES, **options)
    with pytest.raises(EngineError, match="does not support alignment: pass alignment=False, or"):
        translator.translate_detailed(LINES)
    with pytest.raises(EngineError, match="does not support replace_unknowns: leave it out, or"):
        translator.translate(LINES, replace_unknowns=True)
    with pytest.raises(EngineError, match="beam_size is 200, it must be 1 to 116"):
        translator.translate(LINES, beam_size=200)
    with pytest.raises(EngineError, match="n_best is 3, it must be 1 to beam_size"):
        translator.translate_n_best(LINES, 3, beam_size=2)
    with pytest.raises(EngineError, match="token id 120 is not in the vocabulary of 120 pieces"):
        translator.translate_ids([[120]])
    with pytest.raises(TypeError, match="list of lists of piece ids"):
        translator.translate_ids([["a"]])  # type: ignore[list-item]


def test_wrong_devices_and_precisions_are_refused(path: Path) -> None:
    with pytest.raises(EngineError, match="choose one of 'cpu', 'cuda'"):
        Translator(path, device="gpu")
    with pytest.raises(TypeError, match="device must be a string"):
        Translator(path, device=0)  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="precision applies only to PyTorch"):
        Translator(path, precision="float16")
    with pytest.raises(EngineError, match="precision is 'half', choose one of float32"):
        Translator(path, device="torch-cpu", precision="half")
    with pytest.raises(EngineError, match="instruction_set"):
        Translator(path, device="torch-cpu", instruction_set=_native.instruction_sets()[0])


def test_a_missing_gpu_or_pytorch_is_named_in_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(EngineError, match=r"^device 'cuda': PyTorch .* finds no GPU: choose 'cpu', or install.*$"):
        Translator(path, device="cuda")
    monkeypatch.delitem(sys.modules, "pocketmt.packing.device.model")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(EngineError, match=r"needs PyTorch .*: pip install 'pocketmt\[train\]'"):
        Translator(path, device="cuda")


def test_a_gpu_is_chosen_where_pytorch_finds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert devices.choose_device("cuda:1") == "cuda:1"
    for driver, found, chosen in ((True, True, "cuda"), (True, False, "cpu"), (False, True, "cpu")):
        monkeypatch.setattr(devices, "_DRIVERS", ("/",) if driver else ())
        monkeypatch.setattr(device_model, "finds_gpu", lambda found=found: found)
        assert devices.choose_device("auto") == chosen
