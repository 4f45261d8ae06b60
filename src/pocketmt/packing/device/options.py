"""Options of a search by PyTorch: the names of the native engine's, of which some are not supported."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pocketmt.errors import EngineError

MOST_HYPOTHESES: Final = 256
# Options that only the native engine has, with their names in `SearchOptions` of `pocketmt.engine`. The first one that
# is set is named: replaced unknowns need attention, too.
_NATIVE_ONLY: Final = {
    "unknown": "replace_unknowns",
    "attention": "alignment",
    "no_repeat_ngram": "no_repeat_ngram_size",
    "repeat_limit": "repeat_limit",
    "suppressed_sequences": "suppressed_sequences",
    "suppressed_texts": "suppressed_texts",
    "word_continuations": "terms",
    "sampling": "sampling",
}


@dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """Options of a search, see `pocketmt.engine._native.SearchOptions`; raises EngineError for unsupported ones."""

    beam_size: int
    n_best: int
    length_penalty: float
    max_length: int | None
    min_length: int
    scores: bool
    shortlist: bool = False
    token_scores: bool = False
    attention: bool = False
    unknown: bool = False
    repetition_penalty: float = 1.0
    no_repeat_ngram: int = 0
    repeat_limit: int = 0
    suppressed_sequences: Sequence[Sequence[int]] = ()
    suppressed_texts: Any = None
    word_continuations: Sequence[int] = ()
    sampling: Any = None
    batch_size: int = 0
    parallel: bool = True

    def __post_init__(self) -> None:
        for field, name in _NATIVE_ONLY.items():
            if getattr(self, field):
                raise _unsupported(name, "pass alignment=False" if field == "attention" else "leave it out")
        if self.repetition_penalty != 1.0:
            raise _unsupported("repetition_penalty")
        if self.n_best > self.beam_size:
            raise EngineError(f"n_best is {self.n_best}, it must be 1 to beam_size ({self.beam_size})")

    def check_beam(self, pieces: int) -> None:
        """Raise EngineError if the beam is larger than the number of pieces that can be generated, without eos."""
        most = min(MOST_HYPOTHESES, pieces)
        if not 1 <= self.beam_size <= most:
            raise EngineError(f"beam_size is {self.beam_size}, it must be 1 to {most}")


def _unsupported(name: str, advice: str = "leave it out") -> EngineError:
    return EngineError(f"PyTorch does not support {name}: {advice}, or translate with device 'cpu'")
