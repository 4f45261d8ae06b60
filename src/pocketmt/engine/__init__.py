"""Translation with a model file: the Python interface of the native engine. Needs only SentencePiece."""

import atexit
from importlib import import_module
from typing import TYPE_CHECKING, Final

from pocketmt.engine.bundled import bundled_models
from pocketmt.engine.checks import TranslationChecks, TranslationWarning
from pocketmt.engine.ending import hold_daemon_threads
from pocketmt.engine.options import SearchOptions, TranslationOptions
from pocketmt.engine.tokenizer import Tokenizer
from pocketmt.engine.translator import Translator

if TYPE_CHECKING:
    from pocketmt.engine.alignment import Alignment
    from pocketmt.engine.futures import TranslationFuture
    from pocketmt.engine.results import DetailedHypothesis, Hypothesis

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

# Name -> module.
_RARELY_USED: Final = {
    "Alignment": "alignment",
    "DetailedHypothesis": "results",
    "Hypothesis": "results",
    "TranslationFuture": "futures",
}

atexit.register(hold_daemon_threads)


def __getattr__(name: str) -> object:
    """Import a name when it is asked for: few programs do, and the imports take time."""
    if name not in _RARELY_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_RARELY_USED[name]}"), name)
    return found
