"""The choice of pieces that stay in a model's vocabularies, and the vocabularies of these pieces."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.text.language_tags import agreeing_tags, first_codes
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary import SPACE, Vocabularies, Vocabulary
from pocketmt.trimming.sentencepiece_model import SentencePieceModel, parse_model
from pocketmt.trimming.sentences import sentences


@dataclass(frozen=True, slots=True)
class TrimmedVocabularies:
    """Vocabularies with fewer pieces.

    Attributes:
        stored: what they are made from.
        source, target: the old id of each new id, ascending; where embeddings are shared, they are the same.
        unknown: the share of the text's characters that no piece of either side has, from 0 to 1.
    """

    stored: StoredVocabularies
    source: tuple[int, ...]
    target: tuple[int, ...]
    unknown: float


def keep_languages(pieces: LanguagePieces, codes: Iterable[str]) -> LanguagePieces:
    """Return the languages with these codes; "de" and "deu" stand for "deu_Latn", and "zh" for each of its scripts.

    Raises ConfigurationError if a code names no language, or no language of the target is left.
    """
    known = dict.fromkeys((*pieces.target, *pieces.source))
    chosen: set[str] = set()
    for code in codes:
        found = agreeing_tags(code, known)
        if not found:
            raise ConfigurationError(f"the model has no language {code!r:.80}; it has {first_codes(known)}")
        chosen.update(found)
    target, source = (
        {code: piece for code, piece in side.items() if code in chosen} for side in (pieces.target, pieces.source)
    )
    if not target or (pieces.source and not source):
        raise ConfigurationError("no language of the target or of the source would be left: keep one of each")
    return LanguagePieces(target, pieces.target_place, source)


def trim_vocabularies(
    vocabularies: Vocabularies,
    architecture: Architecture,
    texts: Iterable[str],
    languages: tuple[LanguagePieces | None, LanguagePieces | None] = (None, None),
) -> TrimmedVocabularies:
    """Cut pieces that texts never have.

    Kept are: the pieces that either side divides the texts or their sentences into, the single characters of these
    pieces, special pieces, bytes, and the pieces of languages that stay.

    Args:
        vocabularies: of the model.
        architecture: of the model; where its embeddings are shared, both sides keep the same pieces.
        texts: lines of all languages that stay.
        languages: of the model before and after.

    Raises ConfigurationError if the texts have no pieces of a side, but for unknown text, bytes and spaces.
    """
    sides = [vocabularies.source] if vocabularies.shared else [vocabularies.source, vocabularies.target]
    used, unknown = _used(sides, texts)
    cut = _language_pieces(languages[0]) - _language_pieces(languages[1])
    of_languages = _language_pieces(languages[1])
    ids = [_kept_ids(side, pieces, of_languages, cut) for side, pieces in zip(sides, used, strict=True)]
    if architecture.embeddings == "shared" and len(ids) == 2:
        ids = [ids[0] | ids[1]] * 2
    models = [_model(side, pieces, kept) for side, pieces, kept in zip(sides, used, ids, strict=True)]
    order = [tuple(sorted(kept)) for kept in ids]
    stored = [
        _stored(side, model, kept, of_languages, cut) for side, model, kept in zip(sides, models, order, strict=True)
    ]
    return TrimmedVocabularies(StoredVocabularies(*stored), order[0], order[-1], unknown)


def _used(sides: Sequence[Vocabulary], texts: Iterable[str]) -> tuple[list[set[str]], float]:
    """Return the pieces that each side divides lines and their sentences into, and their characters.

    Without spaces between sentences, those that a sentence begins with can be no pieces of the line. The number is the
    share of unknown characters. A line counts for the side that knows most of it: each side may have its own language.
    """
    used: list[set[str]] = [set() for _ in sides]
    known = [_pieces_of_text(side) for side in sides]
    characters = unknown = 0
    for line in texts:
        parts = {*sentences(line)} - {line}
        counts = []
        for side, pieces, of_text in zip(sides, used, known, strict=True):
            divided = side.encode_as_pieces(line)
            pieces.update(divided)
            for part in parts:
                pieces.update(side.encode_as_pieces(part))
            lacking = _length(side.decode_pieces([piece for piece in divided if piece not in of_text]))
            counts.append((lacking, lacking + _length("".join(piece for piece in divided if piece in of_text))))
        best = min(counts)
        unknown, characters = unknown + best[0], characters + best[1]
    names = ("",) if len(sides) == 1 else ("source ", "target ")
    for name, pieces, of_text in zip(names, used, known, strict=True):
        if not pieces & of_text:
            raise ConfigurationError(
                f"the text has no pieces of the {name}vocabulary: give text of the languages that stay"
            )
        pieces |= {character for piece in pieces for character in piece}
    return used, unknown / max(characters, 1)


def _pieces_of_text(side: Vocabulary) -> frozenset[str]:
    """Return the pieces that stand for text: no special ones, no bytes, which are for all languages, and no space."""
    others = {piece.text for piece in parse_model(side.model).pieces if not piece.is_text}
    return frozenset(side.pieces(id for id in range(len(side)) if id not in side.special)) - others - {SPACE}


def _length(text: str) -> int:
    """Return the number of characters, without spaces."""
    return len(text.replace(SPACE, "").replace(" ", ""))


def _language_pieces(languages: LanguagePieces | None) -> frozenset[str]:
    return frozenset() if languages is None else frozenset((*languages.target.values(), *languages.source.values()))


def _kept_ids(side: Vocabulary, used: Set[str], of_languages: Set[str], cut: Set[str]) -> frozenset[int]:
    model = parse_model(side.model)
    always = {piece.text for piece in model.pieces if piece.is_always_kept}
    names = (used | always | of_languages | set(side.stored.verbatim)) - cut
    found = (side.id(piece) for piece in names)
    return frozenset(id for id in (*found, *side.ids) if id is not None)


def _model(side: Vocabulary, used: Set[str], kept: Set[int]) -> SentencePieceModel:
    """Return the SentencePiece model with the pieces that are kept, and those that the table never had but texts do."""
    return parse_model(side.model).restricted(used | set(side.pieces(sorted(kept))))


def _stored(
    side: Vocabulary, model: SentencePieceModel, kept: Sequence[int], of_languages: Set[str], cut: Set[str]
) -> StoredVocabulary:
    """Return a vocabulary with the old ids `kept`, in their order."""
    names = side.pieces(kept)
    verbatim = tuple(piece for piece in side.stored.verbatim if piece not in cut)
    own = [piece.text for piece in model.pieces]
    table = None if side.stored.pieces is None and own == names else tuple(names)
    return replace(side.stored, model=model.serialized(), pieces=table, verbatim=verbatim)


def trimmed_fields(architecture: Architecture, trimmed: TrimmedVocabularies) -> dict[str, Any]:
    """Return the fields of an architecture that change with its vocabularies."""
    source, target = ({old: new for new, old in enumerate(side)} for side in (trimmed.source, trimmed.target))
    fields: dict[str, Any] = {"vocabulary_size": len(target)}
    if architecture.source_vocabulary_size or (architecture.embeddings == "separate" and len(source) != len(target)):
        fields["source_vocabulary_size"] = len(source)
    for name in ("pad_id", "bos_id", "eos_id", "unk_id"):
        old = getattr(architecture, name)
        fields[name] = None if old is None else target[old]
    if architecture.vocabularies == "separate":
        own = architecture.source_special_ids
        special = {"pad": own.pad, "eos": own.eos, "unk": own.unk}
        fields |= {f"source_{name}_id": source[id] for name, id in special.items() if id is not None}
    fields["banned_ids"] = tuple(sorted(target[id] for id in architecture.banned_ids if id in target))
    return fields
