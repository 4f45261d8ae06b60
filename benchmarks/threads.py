"""Speed-up by threads, for one sentence at a time and for a text.

    python -m benchmarks.threads
    python -m benchmarks.threads --instruction-set avx2 --output benchmarks/records/threads-avx2.json
    python -m benchmarks.threads --quick

Networks with random weights as in benchmarks/peer, 27 tokens in and 28 out, greedy, one sentence at a time and many at
once, with 1 worker to as many as cores. The translators run in turn, A B A B; after each, the peak rate of
multiply-adds of a core is measured, if possible on this processor, to which the rate of one worker is compared. Writes
benchmarks/records/threads.json and prints its rows.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.command import run
from benchmarks.floor import known_instruction_sets
from benchmarks.instruction_sets import add_instruction_set_option
from benchmarks.one_core import usable_cores
from benchmarks.peer.models import RANDOM_VOCABULARY, TARGET_LENGTH, random_sources
from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.record_files import write_record
from pocketmt.engine import SearchOptions, Translator
from pocketmt.engine import _native_testing as native
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack

RECORD: Final = Path(__file__).parent / "records" / "threads.json"
SEED: Final = 1
PRESETS: Final = ("base", "6-2.tiny")
SCHEMES: Final = ("uniform8", "uniform7", "logarithmic4")
BATCHED_SENTENCES: Final = 256
SEARCH: Final[SearchOptions] = {"beam_size": 1, "min_length": TARGET_LENGTH, "max_length": TARGET_LENGTH}
PEAK_ROUNDS: Final = 11
# Without other load, the processor time of one worker is at least this share of its wall time.
IDLE_CORE_SHARE: Final = 0.95
COLUMNS: Final = (
    "model",
    "scheme=weights",
    "case",
    "workers",
    "milliseconds:.2f=ms a sentence",
    "billion_multiply_adds_a_second:.1f=billion multiply-adds a second",
    "share_of_peak:.0%=of what a core can",
    "times_one_worker:.2f=times as fast as one worker",
    "lowest:.2f",
    "highest:.2f",
)


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11, help="runs of each translator (default: %(default)s)")
    add_instruction_set_option(parser)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: `tiny`, two rounds, no record")
    options = parser.parse_args(arguments)
    origin, load_before = provenance(seed=SEED), os.getloadavg()
    cores = usable_cores()
    rows = []
    for name in ("tiny",) if options.quick else PRESETS:
        rows += _measure(
            name,
            len(cores),
            options.instruction_set,
            rounds=2 if options.quick else options.rounds,
            vocabulary=320 if options.quick else RANDOM_VOCABULARY,
        )
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    if min(row["core_share"] for row in rows if row["workers"] == 1) < IDLE_CORE_SHARE:
        print("warning: other programs ran meanwhile: do not publish these times", file=sys.stderr)
    if not options.quick or options.output != RECORD:
        load = {"before": load_before, "after": os.getloadavg()}
        about = {"cores": len(cores), "instruction_set": options.instruction_set, "load_average": load}
        write_record({"rows": rows, **about, "provenance": origin}, options.output)
    return 0


def _measure(
    name: str, cores: int, instruction_set: str | None, *, rounds: int, vocabulary: int
) -> list[dict[str, Any]]:
    """Return the rows of a preset, for each scheme, case and number of workers."""
    architecture = preset(name, vocabulary)
    sources = random_sources(architecture.vocabulary_size, BATCHED_SENTENCES, SEED)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for scheme in SCHEMES:
            path = Path(folder) / f"{scheme}.pocketmt"
            weights = pack_random_network(path, architecture, scheme)
            translators = [
                Translator(path, workers=workers, instruction_set=instruction_set) for workers in range(1, cores + 1)
            ]
            # Each of 28 source positions (27 pieces and EOS) and 28 target positions is multiplied by each matrix once.
            multiply_adds = TARGET_LENGTH * sum(tensor.numel() for tensor in weights.values() if tensor.dim() == 2)
            for case, (translate, sentences) in CASES.items():
                about = {"model": name, "scheme": scheme, "case": case}
                for row in _rounds(translators, translate, sources[:sentences], rounds):
                    rows.append({**about, **row, **_multiplying(row, multiply_adds * sentences)})
    return rows


def pack_random_network(path: Path, architecture: Architecture, scheme: str) -> dict[str, torch.Tensor]:
    """Write a model file with random weights, and return them."""
    torch.manual_seed(SEED)
    weights = make_network(architecture).state_dict()
    vocabulary = made_up_vocabulary(architecture.vocabulary_size)
    written = ModelMetadata(source_language="en", target_language="de", description="for benchmarks/threads")
    pack(path, ModelContents(weights, architecture, vocabulary, scheme, written))
    return weights


def _one_by_one(translator: Translator, sources: Sequence[Sequence[int]]) -> None:
    for source in sources:
        translator.translate_ids([source], **SEARCH)


def _together(translator: Translator, sources: Sequence[Sequence[int]]) -> None:
    translator.translate_ids(sources, **SEARCH)


# How the sentences of a run are translated, and how many they are.
CASES: Final[dict[str, tuple[Callable[[Translator, Sequence[Sequence[int]]], None], int]]] = {
    "one sentence": (_one_by_one, 8),
    "many": (_together, BATCHED_SENTENCES),
}


def _rounds(
    translators: Sequence[Translator],
    run: Callable[[Translator, Sequence[Sequence[int]]], None],
    sources: Sequence[Sequence[int]],
    rounds: int,
) -> list[dict[str, Any]]:
    """Run the translators in turn; return a row for each."""
    seconds: list[list[float]] = [[] for _ in translators]
    limits: list[list[float | None]] = [[] for _ in translators]
    shares: list[list[float]] = [[] for _ in translators]
    for translator in translators:
        run(translator, sources)
    for _ in range(rounds):
        for index, translator in enumerate(translators):
            start, processor = time.perf_counter(), time.process_time()
            run(translator, sources)
            seconds[index].append(time.perf_counter() - start)
            shares[index].append((time.process_time() - processor) / seconds[index][-1] / translator.workers)
            limits[index].append(_seconds_at_most(translator.instruction_set))
    return [
        _row(translator, len(sources), seconds[0], own, share) | {"seconds_of_a_multiply_add": limit}
        for translator, own, share, limit in zip(translators, seconds, shares, limits, strict=True)
    ]


def _seconds_at_most(instruction_set: str) -> float | None:
    """Return a core's seconds per int8 multiply-add in registers; None if not known for this instruction set."""
    if instruction_set not in known_instruction_sets():
        return None
    return statistics.median(native.time_multiply_adds(instruction_set, "int8", PEAK_ROUNDS))


def _multiplying(row: dict[str, Any], multiply_adds: int) -> dict[str, Any]:
    """Return the rate of multiply-adds, and for one worker its share of the core's peak as the median over rounds."""
    rate = 1e-9 * multiply_adds / statistics.median(row["seconds"])
    limits = row["seconds_of_a_multiply_add"]
    known = row["workers"] == 1 and None not in limits
    shares = [multiply_adds * limit / own for limit, own in zip(limits, row["seconds"], strict=True)] if known else []
    return {
        "billion_multiply_adds_a_second": rate,
        "share_of_peak": statistics.median(shares) if known else None,
        "lowest_share_of_peak": min(shares, default=None),
        "highest_share_of_peak": max(shares, default=None),
    }


def _row(
    translator: Translator, sentences: int, ones: list[float], own: list[float], shares: list[float]
) -> dict[str, Any]:
    ratios = [one / each for one, each in zip(ones, own, strict=True)]
    return {
        "workers": translator.workers,
        "milliseconds": 1000 * statistics.median(own) / sentences,
        "instruction_set": translator.instruction_set,
        "seconds": own,
        "times_one_worker": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
        "core_share": statistics.median(shares),
    }


if __name__ == "__main__":
    sys.exit(run(main))
