"""Networks with sentences to translate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from benchmarks.peer.models import RANDOM_VOCABULARY, SELF_ATTENTION, TARGET_LENGTH, random_sources
from benchmarks.peer.piece_list import made_up_vocabulary
from pocketmt.model_file import Architecture, TransformerArchitecture
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.models.search import default_maximum_length
from pocketmt.packing.decoded import read_model
from pocketmt.text.corpus import read_lines

SEED: Final = 1
WORDS_OF_RANDOM: Final = 20  # Of the 27 pieces of a random sentence: 1.35 pieces a word.


@dataclass(frozen=True)
class Workload:
    """A network, and sentences to translate.

    Attributes:
        model: name.
        architecture: of the network.
        weights: of the network, float32.
        vocabulary: serialized SentencePiece model.
        sources: piece ids without eos.
        words: number of words of all sources.
        target_length: pieces of each translation, with eos; None: the network ends them.
    """

    model: str
    architecture: Architecture
    weights: Mapping[str, Tensor]
    vocabulary: bytes
    sources: Sequence[list[int]]
    words: int
    target_length: int | None

    @property
    def decoder(self) -> str:
        """The decoder in tables."""
        if isinstance(self.architecture, TransformerArchitecture):
            return self.architecture.decoder_autoregression.replace("_", "-")
        return self.architecture.type

    def limit(self, source: Sequence[int]) -> int:
        """Return the most pieces of the translation of a source, with eos."""
        return self.target_length or default_maximum_length(len(source))


def random_workloads(name: str, sentences: int, vocabulary: int = RANDOM_VOCABULARY) -> list[Workload]:
    """Return a preset with random weights: with self-attention in its decoder, and as it is if it has another one.

    Lengths are forced, so that the speed is as if the network were trained.
    """
    whole = preset(name, vocabulary)
    architectures = [preset(name, vocabulary, "post", decoder_autoregression=SELF_ATTENTION)]
    if isinstance(whole, TransformerArchitecture) and whole.decoder_autoregression != SELF_ATTENTION:
        architectures.append(whole)
    sources = random_sources(vocabulary, sentences, SEED)
    found = []
    for architecture in architectures:
        torch.manual_seed(SEED)
        weights = make_network(architecture).state_dict()
        words = WORDS_OF_RANDOM * sentences
        made_up = made_up_vocabulary(vocabulary)
        found.append(Workload(name, architecture, weights, made_up, sources, words, TARGET_LENGTH))
    return found


def trained_workload(name: str, text: Path, sentences: int) -> Workload:
    """Return a model file or the folder of a run, with the first lines of a text, again and again if it is shorter."""
    model = read_model(name)
    lines = [line for line in read_lines(text) if line.strip()]
    lines = (lines * (sentences // len(lines) + 1))[:sentences]
    encode = model.vocabularies.source.encode
    sources = [encode(line) for line in lines]
    words = sum(len(line.split()) for line in lines)
    vocabulary = model.vocabularies.source.model
    return Workload(Path(name).stem, model.architecture, model.weights, vocabulary, sources, words, None)
