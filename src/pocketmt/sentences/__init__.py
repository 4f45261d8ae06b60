"""Sentences of running text: where they start and end, for models that translate one sentence at a time."""

from pocketmt.sentences.boundaries import sentence_spans

__all__ = ["sentence_spans"]
