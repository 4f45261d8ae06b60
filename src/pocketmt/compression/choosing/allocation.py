"""A recipe for a size: schemes and bits of each sub-layer type, chosen by measuring this model."""

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from pocketmt.compression.choosing.budget import Allocation, Choice, least_loss_increase, least_size, pareto_frontier
from pocketmt.compression.choosing.sensitivity import scoring_tokens, validation_text
from pocketmt.compression.planning import make_plan
from pocketmt.compression.stage_context import piece_counts
from pocketmt.errors import ConfigurationError
from pocketmt.packing.contents import FLOAT32, PackingOptions, contents_of
from pocketmt.packing.encoding import encode_matrix
from pocketmt.packing.model_file import pack
from pocketmt.progress import Progress, no_progress
from pocketmt.quantization.row_groups import RowGroup, by_parameter, decode, grouped_rows, quantize
from pocketmt.recipes.matrices import kinds_of
from pocketmt.recipes.schema import LearningRate, Quantize, Recipe, Retraining, Stage, StraightThrough
from pocketmt.training.checkpoints import Weights
from pocketmt.training.configuration import Precision
from pocketmt.training.data import Corpus
from pocketmt.training.trained_model import TrainedModel
from pocketmt.training.validation import validation_loss

_BOUNDARY: Final = 64  # each tensor of the file begins at a multiple of this many bytes
# Reserve for what a compression adds to the manifest.
_MANIFEST_BYTES: Final = 512
# Reserve, as a share of an entropy-coded file: retraining moves the codes, and so changes what coding saves.
_RESERVE: Final = 0.01
_FREQUENCY_RATIOS: Final = (1, 2, 4, 8)  # r of Chung et al. 2020, algorithm 1
_RATES: Final = (3.5, 3.0, 2.5, 2.25, 2.0, 1.75, 1.5, 1.25, 1.0)  # bits a weight of entropy-coded codes
_VECTORS: Final = "vectors"
_VECTORS_ENTRY: Final = Quantize(vectors=["*"], scheme="codebook", bits=8)
# The size that is proposed if a size is too small is larger by this share and these bytes: the least is an estimate.
_MARGIN: Final = 0.05
_MARGIN_BYTES: Final = 1000
_ROUNDS: Final = 10
# Candidates that are the smallest ones of matrices of some shapes.
_SMALLEST: Final = ("binary 1 bit", "at 1 bits", "affine 4 bit per matrix")


class Choices:
    """Ways to store each sub-layer type of a model, each with its size and the increase of the loss."""

    def __init__(
        self,
        model: TrainedModel,
        make_corpus: Callable[[], Corpus],
        progress: Progress,
        *,
        entropy_coding: bool = False,
        size: int | None = None,
        about: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Quantize each part in each way without retraining, and score the network on validation text.

        With `entropy_coding`, sizes are those of coded files; `about` is the licence and the description in them.
        Raises ConfigurationError, before the corpus is made and anything is scored, if no file has at most `size`
        bytes.
        """
        self.model = model
        self.entropy_coding = entropy_coding
        self.about = about
        self.counts = piece_counts(None, model.architecture)  # The smallest ways do not need them.
        self.entries: dict[tuple[str, str], Quantize] = {}
        kinds = kinds_of(model.architecture)
        if size is not None and size < (least := self._least_file_size(kinds)):
            raise _too_small(size, least)
        self.corpus = make_corpus()
        self.counts = piece_counts(self.corpus, model.architecture)
        candidates = [(kind, *each) for kind in kinds for each in _candidates(kind, entropy_coding)]
        total = len(candidates) + 1
        self.whole = whole = _loss(model, self.corpus, {})
        self.parts: dict[str, list[Choice]] = {kind: [] for kind in kinds}
        for done, (kind, name, entry) in enumerate(candidates, start=1):
            self.entries[kind, name] = entry
            self.parts[kind].append(self._measure(name, entry, whole))
            progress(done, total)
        self.parts[_VECTORS] = self._vectors(whole)
        progress(total, total)

    def _vectors(self, whole: float) -> list[Choice]:
        """Return the ways to store biases and norms: in float32, or in 8 bits, whose size counts as zero."""
        recipe = Recipe(name=_VECTORS, stages=[Stage(quantize=[_VECTORS_ENTRY])])
        stacks = self.row_groups(recipe)
        replaced: Weights = {}
        for name, groups in stacks.items():
            quantized = quantize(groups, grouped_rows(self.model.weights, groups))
            replaced |= by_parameter(name, groups, decode(groups, quantized))
        saved = _packed_size(self, {}, recipe) - _packed_size(self, stacks, recipe)
        self.entries[_VECTORS, "8 bit"] = _VECTORS_ENTRY
        loss_increase = _loss(self.model, self.corpus, replaced) - whole
        return [Choice("32 bit", saved, 0.0), Choice("8 bit", 0, loss_increase)]

    def row_groups(self, recipe: Recipe) -> dict[str, tuple[RowGroup, ...]]:
        """Return the row groups of every matrix that a recipe quantizes."""
        plan = make_plan(recipe, self.model.architecture)
        return plan.stages[-1].row_groups(self.model.weights, self.counts)

    def loss_increase(self, recipe: Recipe) -> float:
        """Return the loss increase of the whole network, stored as a recipe says, without its retraining."""
        replaced: Weights = {}
        for name, groups in self.row_groups(recipe).items():
            weights = self.model.weights
            rows = grouped_rows(weights, groups) if groups[0].vectors else weights[name]
            replaced |= by_parameter(name, groups, decode(groups, quantize(groups, rows)))
        return _loss(self.model, self.corpus, replaced) - self.whole

    def _measure(self, name: str, entry: Quantize, whole: float) -> Choice:
        """Return the size and the loss increase of one way to store the matrices of one part."""
        size, replaced = self._store(entry)
        return Choice(name, size, _loss(self.model, self.corpus, replaced) - whole)

    def _store(self, entry: Quantize) -> tuple[int, Weights]:
        """Return the bytes of the matrices of one entry, and their weights after quantization."""
        size, replaced = 0, {}
        for matrix, groups in self.row_groups(Recipe(name="part", stages=[Stage(quantize=[entry])])).items():
            weight = self.model.weights[matrix]
            quantized = quantize(groups, weight)
            replaced[matrix] = decode(groups, quantized)
            encoded = encode_matrix(matrix, weight, groups, quantized, self.entropy_coding)
            size += sum(-(-tensor.size // _BOUNDARY) * _BOUNDARY for tensor in encoded.tensors.values())
        return size, replaced

    def _least_file_size(self, kinds: Iterable[str]) -> int:
        """Return the bytes of the smallest model file, without scoring anything."""
        smallest: dict[str, Choice] = {}
        for kind in kinds:
            entries = {name: entry for name, entry in _candidates(kind, self.entropy_coding) if name in _SMALLEST}
            name = min(entries, key=lambda name: self._store(entries[name])[0])
            self.entries[kind, name] = entries[name]
            smallest[kind] = Choice(name, 0, 0.0)
        self.entries[_VECTORS, "8 bit"] = _VECTORS_ENTRY
        allocations = [smallest, {**smallest, _VECTORS: Choice("8 bit", 0, 0.0)}]
        recipes = [self.recipe("least", Allocation(choices, 0, 0.0), None) for choices in allocations]
        return min(_file_size(self, recipe, 0.0) for recipe in recipes)

    def recipe(self, name: str, allocation: Allocation, retraining: Retraining | None) -> Recipe:
        """Return the recipe that stores each part as allocated; vectors are quantized after matrices are retrained."""
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


@dataclass(frozen=True, kw_only=True)
class Target:
    """The model file that is asked for.

    Attributes:
        size: largest size in bytes; or
        loss_increase: largest increase of the validation loss before retraining, in nats a token.
        updates: of the retraining; 0: none.
        precision: of the retraining.
        entropy_coding: whether the model file will be entropy-coded; its size is counted accordingly.
    """

    size: int | None = None
    loss_increase: float | None = None
    updates: int = 0
    precision: Precision = "float32"
    entropy_coding: bool = False


def choose_recipe(
    model: TrainedModel,
    folder: Path,
    target: Target,
    progress: Progress = no_progress,
    make_corpus: Callable[[], Corpus] | None = None,
    about: Mapping[str, str] = MappingProxyType({}),
) -> Recipe:
    """Return the recipe of the smallest increase of the loss for a size, or of the smallest size for an increase.

    Args:
        model: to compress.
        folder: of the compression; an interrupted one resumes with the recipe that it began with.
        target: what is asked for.
        progress: told how many networks are scored, of how many.
        make_corpus: returns the text on whose validation part choices are scored; None: that of the configuration.
        about: licence and description of the model file, which count.

    Raises:
        ConfigurationError: no such recipe exists, or the folder holds a compression by another recipe.
        DataError: the model has no text.
    """
    size, increase, updates = target.size, target.loss_increase, target.updates
    name = (f"size-{size}" if size is not None else f"loss-{increase:g}") + f"-updates-{updates}"
    name += "-entropy-coding" * target.entropy_coding
    begun = _begun(folder / "compression.json")
    if begun is not None and begun.name == name:
        return begun
    if begun is not None:  # It would be refused anyway, but only after every choice is scored.
        raise ConfigurationError(
            f"{folder} holds a compression by another recipe ({begun.name!r} there and {name!r} here): choose another "
            "folder, or remove this one to start again"
        )
    make_corpus = make_corpus or partial(validation_text, model)
    choices = Choices(model, make_corpus, progress, entropy_coding=target.entropy_coding, size=size, about=about)
    if size is not None:
        return recipe_of_size(choices, name, size, default_retraining(updates))
    assert increase is not None
    return recipe_of_loss(choices, name, increase, default_retraining(updates))


class _Begun(msgspec.Struct):
    """The recipe in a compression's compression.json; its other members are not read."""

    recipe: Recipe


def _begun(fingerprint: Path) -> Recipe | None:
    """Return the recipe that a folder was begun with; None if it holds none that can be read."""
    try:
        return msgspec.json.decode(fingerprint.read_bytes(), type=_Begun).recipe
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def recipe_of_size(choices: Choices, name: str, size: int, retraining: Retraining | None) -> Recipe:
    """Return the recipe with the smallest increase of the loss whose model file has at most `size` bytes.

    An entropy-coded file of retrained codes may still exceed it: its size is only known when it is written.
    Raises ConfigurationError if there is none.
    """
    smallest = pareto_frontier(choices.parts)[0]
    others = 0  # bytes of the file besides matrices, found by packing
    reserve = _RESERVE if choices.entropy_coding and retraining is not None else 0.0
    for attempt in range(_ROUNDS):
        if smallest.size + others > size:
            recipe = choices.recipe(name, smallest, retraining)
            least = _file_size(choices, recipe, reserve)
            if least <= size:
                return recipe
            raise _too_small(size, least)
        allocation = least_loss_increase(choices.parts, size - others)
        recipe = choices.recipe(name, allocation, retraining)
        packed = _file_size(choices, recipe, reserve)
        if packed <= size:
            return recipe
        # Headers differ, too: as long as the file is too large, ever smaller matrices are asked for.
        others += (packed - size) * 2 ** (attempt - 1) if others else packed - allocation.size
    raise ConfigurationError(f"no file of {size:,} bytes was found: ask for some kilobytes more")


def recipe_of_loss(choices: Choices, name: str, increase: float, retraining: Retraining | None) -> Recipe:
    """Return the recipe of a small file whose network, before retraining, raises the loss by at most `increase`.

    The sum of the increases of the parts is an estimate. As long as that of the whole network is too large, a sum is
    asked for that is smaller by the excess, but by no more than half of what is left to the smallest sum, which is
    tried last. Raises ConfigurationError if none is found.
    """
    least = pareto_frontier(choices.parts)[-1].loss_increase
    bound = max(increase, least)
    for attempt in range(1, _ROUNDS + 1):
        allocation = least_size(choices.parts, bound if attempt < _ROUNDS else least)
        recipe = choices.recipe(name, allocation, retraining)
        found = choices.loss_increase(recipe)
        if found <= increase:
            return recipe
        if allocation.loss_increase <= least:
            break
        bound = max(allocation.loss_increase - (found - increase), (allocation.loss_increase + least) / 2)
    raise ConfigurationError(
        f"no file that raises the loss by at most {increase:g} nats a token was found, and the most precise one raises "
        f"it by {found:.4f}: tolerate more"
    )


def _too_small(size: int, least: int) -> ConfigurationError:
    possible = math.ceil((least * (1 + _MARGIN) + _MARGIN_BYTES) / 1000)
    return ConfigurationError(
        f"a file of {size:,} bytes is too small for this model: it needs at least {least:,}. Ask for "
        f"--target-size {possible}kB or more, or train a smaller network"
    )


def default_retraining(updates: int) -> Retraining | None:
    """Return the retraining of such a recipe: word-level distillation, with a rate that falls to zero."""
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
    return validation_loss(model.network(replaced), corpus, scoring_tokens(model))


def _file_size(choices: Choices, recipe: Recipe, reserve: float) -> int:
    """Return the bytes of the model file that a recipe makes without its retraining, with the reserves."""
    packed = _packed_size(choices, choices.row_groups(recipe), recipe)
    return math.ceil(packed * (1 + reserve)) + _MANIFEST_BYTES


def _packed_size(choices: Choices, groups: Mapping[str, tuple[RowGroup, ...]], recipe: Recipe) -> int:
    """Return the bytes of a model file with these row groups; other matrices and vectors are in float32."""
    model = choices.model
    schemes: dict[str, str | Sequence[RowGroup]] = {**groups, "*": FLOAT32}
    facts = {"recipe": msgspec.to_builtins(recipe), "training": model.training}
    contents = contents_of(model, schemes, **facts, **choices.about)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pocketmt"
        return pack(path, contents, PackingOptions(entropy_coding=choices.entropy_coding))
