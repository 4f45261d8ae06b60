"""How good a model is on the validation text, while it trains."""

from dataclasses import dataclass

import sacrebleu
import torch

from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import translate
from pocketmt.training.data import Corpus, batches
from pocketmt.training.objectives import drop_padding, output_cross_entropy


@dataclass(frozen=True)
class Validation:
    """Scores on the validation text."""

    loss: float  # cross-entropy in nats a target token, eos counted, no smoothing
    bleu: float  # sacreBLEU, cased, greedy search


@torch.inference_mode()
def validate(model: TranslationNetwork, corpus: Corpus, token_budget: int) -> Validation:
    """Score `model` on the corpus's validation pairs."""
    loss = validation_loss(model, corpus, token_budget)
    model.eval()
    outputs = translate(model, corpus.validation_sources, beam=1, batch_tokens=token_budget)
    texts = [corpus.vocabulary.decode(output) for output in outputs]
    bleu = sacrebleu.corpus_bleu(texts, [corpus.validation_references]).score
    model.train()
    return Validation(loss, bleu)


@torch.inference_mode()
def validation_loss(model: TranslationNetwork, corpus: Corpus, token_budget: int) -> float:
    """Return the cross-entropy alone, which takes a fraction of the time."""
    model.eval()
    device = str(model.embedding.weight.device)
    loss, tokens = 0.0, 0
    for batch in batches(corpus.validation, token_budget, seed=0, device=device):
        decoded, targets = drop_padding(model(batch.source, batch.target_inputs), batch.targets)
        loss += float(output_cross_entropy(decoded, model.embedding.weight, targets, smoothing=0.0))
        tokens += batch.target_tokens
    model.train()
    return loss / max(tokens, 1)
