"""How near the engine is to PyTorch running the same codes of the same file, on the test sets."""

from pathlib import Path

from benchmarks.multi30k.data import TESTS, lines
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import score
from pocketmt.models.search import translate
from pocketmt.recipes.reference import load_reference
from pocketmt.text.vocabulary import Vocabulary


def parity(path: Path, vocabulary: Vocabulary) -> dict[str, float]:
    """Translate both test sets by greedy search in both ways.

    Args:
        path: a model file.
        vocabulary: its own.

    Returns:
        "same_lines_percent", and "bleu_engine_minus_pytorch" of the pooled sets.
    """
    sources = [line for name in TESTS for line in lines(name, "en")]
    references = [line for name in TESTS for line in lines(name, "de")]
    engine = Translator(path).translate(sources, beam_size=1)
    outputs = translate(load_reference(path), [vocabulary.encode(source) for source in sources], beam=1)
    pytorch = [vocabulary.decode(output) for output in outputs]
    same = sum(ours == theirs for ours, theirs in zip(engine, pytorch, strict=True))
    return {
        "same_lines_percent": 100 * same / len(sources),
        "bleu_engine_minus_pytorch": score(engine, references).bleu.value - score(pytorch, references).bleu.value,
    }
