"""Translation with a model file: the Python interface of the native engine. Needs only SentencePiece."""

from pocketmt.engine.alignment import Alignment
from pocketmt.engine.bundled import bundled_models
from pocketmt.engine.checks import TranslationChecks, TranslationWarning
from pocketmt.engine.futures import TranslationFuture
from pocketmt.engine.options import SearchOptions, TranslationOptions
from pocketmt.engine.results import DetailedHypothesis, Hypothesis
from pocketmt.engine.tokenizer import Tokenizer
from pocketmt.engine.translator import Translator

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
