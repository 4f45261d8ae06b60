"""Speed of decoding on a GPU, compared with CTranslate2 with the same weights on the same GPU.

    python -m benchmarks.gpu_decoding
    python -m benchmarks.gpu_decoding --models teacher1 --ensemble teacher1 teacher2 teacher3 --text news.en
    python -m benchmarks.gpu_decoding --compiled --presets base --precisions float16
    python -m benchmarks.gpu_decoding --short
    python -m benchmarks.gpu_decoding --quick

Networks with random weights, 27 tokens in and 28 out, and trained models on real text; greedy and beam 4; batches of 32
to 16,384 sentences, among them those of Behnke et al. 2021, Table 4, and one sentence at a time. The two times call the
search on ids of pieces, without the splitting of lines. Each ratio is to the best batch size and precision of
CTranslate2 for the same network in the same run; an SSRU, which CTranslate2 does not have, is compared with
self-attention. Then an ensemble, of the models that are given or of three random ones, translates a million lines.

Writes benchmarks/records/gpu-decoding.json after each row, and prints the rows at the end; "complete" in the record
says whether all were measured. `--short` measures a part in less than ten minutes on one GPU: batches of 64, 512 and
4,096 sentences, float16, bfloat16 and 8 bits, and an ensemble on 40,000 lines. Without a GPU it ends in
one line; `--quick` runs the same code on the processor, with a small network and no ratios to publish.
"""

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.command import run
from benchmarks.data import ROOT, corpus
from benchmarks.gpu_decoding.ensemble import time_ensemble
from benchmarks.gpu_decoding.plan import ON_GPU, QUICK, SHORT, Plan
from benchmarks.gpu_decoding.systems import COMPILED, Translate, ctranslate2, ours
from benchmarks.gpu_decoding.workload import SEED, Workload, random_workloads, trained_workload
from benchmarks.gpu_record import about_gpu
from benchmarks.peer.models import SELF_ATTENTION
from benchmarks.record_files import GrowingRecord
from pocketmt.errors import ConfigurationError
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


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="*", help=f"networks with random weights (default: {ON_GPU.presets})")
    parser.add_argument("--models", nargs="*", default=[], help="trained models: files or folders of runs")
    parser.add_argument("--text", type=Path, help="text for trained models (default: Multi30k's training text)")
    parser.add_argument(
        "--precisions", nargs="+", help=f"of both systems (default: {ON_GPU.precisions} and those of CTranslate2)"
    )
    parser.add_argument("--compiled", action="store_true", help="measure compiled layers, too")
    parser.add_argument("--ensemble", nargs="*", default=[], help="trained models that translate together")
    parser.add_argument(
        "--ensemble-lines",
        type=int,
        nargs=len(BEAMS),
        metavar=("GREEDY", "BEAM"),
        help="lines for the ensemble, by greedy search and with a beam; 0: none",
    )
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    shorter = parser.add_mutually_exclusive_group()
    shorter.add_argument("--short", action="store_true", help="a part, in less than ten minutes")
    shorter.add_argument("--quick", action="store_true", help="a smoke test on the processor, no record")
    options = parser.parse_args(arguments)
    plan = _plan(options)
    device = torch_device(plan.device)
    if options.quick:
        torch.set_num_threads(1)
    trained = [_trained(name, options.text, plan.sentences) for name in options.models]
    members = [_trained(name, options.text, plan.ensemble_sentences) for name in options.ensemble]
    about = about_gpu("benchmarks.gpu_decoding", device, SEED)
    path = None if options.quick and options.output == RECORD else options.output
    rows, ensembles = measure(plan, trained, members, device, GrowingRecord(path, about))
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    print(plain_table(ensembles, [Column.parse(each) for each in ENSEMBLE_COLUMNS]))
    return 0


def _plan(options: argparse.Namespace) -> Plan:
    """Return what is measured with the options of the command line."""
    plan = QUICK if options.quick else SHORT if options.short else ON_GPU
    if options.presets is not None and not options.quick:
        plan = replace(plan, presets=tuple(options.presets))
    if options.precisions is not None:
        peer = tuple(name for name in plan.peer_precisions if name in options.precisions)
        plan = replace(plan, precisions=tuple(options.precisions), peer_precisions=peer)
    if options.compiled:
        plan = replace(plan, precisions=(*plan.precisions, f"{plan.precisions[0]}{COMPILED}"))
    if options.ensemble_lines is not None:
        plan = replace(plan, ensemble_lines=tuple(options.ensemble_lines))
    return plan


def _trained(name: str, text: Path | None, sentences: int) -> Workload:
    """Return a trained model with the first sentences of a text; None: of Multi30k's training text."""
    return trained_workload(name, text or corpus("multi30k") / "train.en", sentences)


def measure(
    plan: Plan, trained: Sequence[Workload], members: Sequence[Workload], device: torch.device, record: GrowingRecord
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of all networks, and those of the ensemble; the record is written after each."""
    rows: list[dict[str, Any]] = []
    ensembles: list[dict[str, Any]] = []
    alone = ([work] for work in trained)
    presets = (random_workloads(name, plan.sentences, plan.vocabulary) for name in plan.presets)
    for works in chain(alone, presets):
        finished, new = list(rows), []
        for row in _measured(works, plan, device):
            new.append(row)
            rows = [*finished, *with_ratios(new)]
            record.write({"rows": rows, "ensembles": ensembles})
    for row in _ensembles(members, plan, device):
        ensembles.append(row)
        record.write({"rows": rows, "ensembles": ensembles})
    record.write({"rows": rows, "ensembles": ensembles}, complete=True)
    return rows, ensembles


def _measured(works: Sequence[Workload], plan: Plan, device: torch.device) -> Iterator[dict[str, Any]]:
    """Yield the rows of the same sizes of network with one decoder or two."""
    for work in works:
        if work.decoder == SELF_ATTENTION.replace("_", "-"):
            for precision in plan.peer_precisions:
                try:
                    yield from _rows(work, plan, device, ctranslate2, "CTranslate2", precision)
                except ConfigurationError as error:  # It does not have every network.
                    print(f"{work.model}: {error}", file=sys.stderr)
        for precision in plan.precisions:
            yield from _rows(work, plan, device, ours, "PocketMT", precision)


def _rows(
    work: Workload,
    plan: Plan,
    device: torch.device,
    load: Callable[[Workload, torch.device, str], Translate],
    system: str,
    precision: str,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one system: each beam and number of sentences together, and one sentence at a time."""
    gc.unfreeze()
    gc.collect()  # Networks and graphs of rows before.
    if device.type == "cuda":
        torch.cuda.empty_cache()
    before = _used_bytes(device)
    translate = load(work, device, precision)
    gc.freeze()  # A collection that visits all objects takes as long as thousands of translations.
    sources = list(work.sources)
    single = [[source] for source in sources[: plan.single_sentences]]
    for beam in BEAMS:
        # Small batches take longer for a sentence, so they translate fewer.
        cases = [("many", count, [sources[: max(LEAST_SENTENCES, 8 * count)]]) for count in plan.together]
        for case, together, calls in [*cases, ("one sentence", 1, single)]:

            def call(given: list[list[int]], beam: int = beam, together: int = together) -> object:
                return translate(given, beam, together)

            seconds, used = _times(call, calls, plan.rounds, device)
            count, median = sum(map(len, calls)), statistics.median(seconds)
            words = work.words / len(sources) * count / median
            yield {
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


def _ensembles(members: Sequence[Workload], plan: Plan, device: torch.device) -> Iterator[dict[str, Any]]:
    """Yield the rows of an ensemble: of the trained models, or without them of one preset three times."""
    if not any(plan.ensemble_lines):
        return
    if not members:
        members = [random_workloads(plan.ensemble_preset, plan.ensemble_sentences, plan.vocabulary)[0]] * MEMBERS
    for beam, lines in zip(BEAMS, plan.ensemble_lines, strict=True):
        if lines > 0:
            yield time_ensemble(members, lines, beam, plan.ensemble_precision, device)


if __name__ == "__main__":
    sys.exit(run(main))
