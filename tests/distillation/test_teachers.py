"""Translation by one teacher or an ensemble, and the choice by references."""

import shutil
from pathlib import Path

import pytest

from pocketmt.distillation.teachers import Teachers, most_similar
from pocketmt.distillation.teachers_on_cluster import name_on_every_node
from pocketmt.engine import Hypothesis, Translator
from pocketmt.errors import ConfigurationError, DataError, ModelFileError
from pocketmt.models.search import beam_search
from pocketmt.packing.run import pack_run
from pocketmt.training.checkpoints import load_weights, save_weights
from tests.compression.tiny_run import write_tiny_run

LINES = ["red cat dog", "", "blue house", " ".join(["tree"] * 7)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two teachers of different sizes with the same vocabulary."""
    folder = tmp_path_factory.mktemp("teachers")
    small, large = write_tiny_run(folder / "small"), write_tiny_run(folder / "large", seed=2, dimension=24)
    shutil.copyfile(small / "vocabulary.model", large / "vocabulary.model")
    return [str(small), str(large)]


def test_an_ensemble_translates_by_the_mean_of_log_probabilities(runs: list[str], tmp_path: Path) -> None:
    teachers = Teachers(runs, tmp_path, beam_size=3, workers=1)
    networks = [model.network() for model in teachers.models]
    sizes = {network.architecture.model_dimension for network in networks}
    assert sizes == {16, 24}
    sources = [teachers.vocabularies.source.encode(line) for line in LINES if line]
    expected = [teachers.vocabularies.target.decode(best[0].ids) for best in beam_search(networks, sources, beam=3)]
    assert teachers.translate(LINES, None) == [expected[0], "", *expected[1:]]
    alone = [Teachers([run], tmp_path, beam_size=3).translate(LINES, None) for run in runs]
    assert teachers.translate(LINES, None) not in alone


def test_an_ensemble_of_equal_teachers_translates_like_the_engine(runs: list[str], tmp_path: Path) -> None:
    once = Teachers(runs[:1], tmp_path, beam_size=4, workers=1)
    twice = Teachers([runs[0], runs[0]], tmp_path, beam_size=4, workers=1)
    long = [" ".join(["red cat dog."] * 30), *LINES]  # The first line is split into segments.
    lost = ["red {name} cat dog"]  # Students learn from whole sentences: lost placeholders stay so.
    assert twice.translate([*long, *lost], None) == once.translate([*long, *lost], None)
    assert "{name}" not in once.translate(lost, None)[0]
    (tmp_path / "teacher.pocketmt").unlink()


def test_a_model_file_translates_like_its_run(runs: list[str], tmp_path: Path) -> None:
    file = tmp_path / "model.pocketmt"
    pack_run(Path(runs[0]), "float32", file)
    by_run, by_file = (Teachers([name], tmp_path, beam_size=2, workers=1) for name in (runs[0], str(file)))
    assert by_file.translate(LINES, None) == by_run.translate(LINES, None)
    assert by_file.identity != by_run.identity  # Translations of one are not reused for the other.
    mixed = Teachers([str(file), runs[0]], tmp_path, beam_size=2, workers=1)
    assert mixed.translate(LINES, None) == by_run.translate(LINES, None)


def test_the_translation_most_similar_to_the_reference_is_chosen(runs: list[str], tmp_path: Path) -> None:
    for names in (runs[:1], runs):
        teachers = Teachers(names, tmp_path, beam_size=4, n_best=4, workers=1)
        found = Translator(teachers.models[0].file(tmp_path / "one.pocketmt")).translate_n_best(LINES, 4, beam_size=4)
        references = [hypotheses[-1].text for hypotheses in found]
        translations = teachers.translate(LINES, references)
        if len(names) == 1:
            assert translations == references
        else:
            assert len(translations) == len(LINES) and translations[1] == ""
        assert teachers.translate(LINES, None) == Teachers(names, tmp_path, beam_size=4, workers=1).translate(
            LINES, None
        )


def test_similarity_is_sentence_chrf_and_ties_go_to_the_first() -> None:
    hypotheses = [Hypothesis("ein Hund", -1.0), Hypothesis("eine Katze", -2.0), Hypothesis("eine Katze", -3.0)]
    assert most_similar(hypotheses, "eine Katze") == "eine Katze"
    assert most_similar([Hypothesis("ein Hund", -1.0), Hypothesis("einHund", -2.0)], "ein Hund") == "ein Hund"
    # Spaces do not count, so both have the same similarity.
    assert most_similar([Hypothesis("einHund", -1.0), Hypothesis("ein Hund", -2.0)], "ein Hund") == "einHund"
    assert most_similar(hypotheses, "ein Hund bellt") == "ein Hund"


def test_incompatible_teachers_are_refused(runs: list[str], tmp_path: Path) -> None:
    other = write_tiny_run(tmp_path / "other", seed=7)
    with pytest.raises(DataError, match=r"other/run: its vocabulary is not that of .*small/run"):
        Teachers([*runs, str(other)], tmp_path, beam_size=2)
    backwards = tmp_path / "backwards"
    shutil.copytree(runs[0], backwards)
    weights, metadata = load_weights(backwards / "model.safetensors")
    save_weights(backwards / "model.safetensors", weights, metadata | {"languages": {"source": "up", "target": "en"}})
    with pytest.raises(DataError, match="backwards: it translates other languages"):
        Teachers([runs[0], str(backwards)], tmp_path, beam_size=2)
    document = tmp_path / "document"
    shutil.copytree(runs[0], document)
    save_weights(document / "model.safetensors", weights, metadata | {"unit": "document"})
    with pytest.raises(DataError, match=r"document: it translates a document at once, and .*small/run a sentence"):
        Teachers([runs[0], str(document)], tmp_path, beam_size=2)
    with pytest.raises(ModelFileError, match="no such file"):
        Teachers(["missing.pocketmt"], tmp_path, beam_size=2)
    with pytest.raises(ConfigurationError, match="5 best translations need a beam"):
        Teachers(runs, tmp_path, beam_size=4, n_best=5)


def test_teachers_are_the_same_in_any_order(runs: list[str], tmp_path: Path) -> None:
    identities = [Teachers(names, tmp_path, beam_size=2).identity for names in (runs, runs[::-1], runs[:1])]
    assert identities[0] == identities[1] != identities[2]
    assert str(identities[0]["model"]).startswith("2 teachers, ")


def test_workers_find_teachers_by_path_or_bundled_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of a cluster have another working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "teacher").mkdir()
    assert name_on_every_node("teacher") == str(tmp_path / "teacher")
    assert name_on_every_node("captions-en-de") == "captions-en-de"
