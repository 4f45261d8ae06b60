"""Sentences to translate, the settings of the search, and its results."""

from collections.abc import Sequence
from dataclasses import dataclass

from pocketmt.models.search import Hypothesis, default_maximum_length


@dataclass(frozen=True, slots=True)
class Request:
    """A sentence to translate.

    Attributes:
        source: piece ids without eos.
        limit: most target pieces, with eos and the prefix, at least 1.
        prefix: piece ids that the translation begins with; they do not count in its score.
        allowed: ids that may be generated, including eos (a shortlist); None: all.
    """

    source: Sequence[int]
    limit: int
    prefix: Sequence[int] = ()
    allowed: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of the search of all sentences of a call.

    Attributes:
        beam_size: hypotheses kept at each step, at least 1; 1 is greedy search.
        length_penalty: exponent of the length by which log-probabilities are divided.
        min_length: fewest pieces of a translation, with eos.
        scores: False leaves out the scores of pieces, and lets greedy search by a single network skip the softmax; its
            scores are then 0.
        n_best: most translations of a sentence; None: all that the beam has found.
    """

    beam_size: int = 4
    length_penalty: float = 1.0
    min_length: int = 0
    scores: bool = True
    n_best: int | None = None


@dataclass(frozen=True)
class Translation(Hypothesis):
    """A hypothesis, with the log-probability of each of its pieces, and of eos unless the limit ended it, if asked."""

    token_scores: tuple[float, ...] = ()


def plain_requests(sources: Sequence[Sequence[int]], prefix: Sequence[int] = ()) -> list[Request]:
    """Return requests of one prefix, without shortlist, of the default length limit."""
    return [Request(source, default_maximum_length(len(source)) + len(prefix), prefix) for source in sources]
