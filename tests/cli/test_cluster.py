"""The share of a Ray cluster that a command takes."""

from pathlib import Path

import click
import pytest

from pocketmt.cli.bulk_translation import TranslationWork
from pocketmt.cli.cluster import cluster_of
from pocketmt.cli.main import run
from pocketmt.cli.search import SearchChoices
from pocketmt.distributed.blocks import Block
from pocketmt.distributed.ray_pool import Cluster
from pocketmt.engine import Translator
from pocketmt.folder_lock import locked

from .conftest import SOURCES


@pytest.mark.parametrize(
    ("threads", "device", "expected"),
    [
        (None, "cpu", Cluster("auto", None, 0.0)),
        (4, "torch-cpu", Cluster("auto", 4, 0.0)),
        (None, "auto", Cluster("auto", None, 0.0)),
        (None, "cuda", Cluster("auto", 1, 1.0)),
        (3, "cuda", Cluster("auto", 3, 1.0)),
    ],
)
def test_a_worker_on_a_gpu_reserves_it(threads: int | None, device: str, expected: Cluster) -> None:
    assert cluster_of("auto", threads, device) == expected


def test_workers_of_a_cluster_are_not_pinned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["translate", "--ray", "auto", "--output", str(tmp_path / "shards"), "--pin-workers"]) == 2
    assert "--pin-workers has no effect with --ray" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["translate", "clean"])
def test_a_folder_that_another_process_works_in_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    text, target, shards = tmp_path / "text", tmp_path / "target", tmp_path / "out.cleaning"
    text.write_text("A red house.\n")
    target.write_text("Ein rotes Haus.\n")
    arguments = {
        "translate": ["--input", str(text), "--output", str(shards)],
        "clean": [str(text), str(target), "--output", str(tmp_path / "out"), str(tmp_path / "other")],
    }
    with locked(shards):
        assert run([command, *arguments[command], "--ray", "auto"]) == 1
    assert f"{shards}: in use by process" in capsys.readouterr().err


def test_a_numbered_gpu_is_refused() -> None:
    with pytest.raises(click.UsageError, match="give --device cuda"):
        cluster_of("auto", None, "cuda:1")


def test_a_worker_runs_an_ensemble(random_model: Path, another_model: Path) -> None:
    search = SearchChoices({"beam_size": 2}, 1, scores=False, alignment=False, as_json=False, token_scores=False)
    work = TranslationWork.of([random_model, another_model], search, {"device": "cpu"}, check=False)
    result = work.start(1)(Block(0, 1, tuple((line,) for line in SOURCES)))
    expected = Translator([random_model, another_model]).translate(SOURCES, beam_size=2)
    assert result.content.decode().splitlines() == expected


def test_models_that_do_not_fit_are_refused_before_a_cluster_is_used(
    random_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["-m", str(random_model), "-m", "everyday-en-de"]
    assert run(["translate", *models, "--ray", "auto", "--output", str(tmp_path / "shards")]) == 1
    assert f"its vocabulary is not that of {random_model}" in capsys.readouterr().err
