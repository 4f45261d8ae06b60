"""Sentences of running text, for models that translate one sentence at a time, and what translations must keep."""

from pocketmt.sentences.boundaries import sentence_spans
from pocketmt.sentences.copied import Reason
from pocketmt.sentences.protected import Numbers, Part, lost_parts
from pocketmt.sentences.spans import Span, translation_spans
from pocketmt.sentences.stand_ins import TRIES, StandIn, pieces_with_parts, with_parts, with_stand_ins

__all__ = [
    "TRIES",
    "Numbers",
    "Part",
    "Reason",
    "Span",
    "StandIn",
    "lost_parts",
    "pieces_with_parts",
    "sentence_spans",
    "translation_spans",
    "with_parts",
    "with_stand_ins",
]
