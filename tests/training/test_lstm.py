"""Deep LSTMs, trained by the same loop as Transformers (Aji and Heafield 2020, section 4.1)."""

import json
from pathlib import Path

import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.training.configuration import read_configuration
from pocketmt.training.run import train
from pocketmt.training.trained_model import read_trained_model
from tests.training.test_run import write_configuration, write_corpus

SIZES = """
preset = "lstm.tiny"
model_dimension = 32
recurrent_dimension = 48
attention_dimension = 32
dropout = 0.1
"""


def with_model(path: Path, model: str) -> Path:
    path.write_text(path.read_text().partition("[model]\n")[0] + "[model]\n" + model)
    return path


def test_the_loss_of_an_lstm_falls(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    path = write_configuration(
        tmp_path, maximum_updates=80, warmup_updates=20, validate_every=20, averaged_checkpoints=1, learning_rate=0.01
    )
    progress = train(read_configuration(with_model(path, SIZES)), tmp_path / "run")
    assert progress.finished
    events = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    losses = [event["loss"] for event in events if event["event"] == "validation"]
    assert losses[-1] < 0.7 * losses[0]
    trained = read_trained_model(tmp_path / "run").architecture
    assert isinstance(trained, LstmArchitecture)
    assert (trained.recurrent_dimension, trained.attention_heads) == (48, 4)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("feed_forward_dropout = 0.1", r"'lstm\.tiny' has no feed_forward_dropout"),
        ("feed_forward_dimension = 64", r"'lstm\.tiny' has no feed_forward_dimension"),
        ('norm = "pre"', "norms after its layers"),
        ("recurrent_dimension = 47", "recurrent_dimension is 47, expected an even number"),
    ],
)
def test_settings_that_lstms_do_not_have_are_refused(tmp_path: Path, model: str, message: str) -> None:
    path = with_model(write_configuration(tmp_path), f'preset = "lstm.tiny"\n{model}\n')
    with pytest.raises(ConfigurationError, match=message):
        read_configuration(path)
