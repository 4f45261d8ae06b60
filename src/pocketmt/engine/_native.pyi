"""The native engine (native/python/). Sources and targets are piece ids without bos and eos."""

from collections.abc import Callable, Mapping, Sequence

from typing_extensions import Buffer

Translations = list[tuple[list[int], float]]

def instruction_sets() -> list[str]:
    """Names of the instruction sets that this CPU can run, fastest first."""

class SearchOptions:
    """Options of a search.

    `scores=False` lets beam size 1 skip the softmax; scores are then 0. `shortlist=False` searches the whole vocabulary
    even if the model has a shortlist.
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
    """A running translation; cancelled when it is deleted."""

    def result(self) -> list[Translations]:
        """Work on it until it is done; returns each source's (ids, score), best first. May be called once."""

class Model:
    """A network packed for one instruction set; immutable, may be used from several threads at once.

    Args:
        buffer: the bytes of a model file, used by the constructor only.
        architecture: every field of the network's description by its name (`Architecture.fields`).
        tensors: name -> (dtype, shape, offset, size in bytes).
        decoders: coded tensor -> a function that decodes it, called once; offset and size are those of the coded bytes.
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
        vector_groups: Sequence[tuple[str, Sequence[str]]] = ...,
        logarithmic_activations: tuple[int, float] | None = None,
        activation_bits: int = ...,
        shortlist: Buffer | None = None,
        frequent_pieces: int = ...,
    ) -> None: ...
    @property
    def instruction_set(self) -> str:
        """Name of the instruction set in use."""

    def submit(self, sources: Sequence[Sequence[int]], options: SearchOptions) -> Pending:
        """Start a translation; raises EngineError if an option or id is out of range."""

    def translate(self, sources: Sequence[Sequence[int]], options: SearchOptions) -> list[Translations]:
        """Each source's (ids, score), best first."""

    def logits(self, source: Sequence[int], target: Sequence[int]) -> bytes:
        """Return teacher-forced logits after bos and each id of `target`, float32 [len(target) + 1, V]."""
