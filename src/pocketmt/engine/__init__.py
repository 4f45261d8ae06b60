"""Translation with a model file: the Python interface of the native engine. Needs only SentencePiece."""

from typing import TYPE_CHECKING

from pocketmt.engine.alignment import Alignment
from pocketmt.engine.bundled import bundled_models
from pocketmt.engine.checks import TranslationChecks, TranslationWarning
from pocketmt.engine.options import SearchOptions, TranslationOptions
from pocketmt.engine.results import DetailedHypothesis, Hypothesis
from pocketmt.engine.tokenizer import Tokenizer
from pocketmt.engine.translator import Translator

if TYPE_CHECKING:
    from pocketmt.engine.futures import TranslationFuture

__all__ = [
    "Alignment",
    "DetailedHypothesis",
    "Hypothesis",
    "SearchOptions",
    "Tokenizer",
    "TranslationChecks",
    "TranslationFuture",
    "TranslationOptions",
    "TranslationWarning",
    "Translator",
    "bundled_models",
]


def __getattr__(name: str) -> object:
    """Import `TranslationFuture` when it is asked for: few programs do, and its imports take time."""
    if name != "TranslationFuture":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pocketmt.engine.futures import TranslationFuture

    return TranslationFuture
