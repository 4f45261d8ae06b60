"""Agreement of the engine with PyTorch on the same model file."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.multi30k.texts import Texts
from pocketmt.decoding.decoder import Decoder
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import score
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.reference.network import load_reference
from pocketmt.text.vocabulary import Vocabulary


def by_pytorch(model: TranslationNetwork, vocabulary: Vocabulary, sources: Sequence[str], beam: int) -> list[str]:
    """Return the translations by a network in PyTorch."""
    outputs = Decoder([model]).best([vocabulary.encode(source) for source in sources], beam)
    return [vocabulary.decode(output) for output in outputs]


def agreement(engine: Sequence[str], pytorch: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the percentage of equal lines, and the engine's BLEU minus PyTorch's."""
    same = sum(ours == theirs for ours, theirs in zip(engine, pytorch, strict=True))
    return {
        "same_lines_percent": 100 * same / len(engine),
        "bleu_engine_minus_pytorch": score(engine, *references).bleu.value - score(pytorch, *references).bleu.value,
    }


def parity(
    texts: Texts, path: Path, vocabulary: Vocabulary, network: TranslationNetwork | None = None
) -> dict[str, float]:
    """Translate all test sets by greedy search in the engine and in PyTorch; return their `agreement`.

    Args:
        texts: the corpus.
        path: the model file.
        vocabulary: its vocabulary.
        network: the network in PyTorch; None: the reference of the file, which computes with codes as the engine does.
    """
    sources, references = texts.pooled_sources(), texts.pooled_references()
    engine = Translator(path).translate(sources, beam_size=1, split=False, check=False)
    return agreement(engine, by_pytorch(network or load_reference(path), vocabulary, sources, 1), references)
