"""The Translator class: translation of text with a model file."""

import os
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final, Never, Unpack, cast

from pocketmt.chunks import in_chunks
from pocketmt.engine.arguments import check_chunk, check_flag, check_integer, check_lines, check_text
from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.checks import TranslationChecks
from pocketmt.engine.devices import NATIVE, choose_device, lines_at_once
from pocketmt.engine.line_parts import LINE_BREAK, LineDivider
from pocketmt.engine.lines import PendingLines
from pocketmt.engine.loading import load_models
from pocketmt.engine.options import (
    HIGHEST_NUMBER,
    Search,
    SearchOptions,
    TranslationOptions,
    check_names,
    check_options,
)
from pocketmt.engine.protection import LineProtection
from pocketmt.engine.tokenizer import Tokenizer
from pocketmt.errors import EngineError
from pocketmt.model_file.manifest import DEFAULT_UNIT

if TYPE_CHECKING:  # Most translations are only texts, and not in the background.
    from pocketmt.engine.futures import BackgroundTranslations, TranslationFuture
    from pocketmt.engine.results import DetailedHypothesis, Hypothesis

CHUNKS_READ_AHEAD: Final = 2
MOST_WORKERS: Final = 1024
LONGEST_SEGMENT: Final = 200  # pieces
LONGEST_SENTENCE: Final = 50_000  # characters
_UNCHANGEABLE: Final = (int, float, bool, str, type(None))


class Translator:
    """A model ready to translate. May be used from several threads at once.

    Args:
        model: path of a model file, or the name of a bundled model; a string with such a name never means a file.
            A list of several with one vocabulary is an ensemble, which uses the mean of their log-probabilities, and no
            shortlists.
        workers: how many threads compute at once; they share one copy of the weights.
        pin_workers: whether each worker computes on a separate core.
        instruction_set: "amx_int8", "avx512_vnni", "avx_vnni", "avx2", "neon_i8mm", "neon_dot_product" or "portable";
            None: this CPU's best.
        device: "cpu" is the native engine; "cuda" or "cuda:1" is a GPU, by PyTorch; "torch-cpu" is the same code on the
            processor; "auto" is a GPU if PyTorch finds one, and else "cpu". PyTorch has no terms, sampling,
            suppression, penalties of repetitions, alignment or replaced unknowns; a shortlist must be asked for.
        precision: of PyTorch: "float32" (default) computes what the engine computes; "float16" and "bfloat16" decode
            the weights when the file is loaded, "packed_float16" and "packed_bfloat16" for each product;
            "int8_float32", "int8_float16" and "int8_bfloat16" multiply 8-bit integers.
        longest_segment: in pieces; a longer sentence is translated in segments, joined by a space (see `encode_line`).
        longest_sentence: in characters; a longer one is copied, not translated, with a `TranslationWarning`.

    Attributes:
        manifest: languages, recipe, licence and more, from the (first) model file (docs/reference/model-file.md).
        tokenizer: the vocabulary of the source.
        target_tokenizer: that of the target; the same object where both sides share one.
        workers: as given.
        device: the device in use; never "auto".
        lines_at_once: a good number of lines for a chunk of a long text.

    Raises:
        TypeError: an argument has a wrong type.
        ModelFileError: there is no such model, or the file is broken.
        EngineError: an argument is out of range, the CPU lacks the instruction set, or PyTorch or the GPU is missing.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        workers: int = 1,
        pin_workers: bool = False,
        instruction_set: str | None = None,
        device: str = NATIVE,
        precision: str | None = None,
        longest_segment: int = LONGEST_SEGMENT,
        longest_sentence: int = LONGEST_SENTENCE,
    ) -> None:
        self.workers = check_integer("workers", workers, 1, MOST_WORKERS)
        longest_segment = check_integer("longest_segment", longest_segment, 1, HIGHEST_NUMBER)
        longest_sentence = check_integer("longest_sentence", longest_sentence, 1, HIGHEST_NUMBER)
        pin_workers = check_flag("pin_workers", pin_workers)
        self.device = choose_device(device)
        self.lines_at_once = lines_at_once(self.device)
        models = model if isinstance(model, Sequence) and not isinstance(model, str | bytes | bytearray) else [model]
        if not models:
            raise EngineError("model is empty: give the path of a model file, or several")
        paths = [*map(resolve_model, models)]
        loaded = load_models(paths, workers, pin_workers, instruction_set, device=self.device, precision=precision)
        self._model, self._make_options = loaded.model, loaded.make_options
        self._vocabularies, self._languages, self.manifest = loaded.vocabularies, loaded.languages, loaded.manifest
        self.tokenizer = Tokenizer(self._vocabularies.source)
        self.target_tokenizer = self.tokenizer
        if not self._vocabularies.shared:
            self.target_tokenizer = Tokenizer(self._vocabularies.target)
        self._divider = LineDivider(
            self._vocabularies.source,
            self._languages,
            longest_segment=longest_segment,
            longest_sentence=longest_sentence,
            known_words=loaded.known_words,
        )
        self._last_check: tuple[list[object], Search | None] = [], None
        self._background: dict[int, BackgroundTranslations] = {}  # process -> its own: a fork has no threads

    def __reduce__(self) -> Never:
        """Refuse to be pickled or copied."""
        raise TypeError("a Translator cannot be pickled or copied: load the model in each process")

    @property
    def languages(self) -> tuple[str, str]:
        """Codes of the source and the target language that are taken if none are chosen, as the model file has them."""
        return self._languages.defaults

    @property
    def source_languages(self) -> tuple[str, ...]:
        """Codes of all languages that the model translates from."""
        return self._languages.sources

    @property
    def target_languages(self) -> tuple[str, ...]:
        """Codes of all languages that the model translates into."""
        return self._languages.targets

    @property
    def source_language(self) -> str:
        """Code of the language that is translated, such as "en"."""
        return self.languages[0]

    @property
    def target_language(self) -> str:
        """Code of the language of translations, such as "de"."""
        return self.languages[1]

    @property
    def unit(self) -> str:
        """What the model translates at once: "sentence", "line" or "document"."""
        return str(self.manifest.get("unit", DEFAULT_UNIT))

    @property
    def instruction_set(self) -> str:
        """Name of the instruction set whose kernels run; the device and the precision of PyTorch."""
        return self._model.instruction_set

    def encode(self, text: str) -> list[int]:
        """Return the piece ids of a source text (see `Tokenizer.encode`)."""
        return self.tokenizer.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the piece ids of a translation (see `Tokenizer.decode`)."""
        return self.target_tokenizer.decode(ids)

    def translate(self, lines: Iterable[str], **options: Unpack[TranslationOptions]) -> list[str]:
        """Return the translation of each line; that of a line without text is empty.

        A line may hold several sentences. Line breaks in it become spaces, so that there is one line out for each line
        in; for text of several lines, see `translate_text`.

        Raises:
            TypeError: an argument has a wrong type, or an option is unknown.
            EngineError: an option is out of range.
        """
        return self._prepare(lines, self._check(options)).texts()

    def translate_text(self, text: str, **options: Unpack[TranslationOptions]) -> str:
        """Return the translation of a text of any number of lines, whose line breaks and blank lines stay as they are.

        Raises as `translate` does.
        """
        lines_and_breaks = LINE_BREAK.split(check_text(text, "text"))
        lines_and_breaks[::2] = self.translate(lines_and_breaks[::2], **options)
        return "".join(lines_and_breaks)

    def translate_n_best(
        self, lines: Iterable[str], n_best: int, **options: Unpack[TranslationOptions]
    ) -> "list[list[Hypothesis]]":
        """Return up to `n_best` (at most the beam size) translations of each line with scores, best first.

        Of a line of several sentences, the i-th translation joins the i-th of each sentence and has their mean score.
        With terms, the translations of a sentence are ordered by a score without the terms: from each log-probability,
        the highest one of the terms in any of these translations is subtracted. `score` is the full score. A line
        without text has one empty translation of score 0. Raises as `translate` does.
        """
        return self._prepare(lines, self._check(options, n_best, scores=True)).hypotheses()

    def translate_detailed(
        self, lines: Iterable[str], *, n_best: int = 1, alignment: bool = True, **options: Unpack[TranslationOptions]
    ) -> "list[list[DetailedHypothesis]]":
        """Return translations with scores of their pieces and, if asked for, alignments to the source.

        As `translate_n_best`, also for several sentences and no text. Raises as `translate` does.
        """
        return self._prepare(lines, self._check(options, n_best, scores=True, alignment=alignment)).details()

    def submit(self, lines: Iterable[str], **options: Unpack[TranslationOptions]) -> "TranslationFuture[list[str]]":
        """Start `translate` in the background; returns a `concurrent.futures.Future` that can be cancelled at any time.

        Translations start in the order of submission, as many at once as there are workers. At the end of the program
        they are finished first, unless they are cancelled. Raises at once as `translate` does.
        """
        pending = self._prepare(lines, self._check(options))
        return self._in_background().submit(pending.texts, pending.cancel)

    def submit_detailed(
        self, lines: Iterable[str], *, n_best: int = 1, alignment: bool = True, **options: Unpack[TranslationOptions]
    ) -> "TranslationFuture[list[list[DetailedHypothesis]]]":
        """Start `translate_detailed` in the background; see `submit`."""
        pending = self._prepare(lines, self._check(options, n_best, scores=True, alignment=alignment))
        return self._in_background().submit(pending.details, pending.cancel)

    async def translate_async(self, lines: Iterable[str], **options: Unpack[TranslationOptions]) -> list[str]:
        """Translate as `translate` does without blocking the event loop; cancelled when the task is cancelled."""
        from pocketmt.engine.coroutines import result_of

        checked = check_lines(lines)
        return await result_of(lambda: self.submit(checked, **options))

    async def translate_detailed_async(
        self, lines: Iterable[str], *, n_best: int = 1, alignment: bool = True, **options: Unpack[TranslationOptions]
    ) -> "list[list[DetailedHypothesis]]":
        """Translate as `translate_detailed` does without blocking the event loop; see `translate_async`."""
        from pocketmt.engine.coroutines import result_of

        checked = check_lines(lines)
        return await result_of(lambda: self.submit_detailed(checked, n_best=n_best, alignment=alignment, **options))

    def translate_stream(
        self, lines: Iterable[str], *, read_ahead: int = 512, **options: Unpack[TranslationOptions]
    ) -> Iterator[str]:
        """Yield the translation of each line, in order, while reading at most `read_ahead` lines ahead.

        Lines that are read ahead are translated together, so a larger `read_ahead` is faster. If the source waits for
        an answer before it gives the next line, `read_ahead` must be 1: each line is then answered before the next is
        read. For a source that knows how many lines are available, see `translate_chunks`.
        """
        check_integer("read_ahead", read_ahead, 1, HIGHEST_NUMBER)
        if isinstance(lines, str | bytes) or not isinstance(cast(object, lines), Iterable):
            check_lines(lines)
        chunks = in_chunks(lines, max(1, read_ahead // CHUNKS_READ_AHEAD))
        ahead = CHUNKS_READ_AHEAD - 1 if read_ahead > 1 else 0
        return chain.from_iterable(self._translate_chunks(chunks, ahead, self._check_of_stream(options)))

    def translate_chunks(
        self, chunks: Iterable[Sequence[str]], **options: Unpack[TranslationOptions]
    ) -> Iterator[list[str]]:
        """Yield the translations of each chunk of lines, in order, while the chunk after it is read.

        For an empty chunk nothing is yielded, but all earlier chunks are answered before the next chunk is read. So a
        source that waits for more input should first give an empty chunk.

        Raises:
            TypeError: chunks, or a chunk, is no list of the right kind.
            EngineError: an option is out of range.
        """
        if not isinstance(cast(object, chunks), Iterable):
            raise TypeError(f"chunks must be lists of strings, not {type(chunks).__name__}")
        return self._translate_chunks(chunks, CHUNKS_READ_AHEAD - 1, self._check_of_stream(options))

    def translate_ids(self, sources: Sequence[Sequence[int]], **options: Unpack[SearchOptions]) -> list[list[int]]:
        """Return the best translation of each source, as piece ids without bos and eos; sources are not divided.

        Raises:
            TypeError: a source is not a list of ids, or as `translate` does.
            EngineError: an id or option is out of range.
        """
        check_names(options, SearchOptions.__annotations__)
        search = self._check({**options, "split": False, "protect": False, "check": False})
        try:
            prefixes = search.prefixes([1] * len(sources))
            terms = search.terms_of(map(self.tokenizer.decode, sources))
            pending = self._model.submit(sources, search.native, prefixes, terms)
        except TypeError as error:  # its message describes the types of C++
            _check_range(self.tokenizer, sources)
            raise TypeError("sources must be a list of lists of piece ids, which are integers from 0") from error
        return [search.shown(hypotheses[0][0]) for hypotheses in pending.result()]

    def network_ids(self, line: str, **options: Unpack[TranslationOptions]) -> list[tuple[list[int], list[int]]]:
        """Return the source and the best translation of each sentence of a line as piece ids, as `logits` takes them.

        They have the pieces of languages that texts do not show. `protect` and `check` have no effect: this is the
        network's own translation, and there are no warnings. Raises as `translate` does.
        """
        search = self._check(options)
        divided = self._divider.divide_for(check_text(line, "line"), search, has_prefix=search.has_prefix(0))
        sources = [[*divided.prefix, *ids] for ids in divided.sentences]
        prefixes = search.prefixes([len(sources)])
        results = self._model.submit(sources, search.native, prefixes, list(divided.terms)).result()
        return [(source, hypotheses[0][0]) for source, hypotheses in zip(sources, results, strict=True)]

    def logits(self, source: Sequence[int], target: Sequence[int]) -> list[list[float]]:
        """Return teacher-forced logits after bos and each id of `target`: `[len(target) + 1][vocabulary size]`.

        Those of an ensemble are the means of log-probabilities.

        Raises EngineError if an id is out of range.
        """
        values = self.flat_logits(source, target)
        size = len(self._vocabularies.target)
        return [values[start : start + size].tolist() for start in range(0, len(values), size)]

    def flat_logits(self, source: Sequence[int], target: Sequence[int]) -> "array[float]":
        """Return `logits` as one array of `(len(target) + 1) * vocabulary size` float32 numbers."""
        try:
            return array("f", self._model.logits(source, target))
        except TypeError as error:  # Its message describes the types of C++.
            _check_range(self.tokenizer, [source])
            _check_range(self.target_tokenizer, [target])
            raise TypeError("source and target must be lists of piece ids, which are integers from 0") from error

    def _check_of_stream(self, options: TranslationOptions) -> Search:
        search = self._check(options)
        if search.line_prefixes is not None:
            raise EngineError("target_prefix is a list, but the number of lines is not known: give one text for all")
        return search

    def _translate_chunks(self, chunks: Iterable[Sequence[str]], ahead: int, search: Search) -> Iterator[list[str]]:
        pending: deque[PendingLines] = deque()
        count = 0
        for chunk in chunks:
            check_chunk(chunk)
            if chunk:
                pending.append(self._prepare(chunk, search, count))
                if search.parallel or len(pending) == 1:  # A single worker computes one chunk after the other.
                    pending[-1].begin()
                count += len(chunk)
            while len(pending) > (ahead if chunk else 0):
                texts = pending.popleft().texts()
                if pending:
                    pending[0].begin()
                yield texts
        while pending:
            yield pending.popleft().texts()

    def _check(
        self, options: TranslationOptions, n_best: int = 1, *, scores: bool = False, alignment: bool = False
    ) -> Search:
        alignment = check_flag("alignment", alignment)
        options.setdefault("split", self.unit == DEFAULT_UNIT)
        options.setdefault("shortlist", self.device == NATIVE)
        # Most calls have the options of the one before. Checking them takes as long as some sentences of a small model.
        values = [n_best, *options.values()]
        key = [*map(type, values), *options, *values, scores, alignment]
        last_key, last_search = self._last_check
        if last_search is not None and key == last_key:
            return last_search._replace(checks=None if last_search.checks is None else TranslationChecks())
        search = check_options(
            options,
            self._vocabularies.target,
            self._languages,
            n_best=n_best,
            scores=scores,
            alignment=alignment,
            make_options=self._make_options,
        )
        if all(type(value) in _UNCHANGEABLE for value in values):
            self._last_check = key, search
        return search

    def _prepare(self, lines: Iterable[str], search: Search, first: int = 0) -> PendingLines:
        checked = check_lines(lines, first=first)
        divided = [
            self._divider.divide_for(line, search, has_prefix=search.has_prefix(index))
            for index, line in enumerate(checked)
        ]
        protection = None
        if search.protect:
            protection = LineProtection(self._divider, checked, search)
        return PendingLines(self._model, self._vocabularies, divided, search, protection)

    def _in_background(self) -> "BackgroundTranslations":
        from pocketmt.engine.futures import BackgroundTranslations

        # Threads that come here at once get the same one.
        return self._background.setdefault(os.getpid(), BackgroundTranslations(self.workers))


def _check_range(tokenizer: Tokenizer, sources: Iterable[Sequence[int]]) -> None:
    """Raise EngineError for an integer that is no id; to C++, one of more bits or below 0 has a wrong type."""
    with suppress(TypeError):
        for ids in sources:
            tokenizer.pieces(ids)
