"""Speed of decoding on a GPU, compared with CTranslate2 with the same weights on the same GPU.

    python -m benchmarks.gpu_decoding
    python -m benchmarks.gpu_decoding --quick

Networks with random weights, 27 tokens in and 28 out, greedy and beam 4: many sentences at once, with several sizes of
batches, and one sentence at a time (Behnke et al. 2021, section 4.2). Each ratio is to the best batch size and
precision of CTranslate2 in the same run. Writes benchmarks/records/gpu-decoding.json and prints its rows. Without a GPU
it ends in one line; `--quick` runs the same code on the processor, with a small network and no ratios to publish.
"""

import argparse
import importlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from benchmarks.command import run
from benchmarks.peer.models import RANDOM_VOCABULARY, TARGET_LENGTH, random_sources
from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.record_files import write_record
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.interop.ctranslate2.exporting import export
from pocketmt.model_file import Architecture
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.device.model import torch_device
from pocketmt.packing.device.precision import in_precision
from pocketmt.text.vocabulary import Vocabulary

RECORD: Final = Path(__file__).parent / "records" / "gpu-decoding.json"
SEED: Final = 1
BEAMS: Final = (1, 4)
COLUMNS: Final = (
    "model",
    "system",
    "precision",
    "beam",
    "case",
    "batch_tokens=tokens of a batch",
    "sentences_a_second:.1f",
    "tokens_a_second:.0f",
    "milliseconds_a_sentence:.3f",
    "megabytes:.0f=MB",
    "times_ctranslate2:.2f=times CTranslate2's best",
)
# Translates sentences with a beam size and a number of tokens of a batch.
Translate = Callable[[list[list[int]], int, int], object]


@dataclass(frozen=True)
class Plan:
    """What is measured: on a GPU, or for a quick look on the processor."""

    device: str
    presets: tuple[str, ...]
    vocabulary: int
    precisions: tuple[str, ...]
    peer_precisions: tuple[str, ...]
    batch_tokens: tuple[int, ...]  # The sweep: source tokens of a batch, times the beam.
    sentences: int
    single_sentences: int
    rounds: int


ON_GPU: Final = Plan(
    device="cuda",
    presets=("base", "12-1.tiny", "6-2.tiny"),
    vocabulary=RANDOM_VOCABULARY,
    precisions=("float16", "bfloat16", "int8_float16"),
    peer_precisions=("float16", "int8_float16"),
    batch_tokens=(8_192, 32_768, 131_072, 524_288),
    sentences=16_384,
    single_sentences=50,
    rounds=3,
)
QUICK: Final = Plan(
    device="torch-cpu",
    presets=("tiny",),
    vocabulary=300,
    precisions=("bfloat16", "int8_float32"),
    peer_precisions=("float32",),
    batch_tokens=(512,),
    sentences=4,
    single_sentences=1,
    rounds=1,
)


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test on the processor, no record")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else ON_GPU
    device = torch_device(plan.device)
    if options.quick:
        torch.set_num_threads(1)
    rows = []
    for name in plan.presets:
        rows += _measure(name, plan, device)
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    if not options.quick or options.output != RECORD:
        gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else "none"
        record = {"program": "benchmarks.gpu_decoding", "gpu": gpu, "rows": rows, "provenance": provenance(seed=SEED)}
        write_record(record, options.output)
    return 0


def _measure(name: str, plan: Plan, device: torch.device) -> list[dict[str, Any]]:
    """Return the rows of one network."""
    # CTranslate2 has decoders with self-attention only.
    architecture = preset(name, plan.vocabulary, "post", decoder_autoregression="self_attention")
    torch.manual_seed(SEED)
    weights = make_network(architecture).state_dict()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        export(weights, architecture, made_up_vocabulary(plan.vocabulary), Path(folder))
        for precision in plan.peer_precisions:
            load_peer = partial(_ctranslate2, Path(folder), device, precision, plan.vocabulary)
            rows += _rows(plan, device, load_peer, name, "CTranslate2", precision)
    for precision in plan.precisions:
        load = partial(_ours, architecture, weights, device, precision)
        rows += _rows(plan, device, load, name, "PocketMT", precision)
    return _with_ratios(rows)


def _rows(
    plan: Plan, device: torch.device, load: Callable[[], Translate], model: str, system: str, precision: str
) -> list[dict[str, Any]]:
    """Return the rows of one system: each beam and batch size, and one sentence at a time."""
    before = _used_bytes(device)
    translate = load()
    sources = random_sources(plan.vocabulary, plan.sentences, SEED)
    rows = []
    for beam in BEAMS:
        cases: list[tuple[str, int, list[list[list[int]]]]] = [("many", each, [sources]) for each in plan.batch_tokens]
        single = [[source] for source in sources[: plan.single_sentences]]
        cases.append(("one sentence", plan.batch_tokens[0], single))
        for case, tokens, calls in cases:
            seconds, used = _times(translate, calls, beam, tokens, plan.rounds, device)
            count = sum(map(len, calls))
            median = statistics.median(seconds)
            rows.append(
                {
                    "model": model,
                    "system": system,
                    "precision": precision,
                    "beam": beam,
                    "case": case,
                    "batch_tokens": tokens,
                    "sentences_a_second": count / median,
                    "tokens_a_second": count * TARGET_LENGTH / median,
                    "milliseconds_a_sentence": 1000 * median / count,
                    "megabytes": (used - before) / 1e6,
                    "seconds": seconds,
                }
            )
    return rows


def _times(
    translate: Translate, calls: list[list[list[int]]], beam: int, tokens: int, rounds: int, device: torch.device
) -> tuple[list[float], int]:
    """Return the seconds of each round, and the largest memory in use after a round, after one round to warm up."""
    seconds, used = [], 0
    for number in range(rounds + 1):
        start = time.perf_counter()
        for sources in calls:
            translate(sources, beam, tokens)
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


def _ours(architecture: Architecture, weights: Mapping[str, Tensor], device: torch.device, precision: str) -> Translate:
    network = make_network(architecture)
    network.load_state_dict(weights)
    decoder = Decoder([in_precision(network, precision, device)])

    def translate(sources: list[list[int]], beam: int, tokens: int) -> object:
        decoder.batch_tokens = tokens
        settings = SearchSettings(beam, min_length=TARGET_LENGTH, scores=False)
        return decoder.translate([Request(source, TARGET_LENGTH) for source in sources], settings)

    return translate


def _ctranslate2(folder: Path, device: torch.device, precision: str, vocabulary: int) -> Translate:
    # Imported by name, because this dependency of benchmarks is not installed when types are checked.
    translator: Any = importlib.import_module("ctranslate2").Translator(
        str(folder), device="cpu" if device.type == "cpu" else "cuda", compute_type=precision, intra_threads=1
    )
    pieces = Vocabulary(made_up_vocabulary(vocabulary)).pieces(range(vocabulary))

    def translate(sources: list[list[int]], beam: int, tokens: int) -> object:
        return translator.translate_batch(
            [[pieces[id] for id in source] for source in sources],
            beam_size=beam,
            max_batch_size=max(1, tokens // beam),
            batch_type="tokens",
            min_decoding_length=TARGET_LENGTH,
            max_decoding_length=TARGET_LENGTH,
        )

    return translate


def _with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to our rows how many times as fast they are as CTranslate2's best row of the same case."""
    best: dict[tuple[int, str], float] = {}
    for row in rows:
        if row["system"] == "CTranslate2":
            key = row["beam"], row["case"]
            best[key] = max(best.get(key, 0.0), row["sentences_a_second"])
    return [
        row | {"times_ctranslate2": row["sentences_a_second"] / best[row["beam"], row["case"]]}
        if row["system"] == "PocketMT"
        else row | {"times_ctranslate2": 1.0}
        for row in rows
    ]


if __name__ == "__main__":
    sys.exit(run(main))
