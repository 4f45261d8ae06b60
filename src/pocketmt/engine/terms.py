"""Terms: texts that a translation must have if its source has certain others."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from pocketmt.engine.arguments import check_text
from pocketmt.errors import EngineError
from pocketmt.sentences.scripts import WITHOUT_SPACES
from pocketmt.text.normalization import normalize
from pocketmt.text.vocabulary import SPACE, Vocabulary

# Marks are parts of words, too: vowel signs of Indic scripts, vowel points of Hebrew and Arabic, accents.
_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_LETTER: Final = rf"(?:[^\W{WITHOUT_SPACES}]|[{_MARKS}])"
_WORD: Final = re.compile(rf"{_LETTER}+|[^\s]")
_RUN: Final = re.compile(r"\S+")
_CONTINUES_WORD: Final = re.compile(_LETTER)
_ENDS_WORD: Final = re.compile(rf"{_LETTER}$")
_WITHOUT_SPACES: Final = re.compile(f"[{WITHOUT_SPACES}]")

MOST_PIECES: Final = 64  # of a target term; the search keeps a further hypothesis for each

# Pieces of a target term, and whether no piece that continues a word may follow them.
Term = tuple[list[int], bool]


class Terms:
    """Source terms and the target terms that they require.

    Args:
        terms: target term of each source term.
        vocabulary: of the model.

    Attributes:
        targets: the normalized target terms with their pieces.

    Raises:
        TypeError: it is not a mapping of strings to strings.
        EngineError: a term has no words, a target term is too long, the vocabulary lacks a character of it, or source
            terms with the same words have different target terms.
    """

    def __init__(self, terms: Mapping[str, str], vocabulary: Vocabulary) -> None:
        if not isinstance(terms, Mapping):
            raise TypeError(f"terms must be a mapping of source terms to target terms, not {type(terms).__name__}")
        self.given = dict(terms)
        self.targets: list[tuple[str, Term]] = []
        self._targets_of: dict[tuple[str, ...], Term] = {}
        self._longest = 0  # in words
        sources: dict[tuple[str, ...], str] = {}
        for source, target in self.given.items():
            words = tuple(_WORD.findall(normalize(check_text(source, "a source term"))))
            if not words:
                raise EngineError(f"terms has the source term {source!r}, which is no text: leave it out")
            text = normalize(check_text(target, f"the target term of {source!r}"))
            term = _pieces(text, vocabulary), bool(_ENDS_WORD.search(text))
            if not term[0]:
                raise EngineError(f"terms has no target term for {source!r}: leave it out")
            if len(term[0]) > MOST_PIECES:
                raise EngineError(
                    f"the target term of {source!r} has {len(term[0])} pieces, the limit is {MOST_PIECES}: shorten it"
                )
            if self._targets_of.setdefault(words, term) != term:
                other = sources[words]
                raise EngineError(
                    f"the source terms {other!r} and {source!r} have the same words, but the target terms "
                    f"{self.given[other]!r} and {target!r}: leave one of them out"
                )
            sources[words] = source
            self.targets.append((text, term))
            self._longest = max(self._longest, len(words))
        self.word_continuations = _word_continuations(vocabulary)

    def find(self, source: str) -> list[Term]:
        """Return what the translation of a sentence must have.

        Of source terms that overlap, the longest counts, and the first of equally long ones. A term that is a part of
        another one is left out.
        """
        found = self.matched(source)
        return [term for i, term in enumerate(found) if not _is_in_others(term, found[:i], found[i + 1 :])]

    def matched(self, source: str) -> list[Term]:
        """Return the target terms of all source terms of a sentence, in the order of these, also the same twice."""
        return [term for *_, term in sorted(self._matches(_WORD.findall(normalize(source))))]

    def are_kept(self, source: str, changed: str) -> bool:
        """Whether a changed sentence still has all source terms that `find` finds in it as it was given."""
        words, left = _WORD.findall(normalize(source)), _WORD.findall(normalize(changed))
        return all(contains(left, words[start:end]) for start, end, _ in self._matches(words))

    def places(self, source: str) -> list[tuple[int, int]]:
        """Return start and end of each source term that `find` finds in a sentence, in characters as they are given."""
        words = list(_words(source))
        matches = self._matches([word for word, *_ in words])
        return [(words[start][1], words[end - 1][2]) for start, end, _ in matches]

    def _matches(self, words: Sequence[str]) -> Iterator[tuple[int, int, Term]]:
        """Yield the first word of each source term, the one after its last, and its target term."""
        taken = [False] * len(words)
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                term = self._targets_of.get(tuple(words[start : start + length]))
                if term is not None and not any(taken[start : start + length]):
                    taken[start : start + length] = [True] * length
                    yield start, start + length, term


def make_terms(terms: Mapping[str, str], vocabulary: Vocabulary) -> Terms:
    """Return `Terms`; those of the last call with this vocabulary if they are equal. Raises as `Terms` does."""
    last = _last.get(vocabulary)
    if last is None or last.given != terms:
        last = _last[vocabulary] = Terms(terms, vocabulary)
    return last


def contains(pieces: Sequence[object], part: Sequence[object]) -> bool:
    """Whether pieces or words have a part, all of it in one place."""
    return any(pieces[start : start + len(part)] == part for start in range(len(pieces) - len(part) + 1))


_last: WeakKeyDictionary[Vocabulary, Terms] = WeakKeyDictionary()
_continuations: WeakKeyDictionary[Vocabulary, list[int]] = WeakKeyDictionary()


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the normalized words of a text, with start and end in the text.

    Where normalization changes characters, a word has the place of all that is between two spaces.
    """
    for run in _RUN.finditer(text):
        normalized = normalize(run[0])
        for word in _WORD.finditer(normalized):
            start, end = word.span() if normalized == run[0] else (0, len(run[0]))
            yield word[0], run.start() + start, run.start() + end


def _is_in_others(term: Term, before: Sequence[Term], after: Sequence[Term]) -> bool:
    return any(term == other or contains(other[0], term[0]) for other in before) or any(
        len(other[0]) > len(term[0]) and contains(other[0], term[0]) for other in after
    )


def _pieces(text: str, vocabulary: Vocabulary) -> list[int]:
    """Return the pieces of a target term; in a script without spaces, those within a sentence."""
    ids = vocabulary.encode(text)
    unk = vocabulary.ids.unk
    if unk in ids:
        unknown = vocabulary.encode_as_pieces(text)[ids.index(unk)]
        raise EngineError(f"the term {text!r} has {unknown!r}, which no piece of the vocabulary has: leave it out")
    if not _WITHOUT_SPACES.match(text):
        return ids
    first = vocabulary.pieces(ids[:1])[0].removeprefix(SPACE)
    inner = [vocabulary.id(first)] if first else []
    if None in inner:
        inner = [vocabulary.id(character) for character in first]
    return ids if None in inner else [id for id in inner if id is not None] + ids[1:]


def _word_continuations(vocabulary: Vocabulary) -> list[int]:
    """Return the pieces that continue the word before them; also bytes, which may do so."""
    found = _continuations.get(vocabulary)
    if found is None:
        surfaces = vocabulary.surfaces()
        found = _continuations[vocabulary] = [
            id
            for id, surface in enumerate(surfaces)
            if surface and _CONTINUES_WORD.match(surface.decode("utf-8", "ignore") or "a")
        ]
    return found
