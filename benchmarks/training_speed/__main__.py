"""Speed of training, compared with Hugging Face's trainer: the same shapes, initial weights, batches and optimizer.

    python -m benchmarks.training_speed
    python -m benchmarks.training_speed --quick

Random pairs of 5 to 60 pieces, in batches of about the same number of pieces. Target tokens a second, padding not
counted, after some updates to warm up; the loss of the first and of the last update show that both learn the same.
Each ratio is to the fastest row of Hugging Face's for the same model. On a GPU, the losses of the first updates are
compared with those of the processor, too. Writes benchmarks/records/training-speed.json and prints its rows. Without a
GPU it ends in one line; `--quick` runs the same code on the processor, with a small network and no ratios to publish.
Needs transformers and accelerate, which are among the development packages.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.peer.models import RANDOM_VOCABULARY
from benchmarks.record_files import write_record
from benchmarks.training_speed.hugging_face import train_theirs
from benchmarks.training_speed.ours import train_ours
from benchmarks.training_speed.plan import TrainingPlan, random_pairs
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import Architecture
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.device.model import torch_device
from pocketmt.training.configuration import Precision

RECORD: Final = ROOT / "benchmarks" / "records" / "training-speed.json"
COLUMNS: Final = (
    "model",
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
QUICK: Final = Plan(
    presets=("tiny",),
    ways=(("float32", False), ("bfloat16-mixed", False)),
    training=TrainingPlan("torch-cpu", 200, batch_tokens=256, warm_up=1, updates=4, dropout=0.0),
    compared=0,
)


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test on the processor, no record")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else ON_GPU
    device = torch_device(plan.training.device)
    if options.quick:
        torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    compared: list[dict[str, Any]] = []
    for name in plan.presets:
        # Hugging Face's Marian has decoders with self-attention only, and biases in all attention.
        shape = {"decoder_autoregression": "self_attention", "attention_bias": True}
        architecture = preset(name, plan.training.vocabulary, "post", **shape)
        rows += _rows(name, architecture, plan)
        compared += _compared_losses(name, architecture, plan)
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    if not options.quick or options.output != RECORD:
        gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else "none"
        record = {"program": "benchmarks.training_speed", "gpu": gpu, "rows": rows, "losses": compared}
        write_record(record | {"provenance": provenance(seed=plan.training.seed)}, options.output)
    return 0


def _rows(name: str, architecture: Architecture, plan: Plan) -> list[dict[str, Any]]:
    """Return the rows of a network."""
    training, pairs = plan.training, random_pairs(plan.training)
    on_gpu = training.place.type == "cuda"
    torch.manual_seed(training.seed)
    weights = make_network(architecture).state_dict()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for precision, compiled in plan.ways:
            for system in ("Hugging Face", "PocketMT"):
                if on_gpu:
                    torch.cuda.empty_cache()
                    torch.cuda.reset_peak_memory_stats()
                if system == "PocketMT":
                    losses, rate = train_ours(architecture, weights, pairs, training, precision, compiled)
                else:
                    arguments = architecture, weights, pairs, training, precision, compiled
                    losses, rate = train_theirs(*arguments, Path(folder))
                row: dict[str, Any] = {"model": name, "system": system, "precision": precision, "compiled": compiled}
                row |= {"tokens_a_second": rate, "first_loss": losses[0], "last_loss": losses[-1]}
                rows.append(row | {"megabytes": torch.cuda.max_memory_allocated() / 1e6 if on_gpu else 0.0})
    best = max(row["tokens_a_second"] for row in rows if row["system"] == "Hugging Face")
    return [row | {"times_hugging_face": row["tokens_a_second"] / best} for row in rows]


def _compared_losses(name: str, architecture: Architecture, plan: Plan) -> list[dict[str, Any]]:
    """Return the losses of the first updates on the GPU and on the processor, without dropout."""
    if plan.compared == 0:
        return []
    torch.manual_seed(plan.training.seed)
    weights = make_network(architecture).state_dict()
    small = replace(plan.training, batch_tokens=1000, warm_up=1, updates=plan.compared, dropout=0.0)
    pairs = random_pairs(small)
    rows = []
    ways: tuple[tuple[str, Precision], ...] = (
        ("torch-cpu", "float32"),
        ("cuda", "float32"),
        ("cuda", "bfloat16-mixed"),
    )
    for device, precision in ways:
        losses, _ = train_ours(architecture, weights, pairs, replace(small, device=device), precision, False)
        rows.append({"model": name, "device": device, "precision": precision, "losses": losses})
    return rows


if __name__ == "__main__":
    sys.exit(run(main))
