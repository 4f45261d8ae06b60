"""Sentences of running text, for models that translate one sentence at a time, and what translations must keep."""

from pocketmt.sentences.boundaries import sentence_spans
from pocketmt.sentences.copied import Reason
from pocketmt.sentences.decimals import kept_decimals
from pocketmt.sentences.lost import Numbers, lost_numbers, lost_parts
from pocketmt.sentences.numbers import NumberFormats, number_formats
from pocketmt.sentences.protected import Part
from pocketmt.sentences.spans import Span, sentences_and_marks, translation_spans
from pocketmt.sentences.stand_ins import (
    MOST_NAMES,
    TRIES,
    StandIn,
    may_help,
    pieces_of,
    pieces_with_parts,
    with_parts,
    with_stand_ins,
)

__all__ = [
    "MOST_NAMES",
    "TRIES",
    "NumberFormats",
    "Numbers",
    "Part",
    "Reason",
    "Span",
    "StandIn",
    "kept_decimals",
    "lost_numbers",
    "lost_parts",
    "may_help",
    "number_formats",
    "pieces_of",
    "pieces_with_parts",
    "sentence_spans",
    "sentences_and_marks",
    "translation_spans",
    "with_parts",
    "with_stand_ins",
]
