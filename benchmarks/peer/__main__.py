"""Times PocketMT, CTranslate2 and Marian in turn: the same weights and sentences, one thread each on one core.

    python -m benchmarks.peer --core 1 --trained captions-en-de-8bit --random base 6-2.tiny 12-1.tiny
    python -m benchmarks.peer --marian-python build/marian/bin/python
    python -m benchmarks.peer --workers 2 --trained --random base --output benchmarks/records/peer-threads.json
    python -m benchmarks.peer --trained --random opus-mt opus-mt-big nllb-600m --precisions int8 --shortlist without \\
        --forms uniform8 logarithmic4 --beams 1 --sentences 4 16 --rounds 5 \\
        --output benchmarks/records/peer-opus-nllb.json
    python -m benchmarks.peer --instruction-set avx2 --output benchmarks/records/peer-avx2.json
    python -m benchmarks.peer --quick

For each model, without and with a lexical shortlist, each precision and each case (one by one or in batches, greedy or
beam 4), the fastest setting of each engine is chosen first; then all run in turn, A B C A B C, in separate processes.
Inputs and outputs are token ids, or pieces for the peers. Our forms of less than 8 bits are compared with 8 bit of the
peers. Students are timed with a self-attention decoder and, if Marian is installed (`make marian`), with their SSRU
decoder. With --workers N each engine has N threads on all cores, and only batches are timed; with --one-by-one too,
only single sentences, on which all threads work together. --instruction-set holds every engine, and the libraries that
it calls, to one instruction set. Writes benchmarks/records/peer.json and prints its rows.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.instruction_sets import add_instruction_set_option, held
from benchmarks.one_core import AllCores, OneCore, add_core_option
from benchmarks.peer.files import AFFINE6, FORMS, MIXED
from benchmarks.peer.measure import CASES, Amount, compare, select
from benchmarks.peer.models import SHAPES, Pythons, TimedModel, random_models, trained_models
from benchmarks.peer.record import render, rows_of
from benchmarks.peer.sides import our_side, with_workers
from benchmarks.record_files import write_record
from pocketmt.evaluation.records import provenance

RECORD = Path(__file__).resolve().parents[1] / "records" / "peer.json"
SEED = 1
# Sentences in a run, chosen so that a run takes from some tenths of a second to some seconds.
TRAINED = Amount(one_by_one=100, batches=512, rounds=7)
RANDOM = Amount(one_by_one=20, batches=64, rounds=7)
QUICK = Amount(one_by_one=2, batches=8, rounds=2)
# Weights of a peer -> our forms to compare with; peers have none of less than 8 bits.
FORMS_COMPARED = {"float32": ("float32",), "int8": ("uniform8", "uniform7", AFFINE6, "logarithmic4", MIXED)}


def main(arguments: Sequence[str]) -> int:
    """Measure, and write the record after each model; return the exit status."""
    options = _options(arguments)
    origin, core = provenance(seed=SEED), OneCore(options.core) if options.workers == 1 else AllCores()
    rows: list[dict[str, Any]] = []
    measurements: list[dict[str, Any]] = []
    about: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for model, amount in _models(options, Path(folder)):
            about.append(_description(model))
            for found in _measure(model, amount, options):
                rows += found.pop("rows")
                measurements.append(found)
            if not options.quick or options.output != RECORD:
                record = {
                    "rows": rows,
                    "versions": _versions(measurements),
                    "models": about,
                    **core.about(min((row["core_share"] for row in rows), default=1.0)),
                    "threads": options.workers,
                    "instruction_set": options.instruction_set,
                    "measurements": measurements,
                    "provenance": origin,
                }
                write_record(record, options.output)
    print(render(rows))
    return 0


def _versions(measurements: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the version of each engine."""
    return {side["side"]: side["engine"]["version"] for each in measurements for side in each.get("sides", [])}


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trained", nargs="*", metavar="MODEL", help="trained model files, or names of bundled models")
    parser.add_argument(
        "--random", nargs="*", metavar="SHAPE", help=f"presets or {', '.join(SHAPES)}, with random weights"
    )
    add_core_option(parser)
    parser.add_argument(
        "--forms", nargs="+", choices=[*FORMS, AFFINE6], default=list(FORMS), help="our forms of random networks"
    )
    parser.add_argument("--beams", nargs="+", type=int, default=[1, 4], help="beam sizes (default: 1 and 4)")
    parser.add_argument(
        "--sentences",
        nargs=2,
        type=int,
        metavar=("ONE", "BATCHES"),
        default=[RANDOM.one_by_one, RANDOM.batches],
        help="sentences of random networks in a run, one by one and in batches (default: %(default)s)",
    )
    parser.add_argument("--one-by-one", action="store_true", help="with --workers: single sentences only")
    parser.add_argument("--rounds", type=int, default=RANDOM.rounds, help="runs of each engine (default: %(default)s)")
    parser.add_argument("--peer-python", default=sys.executable, help="the Python with CTranslate2 (default: this one)")
    parser.add_argument(
        "--precisions",
        nargs="+",
        choices=list(FORMS_COMPARED),
        default=list(FORMS_COMPARED),
        help="precisions of the peers' weights (default: all)",
    )
    parser.add_argument(
        "--shortlist", choices=("with", "without"), help="only models with a shortlist, or only those without"
    )
    parser.add_argument(
        "--workers", type=int, default=1, help="threads of each engine (default: %(default)s, on one core)"
    )
    add_instruction_set_option(parser)
    parser.add_argument("--marian-python", help="the Python with pymarian (default: without Marian)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: few sentences, a tiny network, no record")
    options = parser.parse_args(arguments)
    if options.trained is None and options.random is None:
        options.trained, options.random = (
            ([], ["tiny"])
            if options.quick
            else (
                ["captions-en-de-8bit"],
                ["base", "6-2.tiny", "12-1.tiny"],
            )
        )
    return options


def _models(options: argparse.Namespace, folder: Path) -> Iterator[tuple[TimedModel, Amount]]:
    """Yield the models, each created when it is needed."""
    pythons = Pythons(options.peer_python, options.marian_python)
    pythons.check()
    make_random = partial(random_models, forms=options.forms, shortlist=options.shortlist != "without")
    random = replace(RANDOM, one_by_one=options.sentences[0], batches=options.sentences[1])
    for make, names, usual in ((trained_models, options.trained, TRAINED), (make_random, options.random, random)):
        batches = usual.batches * options.workers
        amount = QUICK if options.quick else replace(usual, batches=batches, rounds=options.rounds)
        for name in names or []:
            for model in make(name, amount.batches, SEED, folder, pythons):
                if options.shortlist is None or model.shortlist == (options.shortlist == "with"):
                    yield model, amount


def _measure(model: TimedModel, amount: Amount, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the rows and the measurements of each precision and case of a model."""
    workers = options.workers
    timed = (True, False) if workers == 1 else (options.one_by_one,)
    cases = [case for case in CASES if case.one_by_one in timed and case.beam in options.beams]
    for peer_weights in options.precisions:
        our_weights = [form for form in FORMS_COMPARED[peer_weights] if form in model.ours]
        peers = model.peers[peer_weights]
        sides = [*peers, *(our_side(weights, model.ours[weights], sys.executable) for weights in our_weights)]
        if workers > 1:
            sides = [with_workers(side, workers, options.one_by_one) for side in sides]
        sides = held(sides, options.instruction_set)
        about = {"model": model.name, "decoder": model.decoder, "shortlist": model.shortlist}
        engines = ", ".join(f"{side.name} {side.weights}" for side in sides)
        print(f"{model.label}: choosing settings ({engines})", file=sys.stderr)
        selections = [select(side, model, cases, amount) for side in sides]
        for case in cases:
            choices = [selection.best[case] for selection in selections]
            measured = compare(sides, choices, model, case, amount)
            rows = rows_of(model, case.name, measured[: len(peers)], measured[len(peers) :])
            for measurement in measured:
                del measurement["outputs"]
            yield {**about, "case": case.name, "sides": measured, "rows": rows}
        tried = [
            {"side": s.name, "weights": s.weights, "tried": t.tried} for s, t in zip(sides, selections, strict=True)
        ]
        yield {**about, "settings": tried, "rows": []}


def _description(model: TimedModel) -> dict[str, Any]:
    """Return the description of a model for the record."""
    return {
        "name": model.name,
        "origin": model.origin,
        "shortlist": model.shortlist,
        "listed_share": model.listed,
        "architecture": model.architecture.to_json(),
        "target_tokens": {"fewest": model.lengths[0], "most": model.lengths[1]},
    }


if __name__ == "__main__":
    sys.exit(run(main))
