"""Scores of a network on the validation text during training."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import sacrebleu
import torch

from pocketmt.decoding.decoder import Decoder
from pocketmt.models.network import TranslationNetwork
from pocketmt.training.bleu_tokenization import Tokenization, bleu_tokenization
from pocketmt.training.data import Corpus, batches
from pocketmt.training.objectives import drop_padding, output_cross_entropy


@dataclass(frozen=True)
class Validation:
    """Scores on the validation text."""

    loss: float  # Cross-entropy without label smoothing, in nats per target token, with eos.
    bleu: float  # Cased sacreBLEU of greedy search, with the tokens that `validate` is given or chooses.
    translations: Sequence[str] = ()  # The output of greedy search, a line for each pair.

    def better_than(self, bleu: float, loss: float) -> bool:
        """Return whether BLEU is higher than another one, or equal with a lower loss."""
        return self.bleu > bleu or (self.bleu == bleu and self.loss < loss)


@torch.inference_mode()
def validate(
    model: TranslationNetwork, corpus: Corpus, token_budget: int, tokenization: Tokenization | None = None
) -> Validation:
    """Score a network on the validation pairs of a corpus.

    Args:
        model: to score.
        corpus: has the pairs.
        token_budget: limits batches.
        tokenization: of BLEU; None: as `bleu_tokenization` chooses.
    """
    loss = validation_loss(model, corpus, token_budget)
    model.eval()
    sources = corpus.validation_sources
    # A network that has diverged translates nothing: its numbers are not finite.
    outputs: list[list[int]] = [[] for _ in sources]
    if math.isfinite(loss):
        outputs = Decoder([model], token_budget).best(sources, 1, corpus.forced)
    texts = [corpus.vocabularies.target.decode(output) for output in outputs]
    references = corpus.validation_references
    tokens = tokenization or bleu_tokenization(references)
    bleu = sacrebleu.corpus_bleu(texts, [references], tokenize=tokens).score
    model.train()
    return Validation(loss, bleu, texts)


@torch.inference_mode()
def validation_loss(model: TranslationNetwork, corpus: Corpus, token_budget: int) -> float:
    """Return the cross-entropy without BLEU, which takes a fraction of the time; see `Validation.loss`."""
    model.eval()
    device = str(model.embedding.weight.device)
    loss, tokens = 0.0, 0
    for batch in batches(corpus.validation, model.architecture, token_budget, seed=0, device=device):
        decoded, targets = drop_padding(model(batch.source, batch.target_inputs), batch.targets)
        loss += float(output_cross_entropy(decoded, model.output_weight, targets, 0.0, model.output.bias))
        tokens += batch.target_tokens
    model.train()
    return loss / max(tokens, 1)
