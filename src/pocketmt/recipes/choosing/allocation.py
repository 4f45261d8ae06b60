"""A recipe for a size: schemes and bits of each sub-layer type, chosen by what they cost this very model."""

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from pocketmt.errors import ConfigurationError
from pocketmt.models.networks import make_network
from pocketmt.recipes.choosing.budget import Allocation, Choice, least_damage, least_size, pareto_frontier
from pocketmt.recipes.choosing.sensitivity import validation_text
from pocketmt.recipes.description.matrices import kinds_of
from pocketmt.recipes.description.plan import make_plan
from pocketmt.recipes.description.schema import LearningRate, Quantize, Recipe, Retraining, Stage, StraightThrough
from pocketmt.recipes.packing.encoding import encode_matrix, stored_groups
from pocketmt.recipes.packing.entropy_coding import code_tensors
from pocketmt.recipes.packing.model_file import FLOAT32, About, pack
from pocketmt.recipes.retraining.setting import piece_counts, row_groups
from pocketmt.recipes.row_groups import RowGroup, decode, quantize
from pocketmt.recipes.trained_model import TrainedModel
from pocketmt.recipes.vectors import by_parameter, stacked
from pocketmt.training.checkpoints import Weights
from pocketmt.training.data import Corpus
from pocketmt.training.validation import validation_loss

_BOUNDARY: Final = 64  # each tensor of the file begins at a multiple
# What is kept back for what a compression writes into the manifest beside the weights.
_MANIFEST_BYTES: Final = 512
# The share of an entropy-coded file that is kept back, as retraining moves codes, and what coding gains with them.
_RESERVE: Final = 0.01
_FREQUENCY_RATIOS: Final = (1, 2, 4, 8)  # of [B2]
_RATES: Final = (3.5, 3.0, 2.5, 2.25, 2.0, 1.75, 1.5, 1.25, 1.0)  # bits a weight of entropy-coded codes
_VECTORS: Final = "vectors"
_ROUNDS: Final = 10


class Choices:
    """What each sub-layer type of a model can be stored as, what that takes and what it costs."""

    def __init__(
        self, model: TrainedModel, progress: Callable[[int, int], None], *, entropy_coding: bool = False
    ) -> None:
        """Quantize each part in each way, after training, and score the network with it on validation text.

        Sizes are those of entropy-coded codes on request. Raises DataError where the model has no text.
        """
        self.model = model
        self.entropy_coding = entropy_coding
        self.corpus = validation_text(model)
        self.counts = piece_counts(self.corpus, model.architecture.vocabulary_size)
        self.entries: dict[tuple[str, str], Quantize] = {}
        kinds = kinds_of(model.architecture)
        candidates = [(kind, *each) for kind in kinds for each in _candidates(kind, entropy_coding)]
        total = len(candidates) + 1
        whole = _loss(model, self.corpus, {})
        self.parts: dict[str, list[Choice]] = {kind: [] for kind in kinds}
        for done, (kind, name, entry) in enumerate(candidates, start=1):
            self.entries[kind, name] = entry
            self.parts[kind].append(self._measure(name, entry, whole))
            progress(done, total)
        self.parts[_VECTORS] = self._vectors(whole)
        progress(total, total)

    def _vectors(self, whole: float) -> list[Choice]:
        """Return the ways to store biases and norms: as they are, or quantized, whose size is the zero of the other."""
        entry = Quantize(vectors=["*"], scheme="codebook", bits=8)
        recipe = Recipe(name=_VECTORS, stages=[Stage(quantize=[entry])])
        stacks = row_groups(make_plan(recipe, self.model.architecture)[-1], self.counts)
        replaced: Weights = {}
        for name, groups in stacks.items():
            quantized = quantize(groups, stacked(self.model.weights, groups))
            replaced |= by_parameter(name, groups, decode(groups, quantized))
        saved = _packed_size(self, {}, recipe) - _packed_size(self, stacks, recipe)
        self.entries[_VECTORS, "8 bit"] = entry
        damage = _loss(self.model, self.corpus, replaced) - whole
        return [Choice("32 bit", saved, 0.0), Choice("8 bit", 0, damage)]

    def _measure(self, name: str, entry: Quantize, whole: float) -> Choice:
        """Return size and damage of one way to store the matrices of one part."""
        plan = make_plan(Recipe(name=name, stages=[Stage(quantize=[entry])]), self.model.architecture)[-1]
        size, replaced = 0, {}
        for matrix, groups in row_groups(plan, self.counts).items():
            weight = self.model.weights[matrix]
            quantized = quantize(groups, weight)
            replaced[matrix] = decode(groups, quantized)
            described, tensors = encode_matrix(matrix, weight, groups, quantized)
            if self.entropy_coding:
                tensors = code_tensors(tensors, {matrix: stored_groups(described, weight.shape[1])})
            size += sum(-(-len(tensor.data) // _BOUNDARY) * _BOUNDARY for tensor in tensors.values())
        return Choice(name, size, _loss(self.model, self.corpus, replaced) - whole)

    def recipe(self, name: str, allocation: Allocation, retraining: Retraining | None) -> Recipe:
        """Return the recipe that stores each part as allocated; vectors, where at all, when matrices are retrained."""
        words = ", ".join(f"{part} {choice.name}" for part, choice in allocation.choices.items())
        entries = {
            part: self.entries[part, choice.name]
            for part, choice in allocation.choices.items()
            if (part, choice.name) in self.entries
        }
        vectors = entries.pop(_VECTORS, None)
        stages = [Stage(quantize=list(entries.values()), retraining=retraining)]
        if vectors is not None:
            stages.append(Stage(name=_VECTORS, quantize=[vectors]))
        return Recipe(name=name, description=words, stages=stages)


def choose_recipe(
    model: TrainedModel,
    folder: Path,
    *,
    size: int | None = None,
    damage: float | None = None,
    updates: int = 0,
    entropy_coding: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Recipe:
    """Return the recipe of least damage for a size, or of least size for a damage.

    Args:
        model: with the configuration of its text, on whose validation part choices are scored.
        folder: of the compression; one that was stopped goes on with the recipe that it began with.
        size: most bytes of the model file; or
        damage: most nats a token that the validation loss may rise by, before retraining.
        updates: of the retraining; 0: none.
        entropy_coding: whether the model file will be entropy-coded; its bytes are counted so.
        progress: told how many networks are scored, of how many.

    Raises:
        ConfigurationError: where there is no such recipe.
        DataError: where the model has no text.
    """
    name = (f"size-{size}" if size is not None else f"loss-{damage:g}") + f"-updates-{updates}"
    name += "-entropy-coding" * entropy_coding
    begun = _begun(folder / "compression.json")
    if begun is not None and begun.name == name:
        return begun
    choices = Choices(model, progress, entropy_coding=entropy_coding)
    if size is not None:
        return recipe_of_size(choices, name, size, default_retraining(updates))
    assert damage is not None
    return choices.recipe(name, least_size(choices.parts, damage), default_retraining(updates))


class _Claim(msgspec.Struct):
    """What this room reads of a compression's compression.json."""

    recipe: Recipe


def _begun(claim: Path) -> Recipe | None:
    """Return the recipe that a folder was begun with; None where there is none that can be read."""
    try:
        return msgspec.json.decode(claim.read_bytes(), type=_Claim).recipe
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def recipe_of_size(choices: Choices, name: str, size: int, retraining: Retraining | None) -> Recipe:
    """Return the recipe of least damage whose model file has at most `size` bytes.

    An entropy-coded file of retrained codes may still exceed it: it is known when it is written alone.
    Raises ConfigurationError where there is none.
    """
    smallest = pareto_frontier(choices.parts)[0]
    others = 0  # bytes of the file that are no matrices; found by packing
    reserve = _RESERVE if choices.entropy_coding and retraining is not None else 0.0
    for attempt in range(_ROUNDS):
        if smallest.size + others > size:
            recipe = choices.recipe(name, smallest, retraining)
            least = _file_size(choices, recipe, reserve)
            if least <= size:
                return recipe
            raise ConfigurationError(
                f"a file of {size:,} bytes is too small for this model: it takes {least:,} at the least"
            )
        allocation = least_damage(choices.parts, size - others)
        recipe = choices.recipe(name, allocation, retraining)
        packed = _file_size(choices, recipe, reserve)
        if packed <= size:
            return recipe
        # Headers differ, too: where a few bytes less are never enough, more and more less are asked for.
        others += (packed - size) * 2 ** (attempt - 1) if others else packed - allocation.size
    raise ConfigurationError(f"no file of {size:,} bytes was found: ask for some kilobytes more")


def default_retraining(updates: int) -> Retraining | None:
    """Return how such a recipe is retrained: by the uncompressed model's words, at a rate that falls to zero."""
    if updates == 0:
        return None
    return StraightThrough(
        updates=updates,
        learning_rate=LearningRate(rate=5e-4, schedule="linear", warmup_updates=min(50, updates)),
        objective="word_distillation",
        dropout_scale=0.0,
        refit_every=10,
    )


def _candidates(kind: str, entropy_coding: bool) -> Iterator[tuple[str, Quantize]]:
    """Yield name and entry of each way to store a part, from the largest to the smallest."""
    yield "uniform 8 bit", Quantize(matrices=[kind], scheme="uniform", bits=8)
    for scheme in ("affine", "logarithmic"):
        for granularity in ("row", "matrix"):
            entry = Quantize(matrices=[kind], scheme=scheme, bits=4, granularity=granularity)
            yield f"{scheme} 4 bit per {granularity}", entry
    yield from _coded(kind) if entropy_coding else _uncoded(kind)


def _coded(kind: str) -> Iterator[tuple[str, Quantize]]:
    for rate in _RATES:
        entry = Quantize(matrices=[kind], scheme="entropy_constrained", bits=4, options={"rate": rate})
        yield f"at {rate:g} bits", entry


def _uncoded(kind: str) -> Iterator[tuple[str, Quantize]]:
    for scheme, widths in (("codebook", (4, 3)), ("binary", (4, 3, 2, 1))):
        for bits in widths:
            yield f"{scheme} {bits} bit", Quantize(matrices=[kind], scheme=scheme, bits=bits)
    if kind == "embedding":
        for ratio in _FREQUENCY_RATIOS:
            entry = Quantize(matrices=[kind], scheme="binary", bits=4, frequency_ratio=ratio)
            yield f"binary 4-1 bit by frequency 1:{ratio}", entry


def _loss(model: TrainedModel, corpus: Corpus, replaced: Weights) -> float:
    assert model.configuration is not None
    network = make_network(model.architecture)
    network.load_state_dict({**model.weights, **replaced})
    return validation_loss(network, corpus, model.configuration.training.batch_tokens * 4)


def _file_size(choices: Choices, recipe: Recipe, reserve: float) -> int:
    """Return the bytes of the model file that a recipe makes without its retraining, and what is kept back."""
    groups = row_groups(make_plan(recipe, choices.model.architecture)[-1], choices.counts)
    return math.ceil(_packed_size(choices, groups, recipe) * (1 + reserve)) + _MANIFEST_BYTES


def _packed_size(choices: Choices, groups: Mapping[str, tuple[RowGroup, ...]], recipe: Recipe) -> int:
    """Return the bytes of the model file whose matrices and vectors have these schemes, the others in float32."""
    model = choices.model
    schemes: dict[str, str | Sequence[RowGroup]] = {**groups, "*": FLOAT32}
    about = About(
        source_language=model.languages["source"],
        target_language=model.languages["target"],
        recipe=msgspec.to_builtins(recipe),
        training=model.training,
    )
    vocabulary = model.vocabulary_file.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pocketmt"
        coding = choices.entropy_coding
        return pack(path, model.weights, model.architecture, vocabulary, schemes, about, entropy_coding=coding)
