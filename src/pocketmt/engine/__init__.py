"""Translation with a model file: the Python interface of the native engine. Needs only SentencePiece."""

from pocketmt.engine.bundled import bundled_models
from pocketmt.engine.translator import Hypothesis, SearchOptions, Translator

__all__ = ["Hypothesis", "SearchOptions", "Translator", "bundled_models"]
