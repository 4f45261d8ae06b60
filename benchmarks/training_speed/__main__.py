"""Speed of training, compared with Hugging Face's trainer: the same shapes, initial weights, batches and optimizer.

    python -m benchmarks.training_speed
    python -m benchmarks.training_speed --short
    python -m benchmarks.training_speed --compiled --presets base
    python -m benchmarks.training_speed --quick

Random pairs of 5 to 60 pieces, in batches of about the same number of pieces. Target tokens a second, padding not
counted, after some updates to warm up; the loss of the first and of the last update show that both learn the same.
Each ratio is to the fastest row of Hugging Face's for the same model. Its Marian has decoders with self-attention only,
so both systems train `12-1.tiny` with one; PocketMT trains it with its SSRU, too, which is compared with those rows. On
a GPU, the losses of the first updates are compared with those of the processor, too. Writes
benchmarks/records/training-speed.json after each row, and prints the rows at the end; "complete" in the record says
whether all were measured. `--short` measures bfloat16 alone, without compilation, with half the updates; `--compiled`
measures it with compilation, too, compares no losses with the processor, and writes training-compiled.json. Without a
GPU it ends in one line; `--quick` runs the same code on the processor, with a small network and no ratios to publish.
Needs transformers and accelerate, which are among the development packages.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.gpu_record import about_gpu
from benchmarks.peer.models import RANDOM_VOCABULARY, SELF_ATTENTION
from benchmarks.record_files import GrowingRecord
from benchmarks.training_speed.hugging_face import train_theirs
from benchmarks.training_speed.ours import train_ours
from benchmarks.training_speed.plan import TrainingPlan, random_pairs
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import Architecture, TransformerArchitecture
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.device.model import torch_device
from pocketmt.training.configuration import Precision

RECORD: Final = ROOT / "benchmarks" / "records" / "training-speed.json"
COMPILED_RECORD: Final = RECORD.with_name("training-compiled.json")
COLUMNS: Final = (
    "model",
    "decoder",
    "system",
    "precision",
    "compiled",
    "tokens_a_second:,.0f=target tokens a second",
    "times_hugging_face:.2f=times Hugging Face's best",
    "megabytes:.0f=MB",
    "first_loss:.4f=first loss",
    "last_loss:.4f=last loss",
)


@dataclass(frozen=True)
class Plan:
    """What is measured: on a GPU, or for a quick look on the processor.

    Attributes:
        presets: networks.
        ways: precision, and whether layers are compiled.
        training: what is timed.
        compared: updates whose losses on the GPU and on the processor are compared.
    """

    presets: tuple[str, ...]
    ways: tuple[tuple[Precision, bool], ...]
    training: TrainingPlan
    compared: int


ON_GPU: Final = Plan(
    presets=("base", "12-1.tiny"),
    ways=(("float32", False), ("bfloat16-mixed", False), ("bfloat16-mixed", True)),
    training=TrainingPlan("cuda", RANDOM_VOCABULARY, batch_tokens=25_000, warm_up=20, updates=120, dropout=0.1),
    compared=5,
)
SHORT: Final = replace(
    ON_GPU,
    ways=(("bfloat16-mixed", False),),
    training=replace(ON_GPU.training, updates=60),
)
COMPILED: Final = replace(SHORT, ways=(("bfloat16-mixed", False), ("bfloat16-mixed", True)), compared=0)
QUICK: Final = Plan(
    presets=("6-1.nano",),
    ways=(("float32", False), ("bfloat16-mixed", False)),
    training=TrainingPlan("torch-cpu", 200, batch_tokens=256, warm_up=1, updates=4, dropout=0.0),
    compared=0,
)


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="the record (default: in benchmarks/records)")
    parser.add_argument("--presets", nargs="+", help=f"networks (default: {' '.join(ON_GPU.presets)})")
    shorter = parser.add_mutually_exclusive_group()
    shorter.add_argument("--short", action="store_true", help="bfloat16 alone, not compiled")
    shorter.add_argument("--compiled", action="store_true", help="bfloat16 alone, not compiled and compiled")
    shorter.add_argument("--quick", action="store_true", help="a smoke test on the processor, no record")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else SHORT if options.short else COMPILED if options.compiled else ON_GPU
    if options.presets is not None and not options.quick:
        plan = replace(plan, presets=tuple(options.presets))
    device = torch_device(plan.training.device)
    if options.quick:
        torch.set_num_threads(1)
    about = about_gpu("benchmarks.training_speed", device, plan.training.seed)
    path = options.output or (None if options.quick else COMPILED_RECORD if options.compiled else RECORD)
    print(plain_table(_measure(plan, GrowingRecord(path, about)), [Column.parse(each) for each in COLUMNS]))
    return 0


def _measure(plan: Plan, record: GrowingRecord) -> list[dict[str, Any]]:
    """Return the rows of all networks; the record is written after each, and after each that compares losses."""
    rows: list[dict[str, Any]] = []
    losses: list[dict[str, Any]] = []
    for name in plan.presets:
        # As the class of Hugging Face's that is trained: biases in all attention, and self-attention in the decoder.
        shape = {"decoder_autoregression": SELF_ATTENTION, "attention_bias": True}
        compared = preset(name, plan.training.vocabulary, "post", **shape)
        own = preset(name, plan.training.vocabulary, "post")
        for row in _losses(name, compared, plan):
            losses.append(row)
            record.write({"rows": rows, "losses": losses})
        finished, new = list(rows), []
        for row in _rows(name, compared, own, plan):
            new.append(row)
            rows = [*finished, *_with_ratios(new)]
            record.write({"rows": rows, "losses": losses})
    record.write({"rows": rows, "losses": losses}, complete=True)
    return rows


def _with_ratios(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to rows of one model how many times as fast they are as Hugging Face's fastest."""
    best = max(row["tokens_a_second"] for row in rows if row["system"] == "Hugging Face")
    return [row | {"times_hugging_face": row["tokens_a_second"] / best} for row in rows]


def _decoder(architecture: Architecture) -> str:
    """Return the decoder's name in tables."""
    assert isinstance(architecture, TransformerArchitecture)
    return architecture.decoder_autoregression.replace("_", "-")


def _rows(name: str, compared: Architecture, own: Architecture, plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the rows of a preset: both systems with self-attention, and PocketMT with the decoder of the preset."""
    systems = [("Hugging Face", compared), ("PocketMT", compared)]
    if _decoder(own) != _decoder(compared):
        systems.append(("PocketMT", own))
    with tempfile.TemporaryDirectory() as folder:
        for precision, compiled in plan.ways:
            for system, architecture in systems:
                yield _row(name, system, architecture, plan.training, precision, compiled, Path(folder))


def _row(
    name: str,
    system: str,
    architecture: Architecture,
    training: TrainingPlan,
    precision: Precision,
    compiled: bool,
    folder: Path,
) -> dict[str, Any]:
    """Return the row of one training; `folder`: of Hugging Face's network, kept from one row to the next."""
    on_gpu = training.place.type == "cuda"
    torch.manual_seed(training.seed)
    weights = make_network(architecture).state_dict()
    pairs = random_pairs(training)
    if on_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    if system == "PocketMT":
        losses, rate = train_ours(architecture, weights, pairs, training, precision, compiled)
    else:
        losses, rate = train_theirs(architecture, weights, pairs, training, precision, compiled, folder)
    return {
        "model": name,
        "decoder": _decoder(architecture),
        "system": system,
        "precision": precision,
        "compiled": compiled,
        "tokens_a_second": rate,
        "first_loss": losses[0],
        "last_loss": losses[-1],
        "megabytes": torch.cuda.max_memory_allocated() / 1e6 if on_gpu else 0.0,
    }


def _losses(name: str, architecture: Architecture, plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the losses of the first updates on the GPU and on the processor, without dropout."""
    if plan.compared == 0:
        return
    torch.manual_seed(plan.training.seed)
    weights = make_network(architecture).state_dict()
    small = replace(plan.training, batch_tokens=1000, warm_up=1, updates=plan.compared, dropout=0.0)
    pairs = random_pairs(small)
    ways: tuple[tuple[str, Precision], ...] = (
        ("torch-cpu", "float32"),
        ("cuda", "float32"),
        ("cuda", "bfloat16-mixed"),
    )
    for device, precision in ways:
        losses, _ = train_ours(architecture, weights, pairs, replace(small, device=device), precision, False)
        yield {"model": name, "device": device, "precision": precision, "losses": losses}


if __name__ == "__main__":
    sys.exit(run(main))
