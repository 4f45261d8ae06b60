"""The native engine (native/bindings.cpp). Sources and targets are piece ids without bos and eos."""

from collections.abc import Callable, Mapping, Sequence

from typing_extensions import Buffer

Translations = list[tuple[list[int], float]]

def instruction_sets() -> list[str]:
    """Names of the instruction sets that this CPU can run, fastest first."""

class Architecture:
    """Sizes of a Transformer: (heads, heads of cross-attention, feed-forward nodes) of each layer that has own weights.

    A decoder layer without heads has a recurrent unit. Decoder layers are run `decoder_rounds` times.
    """

    def __init__(
        self,
        *,
        encoder: Sequence[tuple[int, int, int]],
        decoder: Sequence[tuple[int, int, int]],
        decoder_rounds: int,
        model_dimension: int,
        head_size: int,
        norm: str,
        attention_bias: bool,
        vocabulary_size: int,
    ) -> None: ...
    @staticmethod
    def lstm(
        *,
        encoder_layers: int,
        decoder_layers: int,
        model_dimension: int,
        recurrent_dimension: int,
        heads: int,
        head_size: int,
        vocabulary_size: int,
    ) -> Architecture:
        """Sizes of a deep LSTM."""

class SearchOptions:
    """How to search; `scores=False` lets beam size 1 skip the softmax: scores are 0 then.

    `shortlist=False` searches the whole vocabulary where the model has a shortlist.
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
    ) -> None: ...

class Pending:
    """A translation under way; given up when it is deleted."""

    def result(self) -> list[Translations]:
        """Work on it until it is done: each source's (ids, score), best first. May be called once."""

class Model:
    """A network packed for one instruction set; immutable, may be used from several threads at once.

    Args:
        buffer: the bytes of a model file, needed only while this is made.
        architecture: of the network.
        tensors: name -> (dtype, shape, offset, size in bytes).
        decoders: tensor whose bytes are not in the buffer as they are -> a function that decodes them, called once;
            offset and size are then those of what it decodes.
        matrices: quantized matrix -> its row groups, each (scheme, bits, granularity, levels, rows).
        stacks: (matrix of `matrices`, names of the biases and norms that are its rows).
        products: where activations that meet quantized matrices are powers of two: the largest magnitude, in units of
            the smallest, and as it is; None: 8 bits, a scale a row.
        release: told (offset, size) of bytes that are needed no more.
        instruction_set: its name; None takes the best that this CPU has.
        workers: how many threads compute at once.
        pin_workers: whether each computes on a core of its own.
        activation_bits: of the codes of activations whose ranges the file holds; 0: it holds none.
        shortlist: what the file's shortlist decodes to; None: it holds none.
        frequent_pieces: how many pieces are in every sentence's list.

    Raises ModelFileError naming the tensor that does not fit, EngineError where instruction set or
    cores are not to be had.
    """

    def __init__(
        self,
        *,
        buffer: Buffer,
        architecture: Architecture,
        tensors: Mapping[str, tuple[str, Sequence[int], int, int]],
        matrices: Mapping[str, Sequence[tuple[str, int, str, Sequence[int], int]]],
        release: Callable[[int, int], None] | None,
        instruction_set: str | None,
        workers: int,
        pin_workers: bool = ...,
        decoders: Mapping[str, Callable[[], Buffer]] = ...,
        stacks: Sequence[tuple[str, Sequence[str]]] = ...,
        products: tuple[int, float] | None = None,
        activation_bits: int = ...,
        shortlist: Buffer | None = None,
        frequent_pieces: int = ...,
    ) -> None: ...
    @property
    def instruction_set(self) -> str:
        """Name of the instruction set in use."""

    def submit(self, sources: Sequence[Sequence[int]], options: SearchOptions) -> Pending:
        """Start a translation; raises EngineError where an option or id is out of range."""

    def translate(self, sources: Sequence[Sequence[int]], options: SearchOptions) -> list[Translations]:
        """Each source's (ids, score), best first."""

    def logits(self, source: Sequence[int], target: Sequence[int]) -> bytes:
        """Teacher-forced logits after bos and each id of `target`: float32 [len(target) + 1, vocabulary size]."""
