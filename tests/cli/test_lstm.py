"""A deep LSTM by the commands alone: trained, compressed by a recipe, shown and run."""

import json
from pathlib import Path

from benchmarks.recipe_files import RECIPES

from .conftest import Run
from .test_train_pack_inspect import write_run

MODEL = """
[model]
preset = "lstm.tiny"
model_dimension = 16
recurrent_dimension = 24
attention_dimension = 16
"""


def test_an_lstm_is_trained_compressed_and_run(pocketmt: Run, tmp_path: Path) -> None:
    configuration = write_run(tmp_path)
    configuration.write_text(configuration.read_text() + MODEL)
    run, file = tmp_path / "run", tmp_path / "small.pocketmt"
    assert pocketmt("train", configuration, "-o", run).returncode == 0
    answer = pocketmt("compress", run, RECIPES / "aji" / "log4-after-training.toml", "-o", file)
    assert answer.returncode == 0, answer.stderr
    report = json.loads(pocketmt("inspect", file, "--json").stdout)
    assert report["architecture"]["type"] == "lstm"
    assert all(matrix["code_bits"] == 4 for matrix in report["matrices"])
    answer = pocketmt("translate", "-m", file, stdin=b"a red house\n\ntwo dogs\n")
    assert answer.returncode == 0, answer.stderr
    assert len(answer.stdout.splitlines()) == 3
    assert b"lstm.tiny" in pocketmt("train", "--help").stdout
