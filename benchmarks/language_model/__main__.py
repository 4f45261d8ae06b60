"""Table 6 of Prato et al. 2020 on Multi30k: a language model in full precision and fully quantized to 8, 6 and 4 bits.

    python -m benchmarks.language_model
    python -m benchmarks.language_model --languages de en --seeds 1 2 3 --updates 6000

Sizes are the paper's (section 5.4: 2 layers, d = 200, two heads of 64, tied output, 20 sequences of 35 a batch, dropout
0.2, the best validation kept). Text and optimizer differ: the training text of Multi30k as one stream of pieces, and
Adam with a warm-up. Each bit width is quantized from the start, as in the paper, and after training the fp32 model.
Perplexities are per piece, over both test sets. The record, benchmarks/records/language-model.json, has a row for each
language and precision.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from lightning_fabric import Fabric
from torch import Tensor

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.language_model.network import LanguageModel, paper_architecture
from benchmarks.multi30k.data import TESTS, VALIDATION, lines
from benchmarks.record_files import write_record
from benchmarks.stored_size import stored_bytes
from pocketmt.compression.activations.estimation import DelayedQuantization
from pocketmt.compression.activations.fully_quantized import quantize_activations, set_quantizing
from pocketmt.compression.retraining.factory import make_trainer
from pocketmt.compression.retraining.trainer import MatrixTrainer
from pocketmt.errors import DataError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.models.dropout import Dropouts
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup, decoded_weights
from pocketmt.recipes.activations import FullQuantization
from pocketmt.recipes.schema import BATCHES, DELAY, LearningRate, StraightThrough
from pocketmt.text.vocabulary import EOS, Vocabulary
from pocketmt.text.vocabulary_training import train_vocabulary
from pocketmt.training.checkpoints import Weights
from pocketmt.training.configuration import Training
from pocketmt.training.loop import LoopSettings, Progress, TrainingLoop
from pocketmt.training.objectives import output_cross_entropy
from pocketmt.training.schedule import inverse_square_root
from pocketmt.training.steps import make_fabric, make_optimizer

SEQUENCES: Final = 20
LENGTH: Final = 35
DROPOUT: Final = 0.2
CLIP_NORM: Final = 0.25
RATE: Final = 2e-3  # at the end of the warm-up
WARMUP: Final = 300
VALIDATIONS: Final = 8  # in a training run; the paper has one an epoch
TRIALS: Final = 3  # estimates of ranges after training; validation selects the best
BITS: Final = (8, 6, 4)
# Loss in nats and perplexity, per word of WikiText-2.
PAPER: Final = {32: (5.65, 284.15), 8: (5.64, 282.67), 6: (5.64, 281.48), 4: (5.65, 284.26)}
COLUMNS: Final = (
    "language",
    "bits",
    "quantized",
    "times_smaller:.2f=smaller",
    "loss:.3f",
    "perplexity:.2f",
    "spread:.2f",
    "paper_perplexity:.2f=paper",
)


@dataclass(frozen=True)
class Text:
    """Text in one language; each part is a stream of piece ids, int64 [pieces], with EOS after each line."""

    pieces: int
    training: Tensor
    validation: Tensor
    test: Tensor


@dataclass(frozen=True)
class Trained:
    """A model as it is stored: quantized values in the matrices, frozen ranges."""

    bits: int | None  # None: full precision
    state: Weights
    size: float  # bytes
    validation_loss: float  # nats a piece


class Learner:
    """A network, with the trainers of its quantized matrices."""

    def __init__(self, text: Text, bits: int | None, updates: int, seed: int) -> None:
        """Draw the initial weights with a seed; `bits` None: nothing is quantized."""
        torch.manual_seed(seed)
        self.bits = bits
        self.network = build(text, bits, with_dropout=True)
        settings = StraightThrough(updates=updates, learning_rate=LearningRate(rate=RATE))
        matrices = {name: each for name, each in self.network.named_parameters() if bits and each.dim() == 2}
        self.groups: dict[str, tuple[RowGroup, ...]] = {
            name: (RowGroup(scheme_from_options("affine", bits=bits)),) for name in matrices
        }
        self.methods: dict[str, MatrixTrainer] = {
            name: make_trainer(settings, self.groups[name], parameter) for name, parameter in matrices.items()
        }

    def stored(self) -> tuple[Weights, float]:
        """Return copies of the quantized weights and the ranges, and their stored size in bytes."""
        quantized = {name: method.quantized() for name, method in self.methods.items()}
        now = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
        return decoded_weights(now, quantized, self.groups), stored_bytes(now, quantized, self.groups)


def main(arguments: Sequence[str]) -> int:
    """Train and score every precision; write the record and print its rows."""
    options = _options(arguments)
    origin = provenance()
    torch.set_num_threads(1)
    fabric = make_fabric(Training(accelerator="cpu"))
    rows = []
    for language in options.languages:
        text = read_text(language, options.vocabulary)
        losses: dict[tuple[int, str], list[float]] = {}
        sizes: dict[tuple[int, str], float] = {}
        for seed in options.seeds:
            for when, trained in every_precision(fabric, text, options.updates, seed):
                key = (trained.bits or 32, when)
                losses.setdefault(key, []).append(loss_of(restore(text, trained.bits, trained.state), text.test))
                sizes[key] = trained.size
                print(f"{language} seed {seed}: {key[0]} bits {when}, loss {losses[key][-1]:.4f}", file=sys.stderr)
        rows += [_row(language, key, sizes, found) for key, found in losses.items()]
    settings = {"updates": options.updates, "vocabulary": options.vocabulary, "seeds": options.seeds}
    write_record({"rows": rows, "settings": settings, "provenance": origin}, options.output)
    print(plain_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", nargs="+", default=["de"], help="languages of Multi30k: de, en, ..")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2], help="each seed trains every precision once")
    parser.add_argument("--updates", type=int, default=1400, help="updates of each training run")
    parser.add_argument("--vocabulary", type=int, default=2000, help="pieces of the vocabulary")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "benchmarks" / "records" / "language-model.json", help="the record"
    )
    return parser.parse_args(arguments)


def _row(
    language: str, key: tuple[int, str], sizes: dict[tuple[int, str], float], losses: list[float]
) -> dict[str, Any]:
    bits, when = key
    perplexities = [math.exp(loss) for loss in losses]
    return {
        "language": language,
        "bits": bits,
        "quantized": when,
        "bytes": round(sizes[key]),
        "times_smaller": sizes[32, ""] / sizes[key],
        "loss": statistics.mean(losses),
        "perplexity": statistics.mean(perplexities),
        "spread": statistics.stdev(perplexities) if len(perplexities) > 1 else None,
        "perplexities": perplexities,
        "paper_loss": PAPER[bits][0] if when != "after training" else None,
        "paper_perplexity": PAPER[bits][1] if when != "after training" else None,
    }


def read_text(language: str, pieces: int) -> Text:
    """Read one side of Multi30k, and train a vocabulary on its training lines."""
    training = lines("train", language)
    vocabulary = train_vocabulary(training, pieces)
    test = [line for name in TESTS for line in lines(name, language)]
    streams = [_stream(vocabulary, part) for part in (training, lines(VALIDATION, language), test)]
    return Text(len(vocabulary), *streams)


def _stream(vocabulary: Vocabulary, text: Sequence[str]) -> Tensor:
    return torch.tensor([piece for line in text for piece in (*vocabulary.encode(line), EOS)])


def windows(stream: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Cut a stream [pieces] into batches: inputs and targets, each [SEQUENCES, at most LENGTH].

    Each sequence continues that of the batch before; the remainder at the end is dropped. Raises DataError if the
    stream is too short for one batch of two pieces a sequence.
    """
    length = len(stream) // SEQUENCES
    if length < 2:
        raise DataError(f"a text of {len(stream)} pieces is too short for {SEQUENCES} sequences: give more text")
    columns = stream[: SEQUENCES * length].view(SEQUENCES, length)
    starts = range(0, length - 1, LENGTH)
    return [(columns[:, at : at + LENGTH][:, : length - 1 - at], columns[:, at + 1 : at + 1 + LENGTH]) for at in starts]


def every_precision(fabric: Fabric, text: Text, updates: int, seed: int) -> Iterator[tuple[str, Trained]]:
    """Yield when each model of a seed was quantized, and the model; first "" and the fp32 model."""
    full = train(fabric, text, None, updates, seed)
    yield "", full
    for bits in BITS:
        yield "from the start", train(fabric, text, bits, updates, seed)
        yield "after training", quantize_after_training(text, full, bits, seed)


def build(text: Text, bits: int | None, with_dropout: bool) -> LanguageModel:
    """Return a network with random weights, fully quantized if `bits` is given."""
    dropouts = Dropouts(DROPOUT, DROPOUT, DROPOUT) if with_dropout else None
    network = LanguageModel(paper_architecture(text.pieces), dropouts)
    if bits is not None:
        quantize_activations(network, FullQuantization(bits))
    return network


def restore(text: Text, bits: int | None, state: Weights) -> LanguageModel:
    """Return a network with the state of a trained model, in evaluation mode."""
    network = build(text, bits, with_dropout=False)
    network.load_state_dict(state)
    return network.eval()


def train(fabric: Fabric, text: Text, bits: int | None, updates: int, seed: int) -> Trained:
    """Train from random weights, quantized after DELAY updates (Prato et al. 2020, section 5.3)."""
    run = LanguageModelRun(text, bits, updates, seed)
    model, optimizer = fabric.setup(run.learner.network, make_optimizer(run.learner.network.parameters()))
    batches = [Window(*each) for each in windows(text.training)]

    def objective(window: Window) -> Tensor:
        encoded = model(window.inputs).flatten(0, 1)
        output = run.learner.network.embedding.weight
        return output_cross_entropy(encoded, output, window.targets.flatten(), smoothing=0.0)

    loop = TrainingLoop(
        fabric=fabric,
        model=model,
        optimizer=optimizer,
        objective=objective,
        batches=lambda epoch, done: (([each], each.target_tokens, at) for at, each in enumerate(batches, 1)),
        settings=LoopSettings(
            updates=updates,
            seed=seed,
            rate=lambda update: inverse_square_root(update, RATE, WARMUP),
            clip_norm=CLIP_NORM,
            validate_every=max(updates // VALIDATIONS, 1),
            checkpoint_every=updates + 1,
        ),
        hooks=run.hooks,
        progress=run.progress,
    )
    loop.train(run)
    assert run.best is not None
    return run.best


@dataclass(frozen=True)
class Window:
    """Inputs and targets, each [SEQUENCES, at most LENGTH]."""

    inputs: Tensor
    targets: Tensor

    @property
    def target_tokens(self) -> int:
        """Pieces to predict."""
        return self.targets.numel()

    def halves(self) -> list["Window"]:
        """Return the sequences in two windows, or this window if it has only one."""
        if len(self.targets) == 1:
            return [self]
        parts = zip(self.inputs.chunk(2), self.targets.chunk(2), strict=True)
        return [Window(inputs, targets) for inputs, targets in parts]


class LanguageModelRun:
    """One training: its best validation is kept in memory, and it cannot resume."""

    def __init__(self, text: Text, bits: int | None, updates: int, seed: int) -> None:
        """Draw the weights by a seed; quantization begins after a delay."""
        self.text = text
        self.bits = bits
        self.updates = updates
        self.delay = min(DELAY, updates // 2)
        self.learner = Learner(text, bits, updates, seed)
        trainers = list(self.learner.methods.values())
        self.hooks = [DelayedQuantization(self.learner.network, trainers, self.delay), *trainers]
        self.progress = Progress()
        self.best: Trained | None = None

    def validate(self) -> None:
        """Keep the model as it would be stored where its validation loss is the lowest; the delay is passed over."""
        if self.delay < self.progress.update or self.finished():
            scored = validated(self.text, self.bits, *self.learner.stored())
            self.best = scored if self.best is None else _best([self.best, scored])

    def save(self) -> None:
        """Save nothing: a training takes minutes."""

    def finished(self) -> bool:
        """Return whether all updates are done."""
        return self.progress.update >= self.updates


@torch.no_grad()
def quantize_after_training(text: Text, full: Trained, bits: int, seed: int) -> Trained:
    """Quantize a trained fp32 model; return the best of several estimates of the activation ranges."""
    batches = windows(text.training)
    learner = Learner(text, bits, 1, seed)
    learner.network.load_state_dict(full.state, strict=False)
    decoded, size = learner.stored()
    found = []
    for trial in range(TRIALS):
        network = build(text, bits, with_dropout=True)
        network.load_state_dict(decoded)
        set_quantizing(network, False)
        torch.manual_seed(seed * 1_009 + trial)
        for index in torch.randperm(len(batches))[:BATCHES].tolist():
            network(batches[index][0])
        found.append(validated(text, bits, network.state_dict(), size))
    return _best(found)


def validated(text: Text, bits: int | None, state: Weights, size: float) -> Trained:
    """Return the model with its loss on the validation text."""
    return Trained(bits, state, size, loss_of(restore(text, bits, state), text.validation))


def _best(found: Sequence[Trained]) -> Trained:
    return min(found, key=lambda each: each.validation_loss)


@torch.inference_mode()
def loss_of(network: LanguageModel, stream: Tensor) -> float:
    """Return the cross-entropy of a network in evaluation mode on a stream, in nats a piece."""
    total, pieces = 0.0, 0
    for inputs, targets in windows(stream):
        encoded = network(inputs).flatten(0, 1)
        total += float(output_cross_entropy(encoded, network.embedding.weight, targets.flatten(), smoothing=0.0))
        pieces += targets.numel()
    return total / pieces


if __name__ == "__main__":
    sys.exit(run(main))
