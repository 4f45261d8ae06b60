"""Sentences of running text, for models that translate one sentence at a time, and what translations must keep."""

from pocketmt.sentences.boundaries import sentence_spans
from pocketmt.sentences.copied import Reason
from pocketmt.sentences.protected import lost_parts
from pocketmt.sentences.spans import Span, translation_spans

__all__ = ["Reason", "Span", "lost_parts", "sentence_spans", "translation_spans"]
