"""Speed of decoding on a GPU, compared with CTranslate2 with the same weights on the same GPU.

    python -m benchmarks.gpu_decoding
    python -m benchmarks.gpu_decoding --models teacher1.pocketmt teacher2.pocketmt teacher3.pocketmt --text news.en
    python -m benchmarks.gpu_decoding --compiled --presets base
    python -m benchmarks.gpu_decoding --quick

Networks with random weights, 27 tokens in and 28 out, and trained models on real text; greedy and beam 4; batches of 32
to 16,384 sentences, among them those of Behnke et al. 2021, Table 4, and one sentence at a time. The two times call the
search on ids of pieces, without the splitting of lines. Each ratio is to the best batch size and precision of
CTranslate2 for the same network in the same run; an SSRU, which CTranslate2 does not have, is compared with
self-attention. Then an ensemble of three, of the models that are given or of random ones, translates a million lines.

Writes benchmarks/records/gpu-decoding.json and prints its rows. Without a GPU it ends in one line; `--quick` runs the
same code on the processor, with a small network and no ratios to publish.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.command import run
from benchmarks.data import ROOT, corpus
from benchmarks.gpu_decoding.ensemble import time_ensemble
from benchmarks.gpu_decoding.systems import COMPILED, FOUR_BITS, Translate, ctranslate2, ours
from benchmarks.gpu_decoding.workload import SEED, Workload, random_workloads, trained_workload
from benchmarks.peer.models import RANDOM_VOCABULARY, SELF_ATTENTION
from benchmarks.record_files import write_record
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.packing.device.model import torch_device

RECORD: Final = ROOT / "benchmarks" / "records" / "gpu-decoding.json"
BEAMS: Final = (1, 4)
LEAST_SENTENCES: Final = 1024  # That a batch size translates.
MEMBERS: Final = 3  # Of the ensemble.
COLUMNS: Final = (
    "model",
    "decoder",
    "system",
    "precision",
    "beam",
    "case",
    "together=sentences together",
    "sentences_a_second:.1f",
    "words_a_second:,.0f",
    "hours_for_a_billion_words:.1f",
    "milliseconds_a_sentence:.3f",
    "megabytes:.0f=MB",
    "times_ctranslate2:.2f=times CTranslate2's best",
)
ENSEMBLE_COLUMNS: Final = ("beam", "lines:,", "seconds:.0f", "lines_a_second:.0f", "utilisation_percent:.0f")


@dataclass(frozen=True)
class Plan:
    """What is measured: on a GPU, or for a quick look on the processor."""

    device: str
    presets: tuple[str, ...]
    vocabulary: int
    precisions: tuple[str, ...]
    peer_precisions: tuple[str, ...]
    together: tuple[int, ...]  # The sweep: sentences that are decoded together.
    sentences: int
    single_sentences: int
    rounds: int
    ensemble_preset: str
    ensemble_precision: str
    ensemble_lines: int


ON_GPU: Final = Plan(
    device="cuda",
    presets=("base", "12-1.tiny", "6-2.tiny"),
    vocabulary=RANDOM_VOCABULARY,
    precisions=("float16", "bfloat16", "int8_float16", FOUR_BITS),
    peer_precisions=("float16", "int8_float16", "int8"),
    together=(32, 64, 128, 256, 512, 768, 1024, 1132, 4096, 16_384),
    sentences=16_384,
    single_sentences=50,
    rounds=2,
    ensemble_preset="base",
    ensemble_precision="float16",
    ensemble_lines=1_000_000,
)
QUICK: Final = Plan(
    device="torch-cpu",
    presets=("6-1.nano",),
    vocabulary=300,
    precisions=("bfloat16", FOUR_BITS),
    peer_precisions=("float32",),
    together=(4,),
    sentences=4,
    single_sentences=1,
    rounds=1,
    ensemble_preset="tiny",
    ensemble_precision="float32",
    ensemble_lines=6,
)


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="*", help="networks with random weights (default: %(default)s)")
    parser.add_argument("--models", nargs="*", default=[], help="trained models: files or folders of runs")
    parser.add_argument("--text", type=Path, help="text for --models (default: Multi30k's training text)")
    parser.add_argument("--compiled", action="store_true", help="measure compiled layers, too")
    parser.add_argument("--ensemble-lines", type=int, help="lines for the ensemble; 0: none")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test on the processor, no record")
    parser.set_defaults(presets=ON_GPU.presets, ensemble_lines=None)
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else replace(ON_GPU, presets=tuple(options.presets))
    if options.compiled:
        plan = replace(plan, precisions=(*plan.precisions, f"{plan.precisions[0]}{COMPILED}"))
    if options.ensemble_lines is not None:
        plan = replace(plan, ensemble_lines=options.ensemble_lines)
    device = torch_device(plan.device)
    if options.quick:
        torch.set_num_threads(1)
    trained = [
        trained_workload(name, options.text or corpus("multi30k") / "train.en", plan.sentences)
        for name in options.models
    ]
    rows = [row for work in trained for row in _measured([work], plan, device)]
    for name in plan.presets:
        rows += _measured(random_workloads(name, plan.sentences, plan.vocabulary), plan, device)
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    ensembles = _ensembles(trained, plan, device)
    print(plain_table(ensembles, [Column.parse(each) for each in ENSEMBLE_COLUMNS]))
    if not options.quick or options.output != RECORD:
        gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else "none"
        record = {"program": "benchmarks.gpu_decoding", "gpu": gpu, "rows": rows, "ensembles": ensembles}
        write_record(record | {"provenance": provenance(seed=SEED)}, options.output)
    return 0


def _measured(works: Sequence[Workload], plan: Plan, device: torch.device) -> list[dict[str, Any]]:
    """Return the rows of the same sizes of network with one decoder or two."""
    rows: list[dict[str, Any]] = []
    for work in works:
        if work.decoder == SELF_ATTENTION.replace("_", "-"):
            for precision in plan.peer_precisions:
                try:
                    rows += _rows(work, plan, device, ctranslate2, "CTranslate2", precision)
                except ConfigurationError as error:  # It does not have every network.
                    print(f"{work.model}: {error}", file=sys.stderr)
        for precision in plan.precisions:
            rows += _rows(work, plan, device, ours, "PocketMT", precision)
    return with_ratios(rows)


def _rows(
    work: Workload,
    plan: Plan,
    device: torch.device,
    load: Callable[[Workload, torch.device, str], Translate],
    system: str,
    precision: str,
) -> list[dict[str, Any]]:
    """Return the rows of one system: each beam and number of sentences together, and one sentence at a time."""
    before = _used_bytes(device)
    translate = load(work, device, precision)
    sources = list(work.sources)
    single = [[source] for source in sources[: plan.single_sentences]]
    rows = []
    for beam in BEAMS:
        # Small batches take longer for a sentence, so they translate fewer.
        cases = [("many", count, [sources[: max(LEAST_SENTENCES, 8 * count)]]) for count in plan.together]
        for case, together, calls in [*cases, ("one sentence", 1, single)]:

            def call(given: list[list[int]], beam: int = beam, together: int = together) -> object:
                return translate(given, beam, together)

            seconds, used = _times(call, calls, plan.rounds, device)
            count, median = sum(map(len, calls)), statistics.median(seconds)
            words = work.words / len(sources) * count / median
            rows.append(
                {
                    "model": work.model,
                    "decoder": work.decoder,
                    "system": system,
                    "precision": precision,
                    "beam": beam,
                    "case": case,
                    "together": together,
                    "sentences_a_second": count / median,
                    "words_a_second": words,
                    "hours_for_a_billion_words": 1e9 / words / 3600,
                    "milliseconds_a_sentence": 1000 * median / count,
                    "megabytes": (used - before) / 1e6,
                    "seconds": seconds,
                }
            )
    return rows


def _times(
    translate: Callable[[list[list[int]]], object], calls: list[list[list[int]]], rounds: int, device: torch.device
) -> tuple[list[float], int]:
    """Return the seconds of each round, and the largest memory in use after a round, after one round to warm up."""
    seconds, used = [], 0
    for number in range(rounds + 1):
        start = time.perf_counter()
        for sources in calls:
            translate(sources)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        if number > 0:
            seconds.append(time.perf_counter() - start)
        used = max(used, _used_bytes(device))
    return seconds, used


def _used_bytes(device: torch.device) -> int:
    """Return the memory of the GPU that any program uses; 0 on the processor."""
    if device.type != "cuda":
        return 0
    free, total = torch.cuda.mem_get_info(device)
    return total - free


def with_ratios(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to rows how many times as fast they are as CTranslate2's best row of the same case; None without one."""
    best: dict[tuple[int, str], float] = {}
    for row in rows:
        if row["system"] == "CTranslate2":
            key = row["beam"], row["case"]
            best[key] = max(best.get(key, 0.0), row["sentences_a_second"])
    return [
        row | {"times_ctranslate2": row["sentences_a_second"] / peer if (peer := best.get(key)) else None}
        for row, key in ((row, (row["beam"], row["case"])) for row in rows)
    ]


def _ensembles(trained: Sequence[Workload], plan: Plan, device: torch.device) -> list[dict[str, Any]]:
    """Return the rows of an ensemble: of the trained models if there are enough, else of one preset three times."""
    if plan.ensemble_lines == 0:
        return []
    members = trained[:MEMBERS]
    if len(members) < MEMBERS:
        members = [random_workloads(plan.ensemble_preset, plan.sentences, plan.vocabulary)[0]] * MEMBERS
    return [time_ensemble(members, plan.ensemble_lines, beam, plan.ensemble_precision, device) for beam in BEAMS]


if __name__ == "__main__":
    sys.exit(run(main))
