"""Cost of a sentence by its length, greedy and with beam 4, compared with CTranslate2 and Marian in 8 bits.

    python -m benchmarks.lengths --core 1 --marian-python build/marian/bin/python
    python -m benchmarks.lengths --instruction-set avx2 --output benchmarks/records/lengths-avx2.json

The networks are those of benchmarks/peer, with random weights and without a shortlist. One sentence at a time is
translated to exactly the given number of tokens; sources and translations have 10 to 400. Each peer runs in the
setting that is fastest for sentences of 50 tokens. All engines run in turn on one core. Writes
benchmarks/records/lengths.json and prints its rows.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.instruction_sets import add_instruction_set_option, held
from benchmarks.markdown import markdown_table
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.peer.measure import Amount, Case, compare, select
from benchmarks.peer.models import Pythons, TimedModel, random_models
from benchmarks.peer.record import rows_of
from benchmarks.peer.sides import Side, our_side
from benchmarks.record_files import write_record
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD: Final = Path(__file__).parent / "records" / "lengths.json"
SEED: Final = 1
FORMS: Final = ("uniform8", "logarithmic4")
BEAMS: Final = (1, 4)
LENGTHS: Final = ((10, 10), (25, 25), (50, 50), (100, 100), (200, 200), (200, 400), (400, 400))  # source, target
USUAL: Final = (50, 50)
COLUMNS: Final = (
    "model",
    "case",
    "weights",
    "source_tokens=tokens in",
    "target_tokens=out",
    "peer",
    "peer_milliseconds:.1f=peer, ms",
    "milliseconds:.1f=PocketMT",
    "milliseconds_a_token:.2f=ms a token",
    "speed_ratio:.2f=times as fast",
    "processor_ratio:.2f=by processor time",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    options = _options(arguments)
    origin, core = provenance(seed=SEED), OneCore(options.core)
    pythons = Pythons(options.peer_python, options.marian_python)
    pythons.check()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.random:
            sentences = max(map(max, LENGTHS))
            model = next(random_models(name, sentences, SEED, Path(folder), pythons, FORMS, shortlist=False))
            peers = held(model.peers["int8"], options.instruction_set)
            ours = [our_side(form, model.ours[form], sys.executable) for form in FORMS]
            rows += length_rows(model, peers, held(ours, options.instruction_set), options.lengths, options.rounds)
    shares = [row["core_share"] for row in rows]
    about = {**core.about(min(shares)), "instruction_set": options.instruction_set}
    write_record({"rows": rows, **about, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", nargs="+", default=["base", "tiny"], metavar="SHAPE", help="default: %(default)s")
    parser.add_argument("--lengths", nargs="+", type=_lengths, default=LENGTHS, metavar="IN/OUT", help="tokens")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each engine (default: %(default)s)")
    parser.add_argument("--peer-python", default=sys.executable, help="the Python with CTranslate2 (default: this one)")
    parser.add_argument("--marian-python", help="the Python with pymarian (default: without Marian)")
    add_instruction_set_option(parser)
    add_core_option(parser)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    return parser.parse_args(arguments)


def _lengths(text: str) -> tuple[int, int]:
    source, _, target = text.partition("/")
    return int(source), int(target)


def length_rows(
    model: TimedModel, peers: Sequence[Side], ours: Sequence[Side], lengths: Sequence[tuple[int, int]], rounds: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for each beam, length, form of ours and peer."""
    amount = Amount(one_by_one=1, batches=1, rounds=rounds)
    cases = [Case(one_by_one=True, beam=beam) for beam in BEAMS]
    sides, usual = [*peers, *ours], _of_length(model, *USUAL)
    selections = [select(side, usual, cases, amount) for side in _limited(sides, *USUAL)]
    for case in cases:
        choices = [selection.best[case] for selection in selections]
        for source, target in lengths:
            timed = _of_length(model, source, target)
            measured = compare(_limited(sides, source, target), choices, timed, case, amount)
            for row in rows_of(timed, case.name, measured[: len(peers)], measured[len(peers) :]):
                sizes = {"source_tokens": source, "target_tokens": target}
                yield {**row, **sizes, "milliseconds_a_token": row["milliseconds"] / target}


def _limited(sides: Sequence[Side], source: int, target: int) -> list[Side]:
    """Return the sides with the limit of `target` tokens for a sentence of `source`, which Marian gets when it loads.

    Marian stops at the first length that is not below the limit, a product in float32: half a token is left for its
    rounding.
    """
    factor = (target - 0.5) / (source + 1)  # The source has an EOS.
    return [
        replace(side, load_options={**side.load_options, "target_words_a_source_word": factor})
        if "target_words_a_source_word" in side.load_options
        else side
        for side in sides
    ]


def _of_length(model: TimedModel, source: int, target: int) -> TimedModel:
    """Return the model with one sentence of `source` tokens, which becomes `target` tokens."""
    tokens = [token for sentence in model.sentences for token in sentence]
    return replace(model, sentences=[tokens[:source]], lengths=(target, target))


if __name__ == "__main__":
    sys.exit(run(main))
