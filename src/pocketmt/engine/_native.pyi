"""The native engine (native/python/). Sources and targets are piece ids without bos and eos."""

from collections.abc import Callable, Mapping, Sequence

from typing_extensions import Buffer

# Ids and score of each translation of a sentence, best first.
Translations = list[tuple[list[int], float]]
# Ids, score, log-probabilities of the ids (and of eos, unless the length limit ended the translation), and attention of
# each id to the source positions, end of sentence included; the last two are empty if they were not asked for.
Details = tuple[list[int], float, list[float], list[list[float]]]
# Ids of a term, and whether it ends its word.
Term = tuple[Sequence[int], bool]

max_beam_size: int

def instruction_sets() -> list[str]:
    """Names of the instruction sets that this CPU can run, fastest first."""

def keep_threads_from_python() -> None:
    """Have all threads but the calling one wait for ever where they would come back to Python from the engine."""

class SuppressedTexts:
    """Texts that are never generated, however they are divided into pieces.

    Args:
        surfaces: bytes that each piece of the vocabulary adds to a text.
        texts: the texts in the same form, none of them empty.
        before: bytes that a text at the beginning of a translation may begin with.
    """

    def __init__(self, surfaces: Sequence[bytes], texts: Sequence[bytes], before: bytes) -> None: ...

class SearchOptions:
    """Options of a search; those of text are described in `pocketmt.engine.SearchOptions`.

    Args:
        beam_size: 1 to max_beam_size, and less than the vocabulary has pieces; of sampling, the number of samples.
        n_best: most translations of each source, 1 to beam_size.
        length_penalty: a finite number.
        max_length: with eos; None: 2 x source pieces + 20, and those of the prefix and of the terms, or min_length if
            that is more.
        min_length: with eos.
        scores: False lets beam size 1 skip the softmax; scores are then 0.
        shortlist: False searches the whole vocabulary even if the model has a shortlist.
        token_scores: whether `Details` have log-probabilities; needs `scores`.
        attention: whether `Details` have attention.
        unknown: whether the unknown piece may be generated.
        repetition_penalty: 0.01 to 100.
        no_repeat_ngram: 0: any sequence may be repeated.
        repeat_limit: at least 2, or 0: repetitions do not end a translation.
        suppressed_sequences: ids of pieces that are not special, none of them empty.
        suppressed_texts: made for this vocabulary.
        word_continuations: ids that must not follow a term that ends its word, ascending.
        sampling: temperature, top_k (0: all), top_p and seed; None: beam search.
        batch_size: most sources computed together; 0: as many as are fastest.
        parallel: whether several workers may work on the sources.
    """

    def __init__(
        self,
        *,
        beam_size: int,
        n_best: int,
        length_penalty: float,
        max_length: int | None,
        min_length: int,
        scores: bool,
        shortlist: bool = True,
        token_scores: bool = False,
        attention: bool = False,
        unknown: bool = False,
        repetition_penalty: float = 1.0,
        no_repeat_ngram: int = 0,
        repeat_limit: int = 0,
        suppressed_sequences: Sequence[Sequence[int]] = ...,
        suppressed_texts: SuppressedTexts | None = None,
        word_continuations: Sequence[int] = ...,
        sampling: tuple[float, int, float, int] | None = None,
        batch_size: int = 0,
        parallel: bool = True,
    ) -> None: ...

class Pending:
    """A translation that runs or waits; cancelled when it is deleted. `result` or `details` may be called, once."""

    def begin(self) -> None:
        """Let other workers begin it. Otherwise work begins when the result is waited for."""

    def result(self) -> list[Translations]:
        """Work on it until it is done; returns each source's translations. CancelledError if it is cancelled."""

    def details(self) -> list[list[Details]]:
        """Like `result`, with scores and attention of ids."""

    def cancel(self) -> None:
        """End it soon; may be called while another thread waits for the result."""

class Model:
    """A network packed for one instruction set; immutable, may be used from several threads at once.

    Args:
        buffer: the bytes of a model file, used by the constructor only.
        architecture: every field of the network's description by its name (`Architecture.fields`).
        tensors: name -> (dtype, shape, offset, size in bytes).
        decoders: coded tensor -> a function that decodes it, called once; offset and size are those of the coded bytes.
        deflated: tensors whose bytes in the file are a raw deflate stream of their elements.
        matrices: quantized matrix -> its row groups, each (scheme, bits, granularity, levels, rows).
        vector_groups: (matrix of `matrices`, names of the biases and norms that are its rows).
        logarithmic_activations: if inputs of quantized matrices are powers of two, their largest magnitude in units of
            the smallest, and as a number; None: 8 bits.
        release: called with (offset, size) of bytes that are no longer needed.
        instruction_set: its name; None: the best of this CPU.
        workers: how many threads compute at once.
        pin_workers: whether each computes on a separate core.
        activation_bits: of codes with trained ranges in the file; 0: the file has no ranges.
        shortlist: the decoded shortlist of the file; None: the file has none.
        frequent_pieces: how many pieces are in every sentence's shortlist.

    Raises ModelFileError naming the field or tensor that does not fit, and EngineError if the instruction set or cores
    are not available.
    """

    def __init__(
        self,
        *,
        buffer: Buffer,
        architecture: Mapping[str, bool | int | float | str | Sequence[int]],
        tensors: Mapping[str, tuple[str, Sequence[int], int, int]],
        matrices: Mapping[str, Sequence[tuple[str, int, str, Sequence[int], int]]],
        release: Callable[[int, int], None] | None,
        instruction_set: str | None,
        workers: int,
        pin_workers: bool = ...,
        decoders: Mapping[str, Callable[[], Buffer]] = ...,
        deflated: Sequence[str] = ...,
        vector_groups: Sequence[tuple[str, Sequence[str]]] = ...,
        logarithmic_activations: tuple[int, float] | None = None,
        activation_bits: int = ...,
        shortlist: Buffer | None = None,
        frequent_pieces: int = ...,
    ) -> None: ...
    @staticmethod
    def ensemble(models: Sequence[Model], *, workers: int, pin_workers: bool = ...) -> Model:
        """Return a model that translates by the mean of the log-probabilities of several, without shortlists.

        It shares the weights of the models, which have the same vocabularies. Raises EngineError if they differ in
        instruction set, special pieces, or what encoder or decoder read beside the pieces of a text.
        """

    @property
    def instruction_set(self) -> str:
        """Name of the instruction set in use."""

    def submit(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] = ...,
        terms: Sequence[Sequence[Term]] = ...,
    ) -> Pending:
        """Start a translation; raises EngineError if an option or id is out of range.

        prefixes: ids that each source's translation begins with; an empty list: none has a prefix.
        terms: of each source, what its translation must have; an empty list: none has terms.
        """

    def translate(self, sources: Sequence[Sequence[int]], options: SearchOptions) -> list[Translations]:
        """Each source's (ids, score), best first."""

    def logits(self, source: Sequence[int], target: Sequence[int]) -> bytes:
        """Return teacher-forced logits after bos and each id of `target`, float32 [len(target) + 1, V].

        Those of an ensemble are the means of log-probabilities.
        """
