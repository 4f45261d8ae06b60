"""Sensitivity of each part of a network to few bits, without retraining (Chung et al. 2020, Table 1)."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import torch

from pocketmt.compression.choosing.significance import p_values
from pocketmt.compression.texts import encoder_of
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.progress import Progress, no_progress
from pocketmt.quantization import Scheme
from pocketmt.quantization.registry import SCHEMES, allowed_options, scheme_from_options
from pocketmt.quantization.row_groups import RowGroup, decode, quantize
from pocketmt.recipes.matrices import matching, matrix_names
from pocketmt.training.bleu_tokenization import WORDS, Tokenization, bleu_tokenization
from pocketmt.training.checkpoints import Weights
from pocketmt.training.configuration import Training
from pocketmt.training.data import Corpus, corpus_for
from pocketmt.training.trained_model import TrainedModel
from pocketmt.training.validation import Validation, validate

# The rows of Chung et al. 2020, Table 1: blocks, and within them the sub-layer types; those of LSTMs too.
PARTS: Final = (
    "embedding",
    "encoder",
    "encoder.self_attention",
    "encoder.feed_forward",
    "encoder.recurrent",
    "decoder",
    "decoder.self_attention",
    "decoder.cross_attention",
    "decoder.recurrent",
    "decoder.feed_forward",
    "decoder.readout",
)
BITS: Final = (4, 3, 2, 1)
SIGNIFICANT: Final = 0.05  # Smaller p-values are called significant.


@dataclass(frozen=True)
class Score:
    """The validation scores of a network with one part quantized."""

    part: str
    bits: int
    weights: int  # in the part
    loss: float  # nats a target token
    bleu: float  # greedy search
    p_value: float  # of the difference in BLEU from full precision, by the paired bootstrap


@dataclass(frozen=True)
class Sensitivity:
    """Scores of every part at every number of bits, and of the network in full precision."""

    scheme: str
    sentences: int  # validation sentences that were scored
    loss: float  # in full precision
    bleu: float  # in full precision
    scores: tuple[Score, ...]
    options: Mapping[str, object] = field(default_factory=dict)  # of the scheme
    bleu_tokenization: Tokenization = WORDS  # "char": BLEU counts characters

    def degradation(self, part: str) -> float:
        """Return the mean change of BLEU over the numbers of bits, the paper's "Avg. Deg."; a loss is negative."""
        bleu = [score.bleu for score in self.scores if score.part == part]
        return sum(bleu) / len(bleu) - self.bleu

    @property
    def is_noise(self) -> bool:
        """Whether hardly more differences in BLEU are significant than by chance, which is one in twenty."""
        significant = sum(score.p_value < SIGNIFICANT for score in self.scores)
        return significant <= 2 * SIGNIFICANT * len(self.scores)


def measure_sensitivity(
    model: TrainedModel,
    scheme: str = "binary",
    options: Mapping[str, object] | None = None,
    bits: Sequence[int] = BITS,
    sentences: int | None = None,
    progress: Progress = no_progress,
    corpus: Corpus | None = None,
) -> Sensitivity:
    """Quantize one part of a trained model at a time, and score the model on validation text.

    Args:
        model: to quantize.
        scheme: name of a scheme that is available with all the `bits`.
        options: of the scheme, e.g. {"method": "greedy"}, as in the paper.
        bits: numbers of bits to try for every part.
        sentences: use only the first ones of the validation text; None: all.
        progress: told how many networks are scored, of how many.
        corpus: whose validation part is scored; None: that of the model's configuration.

    Raises:
        ConfigurationError: unknown scheme or options, or bits that it has not.
        DataError: no configuration, or text that cannot be used.
    """
    schemes = schemes_to_try(scheme, options or {}, bits)
    corpus = first_sentences(validation_text(model) if corpus is None else corpus, sentences)
    names = matrix_names(model.architecture)
    parts = {part: matching(names, part) or matching(names, f"{part}.*") for part in PARTS}
    parts = {part: matrices for part, matrices in parts.items() if matrices}
    total = 1 + len(parts) * len(schemes)
    whole = _score(model, corpus, {})
    progress(1, total)
    scores: list[Score] = []
    outputs: list[Sequence[str]] = []
    for part, matrices in parts.items():
        for one in schemes:
            groups = (RowGroup(one),)
            replaced = {name: decode(groups, quantize(groups, model.weights[name])) for name in matrices}
            score = _score(model, corpus, replaced)
            count = sum(weight.numel() for weight in replaced.values())
            scores.append(Score(part, one.bits, count, score.loss, score.bleu, p_value=1.0))
            outputs.append(score.translations)
            progress(1 + len(scores), total)
    found = p_values(whole.translations, outputs, corpus.validation_references)
    scores = [dataclasses.replace(score, p_value=value) for score, value in zip(scores, found, strict=True)]
    count = len(corpus.validation_sources)
    tokens = bleu_tokenization(corpus.validation_references)
    return Sensitivity(scheme, count, whole.loss, whole.bleu, tuple(scores), dict(options or {}), tokens)


def schemes_to_try(name: str, options: Mapping[str, object], bits: Sequence[int]) -> list[Scheme]:
    """Return the scheme of a name with each number of bits; raises ConfigurationError as `measure_sensitivity` does."""
    if "bits" in options:
        raise ConfigurationError("sensitivity: bits are no option of the scheme here: name those to try by --bits")
    known = (allowed_options(name)["bits"] or ()) if name in SCHEMES else ()
    for each in bits:
        if known and each not in known:
            choice = ",".join(map(str, reversed(known)))
            raise ConfigurationError(f"{name}: bits is {each}, which the scheme does not have: give --bits {choice}")
    return [scheme_from_options(name, bits=each, **options) for each in bits]


def validation_text(model: TrainedModel) -> Corpus:
    """Return the text of a model's configuration; DataError if it has none."""
    if model.configuration is None:
        raise DataError(f"{model.name}: no validation text is known: give plain text by --source-text")
    if model.configuration.training.threads:
        torch.set_num_threads(model.configuration.training.threads)
    return corpus_for(model.configuration.data, encoder_of(model))


def first_sentences(corpus: Corpus, sentences: int | None) -> Corpus:
    """Return a text with only the first `sentences` of its validation part; None: all."""
    sources, references = corpus.validation_sources[:sentences], corpus.validation_references[:sentences]
    # The loss is that of pairs without a blank side.
    scored = sum(bool(source and reference.strip()) for source, reference in zip(sources, references, strict=True))
    return dataclasses.replace(
        corpus,
        validation_sources=sources,
        validation_references=references,
        validation=corpus.validation[:scored],
    )


def _score(model: TrainedModel, corpus: Corpus, replaced: Weights) -> Validation:
    return validate(model.network(replaced), corpus, scoring_tokens(model))


def scoring_tokens(model: TrainedModel) -> int:
    """Return the most pieces of a batch that is scored without gradients."""
    training = Training() if model.configuration is None else model.configuration.training
    return training.batch_tokens * 4
