"""Attention weights of several models for one sentence, and their differences."""

import shutil
from pathlib import Path

import pytest

from benchmarks.attention.comparison import MOST_PIECES, compare_attention
from pocketmt.errors import ConfigurationError, DataError, ModelFileError
from pocketmt.models.search import greedy_search
from pocketmt.packing.reference.network import load_reference
from pocketmt.packing.run import pack_run
from pocketmt.text.vocabulary import Vocabulary
from tests.compression.tiny_run import write_tiny_run

TEXT = "red cat green house"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run, next to its model packed by three schemes."""
    run = write_tiny_run(tmp_path_factory.mktemp("attention"))
    for scheme in ("float32", "uniform8", "logarithmic4"):
        pack_run(run, scheme, run.parent / f"{scheme}.pocketmt")
    return run


def files(run: Path, *schemes: str) -> list[str]:
    return [str(run.parent / f"{scheme}.pocketmt") for scheme in schemes]


def test_a_run_and_its_files(run: Path) -> None:
    found = compare_attention([str(run), *files(run, "float32", "uniform8", "logarithmic4")], TEXT)
    differences = [model.difference for model in found.models]
    assert differences[:2] == [0, 0]
    assert 0 < differences[2] < differences[3] < 1
    assert found.models[0].weights == found.models[1].weights
    assert {model.layer for model in found.models} == {1}


def test_every_model_is_forced_to_write_the_output_of_the_first(run: Path) -> None:
    models = files(run, "logarithmic4", "float32")
    vocabulary = Vocabulary.from_file(run / "vocabulary.model")
    (written,) = greedy_search(load_reference(models[0]), [vocabulary.encode(TEXT)])
    found = compare_attention(models, TEXT)
    assert found.target_by == models[0]
    assert found.queries == (*vocabulary.pieces(written), "</s>")
    assert found.keys == (*vocabulary.pieces(vocabulary.encode(TEXT)), "</s>")
    for model in found.models:
        assert len(model.weights) == len(found.queries)
        assert all(len(row) == len(found.keys) and sum(row) == pytest.approx(1) for row in model.weights)


def test_every_model_is_forced_to_write_a_given_target(run: Path) -> None:
    found = compare_attention([str(run)], TEXT, "RED CAT", kind="decoder")
    assert (found.target, found.target_by) == ("RED CAT", None)
    assert found.keys[0] == "<s>" and found.queries[-1] == "</s>"
    assert found.keys[1:] == found.queries[:-1]
    assert found.models[0].weights[0][0] == 1  # nothing but bos has been read yet


def test_the_mean_of_the_heads_is_that_of_all(run: Path) -> None:
    one, two, mean = (compare_attention([str(run)], TEXT, "RED", head=head).models[0].weights for head in (1, 2, None))
    assert one != two
    for rows in zip(one, two, mean, strict=True):
        for left, right, middle in zip(*rows, strict=True):
            assert middle == pytest.approx((left + right) / 2, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("", {}, DataError, "has 0 pieces, a picture shows 1 to"),
        ("red " * (MOST_PIECES + 1), {}, DataError, "give one sentence"),
        (TEXT, {"target": " "}, DataError, "has 0 pieces"),
        (TEXT, {"layer": 2}, ConfigurationError, "run: there is no layer 2: give 1 to 1"),
        (TEXT, {"head": 3}, ConfigurationError, "run: there is no head 3: give 1 to 2"),
    ],
)
def test_impossible_choices_are_refused(
    run: Path, text: str, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        compare_attention([str(run)], text, **options)  # type: ignore[arg-type]


def test_models_of_different_vocabularies_are_refused(run: Path, tmp_path: Path) -> None:
    other = write_tiny_run(tmp_path, seed=2)
    with pytest.raises(DataError, match=r"its vocabulary is not that of .*run: their pieces cannot be compared"):
        compare_attention([str(run), str(other)], TEXT)


def test_a_file_that_is_not_a_model_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such file"):
        compare_attention([str(run), "missing.pocketmt"], TEXT)
    empty = tmp_path / "empty"
    shutil.copytree(run, empty)
    (empty / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"model\.safetensors"):
        compare_attention([str(empty)], TEXT)
