"""The networks to time, written for all engines from the same float32 weights."""

import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from benchmarks.data import ROOT
from benchmarks.multi30k.data import lines
from benchmarks.peer.files import (
    CTRANSLATE2_REMEDY,
    FORMS,
    MARIAN_REMEDY,
    MIXED,
    PEER_FORMS,
    Network,
    shortlisted_ctranslate2,
    shortlisted_ours,
    write_ctranslate2,
    write_marian,
    write_ours,
)
from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.peer.shortlists import SOURCE_EXPONENT, listed_share, random_shortlist, zipf_pieces
from benchmarks.peer.sides import Side, ctranslate2_side, marian_side
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import Architecture, TransformerArchitecture, open_model
from pocketmt.models.networks import make_network
from pocketmt.models.presets import TRANSFORMERS, preset
from pocketmt.packing.reference.network import QuantizedLinear, load_reference
from pocketmt.packing.stored_shortlist import shortlist_of
from pocketmt.text.vocabulary import BOS, SPECIAL_PIECES, Vocabulary

# As in published comparisons: 27 tokens in, and EOS; exactly 28 out.
SOURCE_LENGTH, TARGET_LENGTH = 27, 28
# Trained models end sentences themselves, within these limits.
TRAINED_LENGTHS = (1, 256)
RANDOM_VOCABULARY = 32_000
BATCHES_LISTED = 1, 32, 64  # sentences whose shortlists a record describes
SELF_ATTENTION: Final = "self_attention"


def _shape(preset: str, vocabulary: int, activation: str, **sizes: int | str) -> Architecture:
    """Return the network that a format of another toolkit describes, of the sizes of a preset."""
    options: dict[str, Any] = {
        **TRANSFORMERS[preset],
        **sizes,
        "activation": activation,
        "attention_bias": True,
        "output_bias": True,
        "first_decoder_input": "zero",
        "positions": "concatenated",
        "vocabulary_size": vocabulary,
    }
    return TransformerArchitecture(**{"norm": "post", **options})


# OPUS-MT's models of 2020, the larger ones of tc-big, and NLLB with 600 million parameters.
SHAPES: Final = {
    "opus-mt": _shape("base", 58_000, "swish"),
    "opus-mt-big": _shape("big", 58_000, "relu"),
    "nllb-600m": _shape("big", 256_000, "relu", encoder_layers=12, decoder_layers=12, norm="pre"),
}


@dataclass(frozen=True)
class Pythons:
    """The Pythons with the peers; None: without Marian."""

    ctranslate2: str
    marian: str | None = None

    def check(self) -> None:
        """Raise ConfigurationError, which says how to install it, if a Python does not run or lacks its package."""
        needed = [(self.ctranslate2, "ctranslate2", CTRANSLATE2_REMEDY)]
        if self.marian is not None:
            needed.append((self.marian, "pymarian", MARIAN_REMEDY))
        for python, package, remedy in needed:
            command = [python, "-c", f"import {package}"]
            try:
                answer = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
            except OSError as error:
                raise ConfigurationError(f"{python}: cannot be run ({error.strerror}): {remedy}") from error
            if answer.returncode != 0:
                raise ConfigurationError(f"{python} has no package {package}: {remedy}")


@dataclass(frozen=True)
class TimedModel:
    """A network on disk in all forms, and the sentences to translate."""

    name: str
    origin: str
    architecture: Architecture
    lengths: tuple[int, int]  # fewest and most target tokens of a sentence
    sentences: Sequence[Sequence[int]]  # ids without EOS
    ours: Mapping[str, Path]  # form -> model file
    peers: Mapping[str, Sequence[Side]]  # "float32" or "int8" -> the peers that support the network
    shortlist: bool = False
    listed: Mapping[int, float] | None = None  # sentences of a batch -> share of the vocabulary in their shortlists

    @property
    def label(self) -> str:
        """The name in progress messages."""
        return f"{self.name}, {self.decoder} decoder{', shortlist' if self.shortlist else ''}"

    @property
    def decoder(self) -> str:
        """The decoder in tables: "self-attention", "ssru" or "lstm"."""
        if isinstance(self.architecture, TransformerArchitecture):
            return self.architecture.decoder_autoregression.replace("_", "-")
        return self.architecture.type


def random_models(
    name: str,
    sentences: int,
    seed: int,
    folder: Path,
    pythons: Pythons,
    forms: Sequence[str] = FORMS,
    shortlist: bool = True,
) -> Iterator[TimedModel]:
    """Yield a preset with random weights in our forms, without and, if asked for, with a shortlist.

    With forced lengths, speed is as if trained.

    A preset with another decoder is first yielded with a self-attention decoder, the only one of CTranslate2, and then
    unchanged if Marian is available.
    """
    for architecture in _architectures(name, pythons):
        network = random_network(architecture, seed)
        if not shortlist:
            network = replace(network, shortlist=None)
        about = TimedModel(
            f"{name}, random weights",
            f"seed {seed}",
            network.architecture,
            (TARGET_LENGTH, TARGET_LENGTH),
            random_sources(architecture.vocabulary_size, sentences, seed),
            {},
            {},
        )
        yield from variants(about, network, folder / f"{name}-{about.decoder}", pythons, forms)


def _architectures(name: str, pythons: Pythons) -> list[Architecture]:
    """Return the network of a shape of another toolkit, or those of a preset that the peers run."""
    if name in SHAPES:
        return [SHAPES[name]]
    whole = preset(name, RANDOM_VOCABULARY)
    decoders = [SELF_ATTENTION]
    if isinstance(whole, TransformerArchitecture) and not whole.plain and pythons.marian is not None:
        decoders.append(whole.decoder_autoregression)
    return [preset(name, RANDOM_VOCABULARY, decoder_autoregression=decoder) for decoder in decoders]


def random_sources(vocabulary: int, sentences: int, seed: int) -> list[list[int]]:
    """Return sentences of `SOURCE_LENGTH` random ids by Zipf's law, without special pieces."""
    pieces = zipf_pieces(SPECIAL_PIECES, vocabulary, SOURCE_EXPONENT, random.Random(seed))
    return [list(islice(pieces, SOURCE_LENGTH)) for _ in range(sentences)]


def random_network(architecture: Architecture, seed: int) -> Network:
    """Return a network with random weights and a random shortlist that all peers support."""
    torch.manual_seed(seed)
    weights = make_network(architecture).state_dict()
    weights["embedding.weight"][BOS] = 0.0  # as in Marian
    shortlist = random_shortlist(architecture.vocabulary_size, seed)
    return Network(weights, architecture, made_up_vocabulary(architecture.vocabulary_size), shortlist)


def trained_models(model: str, sentences: int, seed: int, folder: Path, pythons: Pythons) -> Iterator[TimedModel]:
    """Yield a trained model (a path or bundled name) with sentences sampled from Multi30k's test_2016.

    If the file has a shortlist, the model is yielded without and with it. The mixed form is left out, because a model
    that was not retrained for it does not end sentences. Weights of a quantized file are decoded to float32 for all
    engines. Marian is left out, because its other position encoding would change translations and their lengths.
    """
    path = resolve_model(model)
    with open_model(path) as file:
        architecture, vocabulary = file.architecture, file.vocabulary()
        origin = "quantized file" if file.matrices else "float32 file"
        shortlist = shortlist_of(file)
    encode = Vocabulary(vocabulary).encode
    texts = lines("test_2016_flickr", "en")
    sources = [encode(line) for line in random.Random(seed).sample(texts, min(sentences, len(texts)))]
    norm = architecture.norm if isinstance(architecture, TransformerArchitecture) else "post"
    like = (name for name in TRANSFORMERS if preset(name, architecture.vocabulary_size, norm) == architecture)
    name = next(like, path.stem)
    network = Network(_float_weights(path), architecture, vocabulary, shortlist)
    about = TimedModel(f"{name}, trained", origin, architecture, TRAINED_LENGTHS, sources, {}, {})
    for timed in variants(about, network, folder / path.stem, Pythons(pythons.ctranslate2)):
        yield replace(timed, ours={form: file for form, file in timed.ours.items() if form != MIXED})


def _float_weights(path: Path) -> dict[str, Tensor]:
    """Return the parameters of a model file as float32."""
    reference = load_reference(path)
    quantized = {
        f"{name}.weight": module.weight()
        for name, module in reference.named_modules()
        if isinstance(module, QuantizedLinear)
    }
    parameters = dict(make_network(reference.architecture).named_parameters())
    found = {**quantized, **reference.state_dict()}
    return {name: found[name] for name in parameters}


def variants(
    about: TimedModel, network: Network, folder: Path, pythons: Pythons, forms: Sequence[str] = FORMS
) -> Iterator[TimedModel]:
    """Write a network for all engines; yield it without and, if it has one, with a shortlist.

    Raises ConfigurationError if a peer is missing or does not support the network.
    """
    ours = write_ours(network, folder / "ours", forms)
    marian, numbers = folder / "marian", None
    if pythons.marian is not None:
        numbers = write_marian(network, marian, pythons.marian)
    folders: dict[str, Path] = {}
    # Only Marian supports SSRUs; without Marian, the export to CTranslate2 raises the error.
    if pythons.marian is None or about.decoder == "self-attention":
        folders = write_ctranslate2(network, folder / "ctranslate2", pythons.ctranslate2)

    def peers(exported: Mapping[str, Path], shortlist: tuple[int, int] | None) -> dict[str, list[Side]]:
        found: dict[str, list[Side]] = {form: [] for form in PEER_FORMS}
        for form, path in exported.items():
            found[form].append(ctranslate2_side(form, path, pythons.ctranslate2))
        if pythons.marian is not None:
            factor = TARGET_LENGTH / (SOURCE_LENGTH + 1)
            for form in PEER_FORMS:
                found[form].append(marian_side(form, marian, pythons.marian, factor, shortlist))
        return found

    yield replace(about, ours=ours, peers=peers(folders, None))
    if network.shortlist is not None:
        listed = shortlisted_ctranslate2(folders, network.shortlist, network.pieces())
        shorter = shortlisted_ours(ours, network.shortlist)
        shares = {together: listed_share(network.shortlist, about.sentences, together) for together in BATCHES_LISTED}
        yield replace(about, ours=shorter, peers=peers(listed, numbers), shortlist=True, listed=shares)
