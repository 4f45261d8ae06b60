"""Trains a joint SentencePiece vocabulary on both sides of a corpus."""

import io
import re
from collections.abc import Iterable
from typing import Literal

import sentencepiece

from pocketmt.errors import DataError
from pocketmt.text.normalization import normalize
from pocketmt.text.vocabulary import BOS, EOS, PAD, UNK, Vocabulary

# Byte-pair encoding (Sennrich et al. 2016), or a unigram language model (Kudo 2018), which Firefox's engines need.
Segmentation = Literal["bpe", "unigram"]


def train_vocabulary(lines: Iterable[str], size: int, segmentation: Segmentation = "bpe") -> Vocabulary:
    """Train a vocabulary of `size` pieces, special pieces included, on lines of both languages.

    The result depends on the lines alone: training is deterministic. SentencePiece's own normalization is off, because
    `normalize` is applied instead. Raises DataError if the text is empty or does not allow this `size`.
    """
    buffer = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(text for text in map(normalize, lines) if text),
            model_writer=buffer,
            vocab_size=size,
            model_type=segmentation,
            normalization_rule_name="identity",
            character_coverage=1.0,
            pad_id=PAD,
            bos_id=BOS,
            eos_id=EOS,
            unk_id=UNK,
            num_threads=1,
            max_sentence_length=65536,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise DataError(_explain(str(error), size)) from error
    return Vocabulary(buffer.getvalue())


def _explain(message: str, size: int) -> str:
    limit = re.search(r"set it to a value <= (\d+)", message, re.IGNORECASE)
    if limit:
        return f"a vocabulary of {size} pieces is larger than the text allows: ask for at most {limit.group(1)}"
    if "sentences_.empty()" in message:
        return "there is no text to train a vocabulary on: every line is empty"
    if "required_chars" in message or "smaller than" in message:
        least = re.search(rf"\b{size} vs (\d+)", message)
        wanted = f"at least {least.group(1)}" if least else f"more ({message.strip()})"
        return f"a vocabulary of {size} pieces is too small for this text's characters: ask for {wanted}"
    return f"SentencePiece could not train {size} pieces on this text: {message.strip()}"
