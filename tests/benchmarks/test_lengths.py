"""The program that times sentences by their length: rows for each beam and length, with as many tokens as asked for."""

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import lengths
from benchmarks.lengths import LENGTHS, length_rows
from benchmarks.peer.files import write_ours
from benchmarks.peer.models import TimedModel, random_network, random_sources
from benchmarks.peer.sides import marian_side, our_side
from pocketmt.models.presets import preset

OURS = our_side("uniform8", "file", "python")


def test_each_beam_and_length_has_a_row(tmp_path: Path) -> None:
    network = random_network(preset("tiny", 320), 1)
    files = write_ours(network, tmp_path)
    model = TimedModel("a model", "seed 1", network.architecture, (1, 1), random_sources(320, 4, 1), files, {})
    peer, ours = (our_side(form, files[form], sys.executable) for form in ("float32", "uniform8"))
    rows = list(length_rows(model, [peer], [ours], [(3, 5), (40, 2)], rounds=1))
    assert [(row["case"], row["source_tokens"], row["target_tokens"]) for row in rows] == [
        ("one by one, greedy", 3, 5),
        ("one by one, greedy", 40, 2),
        ("one by one, beam 4", 3, 5),
        ("one by one, beam 4", 40, 2),
    ]
    for row in rows:
        assert row["target_tokens_of_peer"] == row["target_tokens"]
        assert row["milliseconds_a_token"] * row["target_tokens"] == row["milliseconds"] > 0


def test_sentences_have_10_to_400_tokens() -> None:
    assert {10, 25, 50, 100, 200, 400} <= {source for source, target in LENGTHS if source == target}


@pytest.mark.parametrize(("source", "target"), LENGTHS)
def test_marian_stops_at_the_length_also_after_its_rounding(source: int, target: int) -> None:
    marian, ours = lengths._limited([marian_side("int8", "folder", "python", 1.0), OURS], source, target)
    limit = np.float32(marian.load_options["target_words_a_source_word"]) * np.float32(source + 1)
    assert target - 1 < limit < target
    assert ours == OURS
