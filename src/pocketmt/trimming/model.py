"""A model with trimmed vocabularies: its matrices without the rows of pieces that were cut."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import ConfigurationError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodedRows, CodesTensor, Float32, ForeignTensor, Tensor
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.text.corpus import is_plain, read_lines, read_pairs
from pocketmt.text.formats.format import Languages
from pocketmt.trimming.vocabularies import TrimmedVocabularies, keep_languages, trim_vocabularies, trimmed_fields

_OF_TARGET = ("output.weight", "output.bias")
_MOST_UNKNOWN = 0.5  # The share of unknown characters in text of other languages is larger.


@dataclass(frozen=True)
class Trimming:
    """What was cut: pieces of the source and the target before and after, and parameters in all."""

    source_pieces: tuple[int, int]
    target_pieces: tuple[int, int]
    parameters: tuple[int, int]

    def __str__(self) -> str:
        """Return one line."""
        source, target, parameters = (
            f"{before:,} to {after:,}" for before, after in (self.source_pieces, self.target_pieces, self.parameters)
        )
        pieces = f"{source} pieces" if self.source_pieces == self.target_pieces else f"{source} and {target} pieces"
        return f"vocabulary trimmed from {pieces}, the network from {parameters} parameters"


def trim_model(
    model: ForeignModel, texts: Iterable[str], languages: Sequence[str] = ()
) -> tuple[ForeignModel, Trimming]:
    """Cut the pieces that texts never have, and the languages that are not named.

    Args:
        model: whose tensors are read when they are written.
        texts: lines of all languages that stay, of the source and the target.
        languages: codes of those that stay, of a model that has several; empty: all.

    Raises:
        ConfigurationError: the model has none of the languages, or no piece of the texts.
        DataError, ModelFileError: its vocabularies are invalid.
    """
    architecture, metadata = model.architecture, model.metadata
    vocabularies = load_checked(model.vocabularies, architecture)
    pieces = metadata.language_pieces
    if languages:
        if pieces is None:
            raise ConfigurationError(
                f"the model has no language {languages[0]!r:.80} to keep: it does not have several"
            )
        pieces = keep_languages(pieces, languages)
    trimmed = trim_vocabularies(vocabularies, architecture, texts, (metadata.language_pieces, pieces))
    smaller = dataclasses.replace(architecture, **trimmed_fields(architecture, trimmed))
    tensors = {name: _rows(name, tensor, trimmed, architecture.embeddings) for name, tensor in model.tensors.items()}
    report = Trimming(
        (len(vocabularies.source), len(trimmed.source)),
        (len(vocabularies.target), len(trimmed.target)),
        (_parameters(model.tensors.values()), _parameters(tensors.values())),
    )
    shortlist = None if model.shortlist is None else _shortlist(model.shortlist, smaller, trimmed)
    return (
        dataclasses.replace(
            model,
            architecture=smaller,
            tensors=tensors,
            vocabularies=trimmed.stored,
            metadata=dataclasses.replace(metadata, language_pieces=pieces, **_defaults(model, pieces)),
            shortlist=shortlist,
            notes=(*model.notes, str(report), *_doubts(trimmed)),
        ),
        report,
    )


def _doubts(trimmed: TrimmedVocabularies) -> Iterator[str]:
    if trimmed.unknown > _MOST_UNKNOWN:
        yield (
            f"{100 * trimmed.unknown:.0f} % of the characters of the text are unknown to the vocabulary: check that it "
            "is text of the languages of the model"
        )


def trimming_to(texts: Sequence[Path], languages: Sequence[str]) -> Callable[[ForeignModel], ForeignModel]:
    """Return the trimming of a model to files of text, which raises as `trim_model` and `read_pairs` do.

    Of a parallel format, both sides are read. Without files it leaves the model as it is.
    """

    def trim(model: ForeignModel) -> ForeignModel:
        if not texts:
            return model
        metadata = model.metadata
        named = metadata.source_language and metadata.target_language and metadata.language_pieces is None
        sides = (metadata.source_language, metadata.target_language) if named else None
        return trim_model(model, chain.from_iterable(_lines(text, sides) for text in texts), languages)[0]

    return trim


def _lines(text: Path, languages: Languages | None) -> Iterator[str]:
    return read_lines(text) if is_plain(text) else chain.from_iterable(read_pairs(text, text, languages))


def _shortlist(shortlist: Shortlist, smaller: Architecture, trimmed: TrimmedVocabularies) -> Shortlist | None:
    """Return a shortlist of the pieces that stay; None: none of its frequent pieces does."""
    new = {old: id for id, old in enumerate(trimmed.target)}
    frequent, *targets = (
        [new[id] for id in ids if id in new]
        for ids in (shortlist.frequent, *(shortlist.targets[old] for old in trimmed.source))
    )
    return Shortlist(frequent, targets, listed_sides(smaller)) if frequent else None


def _defaults(model: ForeignModel, pieces: LanguagePieces | None) -> dict[str, Any]:
    """Return the languages of the model file: a default that was cut is replaced by the only one that stays, if any."""
    if pieces is None:
        return {}
    defaults: dict[str, Any] = {}
    for name, codes in (("source_language", list(pieces.source)), ("target_language", list(pieces.target))):
        if codes and getattr(model.metadata, name) not in codes:
            defaults[name] = codes[0] if len(codes) == 1 else ""
    return defaults


def _parameters(tensors: Iterable[Tensor]) -> int:
    return sum(int(np.prod(tensor.shape, dtype=np.int64)) for tensor in tensors)


def _rows(name: str, tensor: Tensor, trimmed: TrimmedVocabularies, embeddings: str) -> Tensor:
    """Return the rows of the pieces that stay, of a tensor that has a row for each piece."""
    if name == "source_embedding.weight":
        kept = trimmed.source
    elif name == "embedding.weight" or name in _OF_TARGET:
        kept = trimmed.target
    else:
        return tensor
    chosen = np.array(kept, np.int64)
    shape = (len(chosen), *tensor.shape[1:])
    if isinstance(tensor, ForeignTensor):
        return ForeignTensor(shape, lambda: _selected(tensor, chosen))
    return CodesTensor(shape, tuple(_coded(tensor, chosen)))


def _selected(tensor: ForeignTensor, chosen: NDArray[np.int64]) -> Iterator[Float32]:
    first = 0
    for block in tensor.blocks():
        here = chosen[(chosen >= first) & (chosen < first + len(block))]
        if len(here):
            yield block[here - first]
        first += len(block)


def _coded(tensor: CodesTensor, chosen: NDArray[np.int64]) -> Iterator[CodedRows]:
    first = 0
    for group in tensor.groups:
        here = chosen[(chosen >= first) & (chosen < first + group.rows)] - first
        first += group.rows
        if len(here):
            scales = group.scales if len(group.scales) == 1 else group.scales[here]
            yield CodedRows(len(here), scales, _codes(group, here))


def _codes(group: CodedRows, rows: NDArray[np.int64]) -> Callable[[], NDArray[np.int8]]:
    return lambda: group.codes()[rows]
