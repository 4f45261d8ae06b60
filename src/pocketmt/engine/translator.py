"""The Translator class: translation of text with a model file."""

import os
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, TypedDict, Unpack

from pocketmt.engine import _native
from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.loading import load_model
from pocketmt.engine.segmentation import encode_line
from pocketmt.errors import EngineError

DEFAULT_BEAM_SIZE: Final = 4
CHUNKS_READ_AHEAD: Final = 2
LINES_AT_ONCE: Final = 256  # a good chunk size for long texts
HIGHEST_NUMBER: Final = (1 << 31) - 1
MOST_WORKERS: Final = 1024


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A translation and its score: its log-probability / length ** length_penalty."""

    text: str
    score: float


class SearchOptions(TypedDict, total=False):
    """Options of the search for translations.

    Attributes:
        beam_size: hypotheses kept at each step (default 4); 1 is greedy search.
        length_penalty: exponent of the length by which log-probabilities are divided (default 1.0).
        max_length: most target pieces, including eos (default: 2 x source pieces + 20).
        min_length: eos is not generated before this many pieces (default 0).
        shortlist: whether to use the file's lexical shortlist, which limits a translation to probable pieces and makes
            the search faster (default True; no effect if the file has none).
    """

    beam_size: int
    length_penalty: float
    max_length: int | None
    min_length: int
    shortlist: bool


class Translator:
    """A model ready to translate. May be used from several threads at once.

    Args:
        model: path of a model file, or the name of a bundled model.
        workers: how many threads compute at once; they share one copy of the weights.
        pin_workers: whether each worker computes on a separate core.
        instruction_set: "avx512_vnni", "avx_vnni", "avx2", "neon_dot_product" or "portable"; None: this CPU's best.
        longest_segment: in pieces; a longer line is translated in segments, joined by a space (see `encode_line`).

    Raises:
        ModelFileError: there is no such model, or the file is broken.
        EngineError: an argument is out of range, or the CPU lacks the instruction set.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        workers: int = 1,
        pin_workers: bool = False,
        instruction_set: str | None = None,
        longest_segment: int = 200,
    ) -> None:
        if not 1 <= workers <= MOST_WORKERS:
            raise EngineError(f"workers is {workers}, it must be from 1 to {MOST_WORKERS}")
        if longest_segment < 1:
            raise EngineError(f"longest_segment is {longest_segment}, it must be at least 1")
        loaded = load_model(resolve_model(model), workers, pin_workers, instruction_set)
        self._model, self._vocabulary, self.manifest = loaded
        self._longest_segment = longest_segment
        self.workers = workers

    @property
    def instruction_set(self) -> str:
        """Name of the instruction set whose kernels run."""
        return self._model.instruction_set

    def translate(self, lines: Sequence[str], **options: Unpack[SearchOptions]) -> list[str]:
        """Return the translation of each line; that of a line without text is empty.

        Raises EngineError if an option is out of range.
        """
        return self._submit(lines, _native_options(options)).texts()

    def translate_n_best(
        self, lines: Sequence[str], n_best: int, **options: Unpack[SearchOptions]
    ) -> list[list[Hypothesis]]:
        """Return up to `n_best` (at most the beam size) translations of each line with scores, best first.

        For a line translated in segments, the i-th translation joins the i-th of each segment and has their mean score.
        A line without text has one empty translation of score 0. Raises EngineError if an option is out of range.
        """
        return self._submit(lines, _native_options(options, n_best, scores=True)).hypotheses()

    def translate_stream(
        self, lines: Iterable[str], *, read_ahead: int = 512, **options: Unpack[SearchOptions]
    ) -> Iterator[str]:
        """Yield the translation of each line, in order, while reading at most `read_ahead` lines ahead.

        Lines that are read ahead are translated together, so a larger `read_ahead` is faster. If the source waits for
        an answer before it gives the next line, `read_ahead` must be 1: each line is then answered before the next is
        read. For a source that knows how many lines are available, see `translate_chunks`.
        """
        if read_ahead < 1:
            raise EngineError(f"read_ahead is {read_ahead}, it must be at least 1")
        remaining = iter(lines)
        chunk_size = -(-read_ahead // CHUNKS_READ_AHEAD)
        chunks = iter(lambda: list(islice(remaining, chunk_size)), [])
        ahead = CHUNKS_READ_AHEAD - 1 if read_ahead > 1 else 0
        return chain.from_iterable(self._translate_chunks(chunks, ahead, _native_options(options)))

    def translate_chunks(
        self, chunks: Iterable[Sequence[str]], **options: Unpack[SearchOptions]
    ) -> Iterator[list[str]]:
        """Yield the translations of each chunk of lines, in order, while the chunk after it is read.

        For an empty chunk nothing is yielded, but all earlier chunks are answered before the next chunk is read. So a
        source that waits for more input should first give an empty chunk. Raises EngineError if an option is out of
        range.
        """
        return self._translate_chunks(chunks, CHUNKS_READ_AHEAD - 1, _native_options(options))

    def translate_ids(self, sources: Sequence[Sequence[int]], **options: Unpack[SearchOptions]) -> list[list[int]]:
        """Return the best translation of each source, as piece ids without bos and eos; sources are not segmented.

        Raises EngineError if an id or option is out of range.
        """
        return [hypotheses[0][0] for hypotheses in self._model.translate(sources, _native_options(options))]

    def logits(self, source: Sequence[int], target: Sequence[int]) -> list[list[float]]:
        """Return teacher-forced logits after bos and each id of `target`: `[len(target) + 1][vocabulary size]`.

        Raises EngineError if an id is out of range.
        """
        values = array("f", self._model.logits(source, target))
        size = len(self._vocabulary)
        return [values[start : start + size].tolist() for start in range(0, len(values), size)]

    def _translate_chunks(
        self, chunks: Iterable[Sequence[str]], ahead: int, options: _native.SearchOptions
    ) -> Iterator[list[str]]:
        pending: deque[_PendingLines] = deque()
        for chunk in chunks:
            if chunk:
                pending.append(self._submit(chunk, options))
            while len(pending) > (ahead if chunk else 0):
                yield pending.popleft().texts()
        while pending:
            yield pending.popleft().texts()

    def _submit(self, lines: Sequence[str], options: _native.SearchOptions) -> "_PendingLines":
        segments = [encode_line(self._vocabulary, line, self._longest_segment) for line in lines]
        return _PendingLines(self, segments, options)

    def _text(self, ids: Sequence[int]) -> str:
        # Byte pieces could spell a line break; each line in gives one line out.
        return " ".join(self._vocabulary.decode(ids).splitlines())


class _PendingLines:
    """Lines whose segments are being translated."""

    def __init__(self, translator: Translator, lines: list[list[list[int]]], options: _native.SearchOptions) -> None:
        self._translator = translator
        self._segments = [len(segments) for segments in lines]
        self._pending = translator._model.submit([ids for segments in lines for ids in segments], options)

    def texts(self) -> list[str]:
        """Return the best translation of each line."""
        return [
            " ".join(self._translator._text(hypotheses[0][0]) for hypotheses in segments) for segments in self._lines()
        ]

    def hypotheses(self) -> list[list[Hypothesis]]:
        """Return the translations of each line, best first."""
        return [self._joined(segments) if segments else [Hypothesis("", 0.0)] for segments in self._lines()]

    def _joined(self, segments: list[list[tuple[list[int], float]]]) -> list[Hypothesis]:
        joined = []
        for parts in zip(*segments, strict=False):  # a segment may have fewer than n_best translations
            text = " ".join(self._translator._text(ids) for ids, _ in parts)
            joined.append(Hypothesis(text, sum(score for _, score in parts) / len(parts)))
        return joined

    def _lines(self) -> Iterator[list[list[tuple[list[int], float]]]]:
        results = iter(self._pending.result())
        for count in self._segments:
            yield list(islice(results, count))


def _native_options(options: SearchOptions, n_best: int = 1, *, scores: bool = False) -> _native.SearchOptions:
    known = SearchOptions.__annotations__
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"unknown search option {unknown[0]!r}; known: {', '.join(known)}")
    max_length = options.get("max_length")
    return _native.SearchOptions(
        beam_size=_bounded("beam_size", options.get("beam_size", DEFAULT_BEAM_SIZE), 1),
        n_best=_bounded("n_best", n_best, 1),
        length_penalty=float(options.get("length_penalty", 1.0)),
        max_length=None if max_length is None else _bounded("max_length", max_length, 1),
        min_length=_bounded("min_length", options.get("min_length", 0), 0),
        scores=scores,
        shortlist=bool(options.get("shortlist", True)),
    )


def _bounded(name: str, value: int, lowest: int) -> int:
    if not lowest <= value <= HIGHEST_NUMBER:
        raise EngineError(f"{name} is {value}, it must be {lowest} to {HIGHEST_NUMBER}")
    return value
