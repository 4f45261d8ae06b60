"""One teacher or several: who translates, and by which rules."""

import shutil
from pathlib import Path

import pytest

from pocketmt.engine import Hypothesis
from pocketmt.errors import ConfigurationError, DataError, ModelFileError
from pocketmt.models.search import beam_search
from pocketmt.recipes.distillation.teachers import Teachers, likest
from pocketmt.recipes.run_folder import pack_run
from pocketmt.training.checkpoints import load_weights, save_weights
from tests.recipes.tiny_run import write_tiny_run

LINES = ["red cat dog", "", "blue house", "tree " * 7]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two teachers of one vocabulary and different sizes."""
    folder = tmp_path_factory.mktemp("teachers")
    small, large = write_tiny_run(folder / "small"), write_tiny_run(folder / "large", seed=2, dimension=24)
    shutil.copyfile(small / "vocabulary.model", large / "vocabulary.model")
    return [str(small), str(large)]


def test_an_ensemble_writes_what_the_mean_of_its_log_probabilities_decides(runs: list[str], tmp_path: Path) -> None:
    teachers = Teachers(runs, tmp_path, beam_size=3, workers=1)
    networks = [model.network() for model in teachers.models]
    sizes = {network.architecture.model_dimension for network in networks}
    assert sizes == {16, 24}
    sources = [teachers.vocabulary.encode(line) for line in LINES if line]
    wanted = [teachers.vocabulary.decode(best[0].ids) for best in beam_search(networks, sources, beam=3)]
    assert teachers.translate(LINES, None) == [wanted[0], "", *wanted[1:]]
    alone = [Teachers([run], tmp_path, beam_size=3).translate(LINES, None) for run in runs]
    assert teachers.translate(LINES, None) not in alone


def test_the_same_teacher_twice_translates_as_once_by_the_engine(runs: list[str], tmp_path: Path) -> None:
    once = Teachers(runs[:1], tmp_path, beam_size=4)
    twice = Teachers([runs[0], runs[0]], tmp_path, beam_size=4)
    long = [" ".join(["red cat dog."] * 30), *LINES]  # the first is cut into segments
    assert twice.translate(long, None) == once.translate(long, None)
    (tmp_path / "teacher.pocketmt").unlink()


def test_a_model_file_teaches_as_its_run_does(runs: list[str], tmp_path: Path) -> None:
    file = tmp_path / "model.pocketmt"
    pack_run(Path(runs[0]), "float32", file)
    by_run, by_file = (Teachers([name], tmp_path, beam_size=2) for name in (runs[0], str(file)))
    assert by_file.translate(LINES, None) == by_run.translate(LINES, None)
    assert by_file.identity != by_run.identity  # another file: what it wrote is not taken for the run's
    mixed = Teachers([str(file), runs[0]], tmp_path, beam_size=2)
    assert mixed.translate(LINES, None) == by_run.translate(LINES, None)


def test_the_translation_that_is_likest_the_reference_is_taken(runs: list[str], tmp_path: Path) -> None:
    for names in (runs[:1], runs):
        teachers = Teachers(names, tmp_path, beam_size=4, n_best=4)
        found = teachers.models[0].translator(tmp_path / "one.pocketmt", 1).translate_n_best(LINES, 4, beam_size=4)
        references = [hypotheses[-1].text for hypotheses in found]
        translations = teachers.translate(LINES, references)
        if len(names) == 1:
            assert translations == references
        else:
            assert len(translations) == len(LINES) and translations[1] == ""
        assert teachers.translate(LINES, None) == Teachers(names, tmp_path, beam_size=4).translate(LINES, None)


def test_likeness_is_sentence_chrf_and_the_surer_of_equals_wins() -> None:
    hypotheses = [Hypothesis("ein Hund", -1.0), Hypothesis("eine Katze", -2.0), Hypothesis("eine Katze", -3.0)]
    assert likest(hypotheses, "eine Katze") == "eine Katze"
    assert likest([Hypothesis("ein Hund", -1.0), Hypothesis("einHund", -2.0)], "ein Hund") == "ein Hund"
    # Spaces do not count: both are as like.
    assert likest([Hypothesis("einHund", -1.0), Hypothesis("ein Hund", -2.0)], "ein Hund") == "einHund"
    assert likest(hypotheses, "ein Hund bellt") == "ein Hund"


def test_teachers_that_do_not_fit_together_are_refused(runs: list[str], tmp_path: Path) -> None:
    other = write_tiny_run(tmp_path / "other", seed=7)
    with pytest.raises(DataError, match=r"other/run: its vocabulary is not that of .*small/run"):
        Teachers([*runs, str(other)], tmp_path, beam_size=2)
    backwards = tmp_path / "backwards"
    shutil.copytree(runs[0], backwards)
    weights, metadata = load_weights(backwards / "model.safetensors")
    save_weights(backwards / "model.safetensors", weights, metadata | {"languages": {"source": "up", "target": "en"}})
    with pytest.raises(DataError, match="backwards: it translates other languages"):
        Teachers([runs[0], str(backwards)], tmp_path, beam_size=2)
    with pytest.raises(ModelFileError, match="no such file"):
        Teachers(["missing.pocketmt"], tmp_path, beam_size=2)
    with pytest.raises(ConfigurationError, match="5 best translations need a beam"):
        Teachers(runs, tmp_path, beam_size=4, n_best=5)
