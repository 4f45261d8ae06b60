"""Rules of text that CTranslate2 leaves to its caller: pieces of languages, and the end of a source.

A folder that PocketMT wrote says them in `pocketmt.json`. In others they are found in the vocabulary and the decoder.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.multilingual_tokenizer import SPECIAL
from pocketmt.interop.opus_codes import opus_languages
from pocketmt.model_file.language_pieces import LanguagePieces

OWN: Final = "pocketmt.json"  # what CTranslate2 has no place for, in folders that PocketMT writes
# Of NLLB, such as deu_Latn, and of M2M100, such as __de__.
_MULTILINGUAL: Final = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}|__([a-z]{2,3}(?:_[A-Za-z]+)?)__")
_OPEN_NMT_START: Final = "<s>"


class FoundInText(NamedTuple):
    """Pieces that are found in the raw text of a side, as `StoredVocabulary` has them."""

    verbatim: tuple[str, ...] = ()
    language_codes: bool = False


class Decoder(NamedTuple):
    """What a folder says of special pieces: the decoder's first input, None if there is none, and the end of a text."""

    start: object
    starts_from_zero: bool
    eos: object


@dataclass(frozen=True, slots=True)
class TextRules:
    """Rules of text of a folder.

    Attributes:
        sides: of the source and the target.
        append_source_eos: whether the end of a text is appended to a source.
        languages: that the vocabulary shows; None: it has none, or the folder is PocketMT's, whose metadata has them.
        notes: on what is not certain.
    """

    sides: tuple[FoundInText, FoundInText]
    append_source_eos: bool
    languages: LanguagePieces | None = None
    notes: tuple[str, ...] = ()


def own_rules(folder: Path, own: dict[str, Any], shared: bool, add_source_eos: bool) -> TextRules:
    """Return the rules of a folder that PocketMT wrote; raises InteropError if they are damaged.

    Args:
        folder: for messages.
        own: content of its `pocketmt.json`.
        shared: whether both sides have one list of pieces.
        add_source_eos: that of its configuration.
    """
    source, target = (_own_side(folder, own, index) for index in (0, 0 if shared else 1))
    return TextRules((source, target), add_source_eos)


def found_rules(
    folder: Path, source: Sequence[str], target: Sequence[str], decoder: Decoder, add_source_eos: bool
) -> TextRules:
    """Return the rules of a folder that CTranslate2's converters wrote.

    Args:
        folder: for messages.
        source, target: pieces by id.
        decoder: of its configuration.
        add_source_eos: of its configuration. Converters of Hugging Face models always leave it false, because their
            callers append the end, as transformers' tokenizers do.

    Raises InteropError if there are pieces of languages, but the decoder does not show where they belong.
    """
    if (languages := opus_languages(source)) is not None:
        in_target = opus_languages(target) is not None
        coded = FoundInText(language_codes=True), FoundInText(language_codes=in_target)
        return _rules(coded, languages, decoder, add_source_eos)
    targets = {} if decoder.starts_from_zero else _codes(target)
    if not targets:
        return _rules((FoundInText(), FoundInText()), None, decoder, add_source_eos)
    if decoder.start != decoder.eos:
        raise InteropError(
            f"{folder}: the vocabulary has the piece {min(targets.values())!r:.40} of a language, but "
            f"decoder_start_token is {decoder.start!r:.40}, so that PocketMT cannot tell where such pieces belong: "
            "import the model that was converted to CTranslate2"
        )
    sources = _codes(source)
    sides = tuple(
        FoundInText((*(piece for piece in SPECIAL if piece in pieces), *codes.values()))
        for pieces, codes in ((source, sources), (target, targets))
    )
    return _rules((sides[0], sides[1]), LanguagePieces(targets, "translation", sources), decoder, add_source_eos)


def _rules(
    sides: tuple[FoundInText, FoundInText], languages: LanguagePieces | None, decoder: Decoder, add_source_eos: bool
) -> TextRules:
    """Return rules with the end of a source where models of that kind have it.

    Only Marian's decoders start from a zero embedding, and only OpenNMT's start with <s>: what OpenNMT's converters say
    of the end of a source is true. Decoders of the other models that PocketMT has are Hugging Face's or fairseq's.
    """
    if add_source_eos or (decoder.start == _OPEN_NMT_START and not decoder.starts_from_zero):
        return TextRules(sides, add_source_eos, languages)
    return TextRules(sides, True, languages, tuple(_notes(languages, decoder)))


def _notes(languages: LanguagePieces | None, decoder: Decoder) -> Iterator[str]:
    if languages is None and not decoder.starts_from_zero:
        yield (
            f"decoder_start_token is {decoder.start}, as in Hugging Face models: {decoder.eos} is appended to each "
            "source, although add_source_eos is false"
        )
    example = "" if languages is None else next(iter(languages.target.values()))
    if example.startswith("__"):
        yield (
            f"pieces of languages, such as {example}, are placed as in M2M100; SMaLL-100 places them otherwise: import "
            "it from its Hugging Face folder"
        )


def _codes(pieces: Sequence[str]) -> dict[str, str]:
    """Return the languages of M2M100 or NLLB: code -> piece."""
    found = map(_MULTILINGUAL.fullmatch, pieces)
    return {match[1] or match[0]: match[0] for match in found if match is not None}


def _own_side(folder: Path, own: dict[str, Any], index: int) -> FoundInText:
    sides = own.get("sides", [{}, {}])
    said = sides[index] if isinstance(sides, list) and index < len(sides) else None
    if isinstance(said, dict):
        verbatim, language_codes = said.get("verbatim", []), said.get("language_codes", False)
        listed = isinstance(verbatim, list) and all(isinstance(piece, str) for piece in verbatim)
        if listed and isinstance(language_codes, bool):
            return FoundInText(tuple(verbatim), language_codes)
    raise InteropError(
        f"{folder / OWN}: sides do not have lists of pieces as verbatim, or true or false as language_codes"
    )
