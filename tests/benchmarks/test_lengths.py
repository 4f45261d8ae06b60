"""The program that times sentences by their length: rows for each beam and length, with as many tokens as asked for."""

import sys
from pathlib import Path

from benchmarks.lengths import length_rows
from benchmarks.peer.files import write_ours
from benchmarks.peer.models import TimedModel, random_network, random_sources
from benchmarks.peer.sides import our_side
from pocketmt.models.presets import preset


def test_each_beam_and_length_has_a_row(tmp_path: Path) -> None:
    network = random_network(preset("tiny", 320), 1)
    files = write_ours(network, tmp_path)
    model = TimedModel("a model", "seed 1", network.architecture, (1, 1), random_sources(320, 4, 1), files, {})
    sides = [our_side(form, files[form], sys.executable) for form in ("float32", "uniform8")]
    rows = list(length_rows(model, sides, [(3, 5), (40, 2)], rounds=1))
    assert [(row["case"], row["source_tokens"], row["target_tokens"]) for row in rows] == [
        ("one by one, greedy", 3, 5),
        ("one by one, greedy", 40, 2),
        ("one by one, beam 4", 3, 5),
        ("one by one, beam 4", 40, 2),
    ]
    for row in rows:
        assert row["target_tokens_of_peer"] == row["target_tokens"]
        assert row["milliseconds_a_token"] * row["target_tokens"] == row["milliseconds"] > 0
