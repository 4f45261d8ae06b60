"""Times PocketMT beside CTranslate2: the same weights, the same sentences, one thread each on one core, in turn.

    python -m benchmarks.peer --core 1 --trained captions-en-de-8bit --random base
    python -m benchmarks.peer --quick

For each model, each precision and each case (one by one or in batches, greedy or beam 4) the fastest setting of each
side is chosen first; then both run in turn, A B A B, in processes of their own. The clock sees token ids (CTranslate2:
pieces) in and out. Log 4 bit runs beside 8 bit. The record goes to benchmarks/records/peer.json, its rows as a table to
stdout.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.peer.measure import CASES, Amount, compare, select
from benchmarks.peer.models import TimedModel, random_model, trained_model
from benchmarks.peer.record import render, rows_of
from benchmarks.peer.sides import Side, our_side, peer_side
from pocketmt.errors import PocketMTError
from pocketmt.evaluation.records import provenance, write_record

RECORD = Path(__file__).resolve().parents[1] / "records" / "peer.json"
SEED = 1
# A run that had the core to itself has at least this share of the clock's time.
IDLE_CORE_SHARE = 0.97
# Sentences of a run: a run of any case takes from a few tenths of a second to some seconds.
TRAINED = Amount(one_by_one=100, batches=512, rounds=7)
RANDOM = Amount(one_by_one=5, batches=64, rounds=7)
QUICK = Amount(one_by_one=2, batches=8, rounds=2)


def main() -> int:
    """Measure what was asked for; returns the exit status."""
    options = _options()
    core = max(os.sched_getaffinity(0)) if options.core is None else options.core
    origin = provenance(seed=SEED)
    load_before = os.getloadavg()
    # Children inherit it; this process only waits while they compute.
    os.sched_setaffinity(0, {core})
    rows: list[dict[str, Any]] = []
    measurements: list[dict[str, Any]] = []
    about: list[dict[str, Any]] = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for model, amount in _models(options, Path(folder)):
                about.append(_description(model))
                for found in _measure(model, amount, options.peer_python):
                    rows += found.pop("rows")
                    measurements.append(found)
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    record = {
        "rows": rows,
        "versions": {
            side["side"]: side["engine"]["version"] for each in measurements for side in each.get("sides", [])
        },
        "models": about,
        "core": core,
        "threads": 1,
        "load_average": {"before": load_before, "after": os.getloadavg()},
        "measurements": measurements,
        "provenance": origin,
    }
    print(render(rows))
    if rows and min(row["core_share"] for row in rows) < IDLE_CORE_SHARE:
        print(f"warning: something else ran on core {core}: these times are not to be published", file=sys.stderr)
    if not options.quick or options.output != RECORD:
        write_record(record, options.output)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trained", nargs="*", metavar="MODEL", help="trained model files, or names of bundled models")
    parser.add_argument("--random", nargs="*", metavar="PRESET", help="presets to be filled with random weights")
    parser.add_argument("--core", type=int, help="the core on which everything is timed (default: the last one)")
    parser.add_argument(
        "--rounds", type=int, default=RANDOM.rounds, help="how often each side runs (default: %(default)s)"
    )
    parser.add_argument(
        "--peer-python", default=sys.executable, help="the Python that has CTranslate2 (default: this one)"
    )
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument(
        "--quick", action="store_true", help="a smoke test: little text, tiny random weights, no record"
    )
    options = parser.parse_args()
    if options.trained is None and options.random is None:
        options.trained, options.random = ([], ["tiny"]) if options.quick else (["captions-en-de-8bit"], ["base"])
    return options


def _models(options: argparse.Namespace, folder: Path) -> Iterator[tuple[TimedModel, Amount]]:
    """Make each model when its turn comes."""
    for name in options.trained or []:
        amount = QUICK if options.quick else replace(TRAINED, rounds=options.rounds)
        yield trained_model(name, amount.batches, SEED, folder, options.peer_python), amount
    for name in options.random or []:
        amount = QUICK if options.quick else replace(RANDOM, rounds=options.rounds)
        yield random_model(name, amount.batches, SEED, folder, options.peer_python), amount


def _measure(model: TimedModel, amount: Amount, peer_python: str) -> Iterator[dict[str, Any]]:
    """Yield the rows and all that lies behind them, for each precision and case of a model."""
    for peer_weights, our_weights in (("float32", ["float32"]), ("int8", ["uniform8", "logarithmic4"])):
        sides: list[Side] = [
            peer_side(peer_weights, str(model.peer[peer_weights]), peer_python),
            *(our_side(weights, str(model.ours[weights]), sys.executable) for weights in our_weights),
        ]
        print(f"{model.name}: choosing settings ({', '.join(f'{s.name} {s.weights}' for s in sides)})", file=sys.stderr)
        selections = [select(side, model, CASES, amount) for side in sides]
        for case in CASES:
            choices = [selection.best[case] for selection in selections]
            measured = compare(sides, choices, model, case, amount)
            rows = rows_of(model.name, case.name, measured)
            for measurement in measured:
                del measurement["outputs"]
            yield {"model": model.name, "case": case.name, "sides": measured, "rows": rows}
        tried = [
            {"side": s.name, "weights": s.weights, "tried": t.tried} for s, t in zip(sides, selections, strict=True)
        ]
        yield {"model": model.name, "settings": tried, "rows": []}


def _description(model: TimedModel) -> dict[str, Any]:
    """Return what the record says of a model."""
    return {
        "name": model.name,
        "origin": model.origin,
        "architecture": model.architecture.to_json(),
        "target_tokens": {"fewest": model.lengths[0], "most": model.lengths[1]},
    }


if __name__ == "__main__":
    sys.exit(main())
