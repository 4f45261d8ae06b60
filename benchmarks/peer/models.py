"""The networks that are timed, each written for both sides from the same float32 weights."""

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from torch import Tensor

from benchmarks.multi30k.data import lines
from benchmarks.peer.child_process import ROOT, child_environment
from benchmarks.peer.piece_list import made_up_vocabulary
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import Architecture, TransformerArchitecture, open_model
from pocketmt.models.networks import make_network
from pocketmt.models.presets import TRANSFORMERS, preset
from pocketmt.recipes.packing.model_file import About, pack
from pocketmt.recipes.reference.network import QuantizedLinear, load_reference
from pocketmt.text.vocabulary import SPECIAL_PIECES, Vocabulary

SCHEMES = ("float32", "uniform8", "logarithmic4")
# The shape of the published comparisons: 27 words in, and eos; 28 out, whatever the weights would rather say.
SOURCE_LENGTH, TARGET_LENGTH = 27, 28
# A trained model ends its sentences itself; one that it does not end is cut here.
TRAINED_LENGTHS = (1, 256)
RANDOM_VOCABULARY = 32_000


@dataclass(frozen=True)
class TimedModel:
    """A network on disk in every form, and the sentences that it translates."""

    name: str
    origin: str
    architecture: Architecture
    lengths: tuple[int, int]  # fewest and most target tokens of a sentence, the same for both sides
    sentences: Sequence[Sequence[int]]  # ids without eos
    peer: Mapping[str, Path]  # "float32" or "int8" -> CTranslate2 folder
    ours: Mapping[str, Path]  # scheme -> model file


def random_model(name: str, sentences: int, seed: int, folder: Path, peer_python: str) -> TimedModel:
    """Return a preset with random weights: as fast as a trained one, its words noise of a forced length."""
    architecture = preset(name, RANDOM_VOCABULARY)
    torch.manual_seed(seed)
    weights = make_network(architecture).state_dict()
    vocabulary = made_up_vocabulary(RANDOM_VOCABULARY)
    chance = random.Random(seed)
    sources = [
        [chance.randrange(SPECIAL_PIECES, RANDOM_VOCABULARY) for _ in range(SOURCE_LENGTH)] for _ in range(sentences)
    ]
    peer, ours = _write(weights, architecture, vocabulary, folder / name, peer_python)
    return TimedModel(
        f"{name}, random weights", f"seed {seed}", architecture, (TARGET_LENGTH, TARGET_LENGTH), sources, peer, ours
    )


def trained_model(model: str, sentences: int, seed: int, folder: Path, peer_python: str) -> TimedModel:
    """Return a trained model (a path or bundled name) with sentences drawn from Multi30k's test_2016.

    Weights of a quantized file are decoded first: both sides then start from those same float32 numbers.
    """
    path = resolve_model(model)
    with open_model(path) as file:
        architecture, vocabulary = file.architecture, file.vocabulary()
        stored = "quantized" if file.matrices else "float32"
    encode = Vocabulary.from_bytes(vocabulary).encode
    texts = lines("test_2016_flickr", "en")
    sources = [encode(line) for line in random.Random(seed).sample(texts, min(sentences, len(texts)))]
    norm = architecture.norm if isinstance(architecture, TransformerArchitecture) else "post"
    like = (name for name in TRANSFORMERS if preset(name, architecture.vocabulary_size, norm) == architecture)
    name = next(like, path.stem)
    peer, ours = _write(_float_weights(path), architecture, vocabulary, folder / "trained", peer_python)
    return TimedModel(f"{name}, trained", f"{stored} file", architecture, TRAINED_LENGTHS, sources, peer, ours)


def _float_weights(path: Path) -> dict[str, Tensor]:
    """Return the parameters of a model file by their names, as float32."""
    reference = load_reference(path)
    quantized = {
        f"{name}.weight": module.weight()
        for name, module in reference.named_modules()
        if isinstance(module, QuantizedLinear)
    }
    parameters = dict(make_network(reference.architecture).named_parameters())
    found = {**quantized, **reference.state_dict()}
    return {name: found[name] for name in parameters}


def _write(
    weights: Mapping[str, Tensor], architecture: Architecture, vocabulary: bytes, folder: Path, peer_python: str
) -> tuple[dict[str, Path], dict[str, Path]]:
    """Write CTranslate2's folders, by its own Python, and our model files."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    exchange = folder / "weights.npz"
    numpy.savez(
        exchange,
        architecture=numpy.array(json.dumps(architecture.to_json())),
        vocabulary=numpy.frombuffer(vocabulary, dtype=numpy.uint8),
        **arrays,  # type: ignore[arg-type]
    )
    command = [peer_python, "-m", "benchmarks.peer.run_ctranslate2", "export", str(exchange), str(folder)]
    try:
        subprocess.run(command, cwd=ROOT, env=child_environment({}, peer_python), check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConfigurationError(
            f"{peer_python} could not export to CTranslate2 ({error}): install the peer in it by "
            "`pip install -r benchmarks/requirements.lock`, or name another Python by --peer-python"
        ) from error
    exchange.unlink()
    peer = {form: folder / form for form in ("float32", "int8")}
    ours = {scheme: folder / f"{scheme}.pocketmt" for scheme in SCHEMES}
    for scheme, path in ours.items():
        about = About(source_language="en", target_language="de", description="for benchmarks/peer")
        pack(path, weights, architecture, vocabulary, scheme, about)
    return peer, ours
