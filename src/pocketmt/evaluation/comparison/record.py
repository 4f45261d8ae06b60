"""The record of a comparison: what `pocketmt compare --json` writes."""

from dataclasses import dataclass

from pocketmt.evaluation.quality import Difference, Quality
from pocketmt.evaluation.records import Provenance


@dataclass(frozen=True)
class SizeOfMatrix:
    """One matrix of a model file; `bits` of a weight and `bytes` include scales and codebooks."""

    name: str
    shape: tuple[int, ...]
    scheme: str
    bits: float
    bytes: int


@dataclass(frozen=True)
class SizeOfScheme:
    """All matrices of a model file that one scheme stores."""

    scheme: str
    matrices: int
    weights: int
    bits: float  # of a weight, scales and codebooks included
    bytes: int


@dataclass(frozen=True)
class Sizes:
    """Sizes of a model file.

    Attributes:
        file_bytes: of the whole file.
        float32_file_bytes: of the same file with fp32 parameters.
        parts: name of a part -> its bytes; they add up to the file, except that compression of the whole file is not
            counted.
        schemes: by bytes, the largest first.
        matrices: in the order of the network, with groups of biases and norms.
    """

    file_bytes: int
    float32_file_bytes: int
    parameters: int
    parts: dict[str, int]
    schemes: tuple[SizeOfScheme, ...]
    matrices: tuple[SizeOfMatrix, ...]


@dataclass(frozen=True)
class Faults:
    """Numbers of lines whose translations look wrong, by themselves.

    Attributes:
        repeated: words that occur three times in a row, alone or as a sequence, but not in the source.
        too_short: far fewer words than the source: text may be missing.
        too_long: far more words than the source.
        empty: no text at all.
    """

    repeated: int
    too_short: int
    too_long: int
    empty: int


@dataclass(frozen=True)
class Speed:
    """Speed and memory of a model, medians over the rounds; each round is a process that does nothing else."""

    words_per_second: tuple[float, ...]  # of source words, the text as one stream
    milliseconds_per_line: tuple[float, ...]  # the median line of each round, one at a time
    load_seconds: float
    peak_memory_bytes: int  # of the stream
    lines: int
    workers: int
    instruction_set: str


@dataclass(frozen=True)
class ComparedModel:
    """One of the two models."""

    name: str
    producer: str
    recipe: str
    architecture: dict[str, object]
    sizes: Sizes
    faults: Faults
    quality: Quality | None  # None without references
    speed: Speed | None  # None if it was not measured


@dataclass(frozen=True)
class Agreement:
    """How far the smaller model's next pieces are those of the original, after the original's own translation.

    Attributes:
        sentences: that were compared.
        tokens: of their translations by the original, ends of sentences included.
        same: share of tokens at which both models have the same most probable piece.
        divergence: mean Kullback-Leibler divergence of the smaller model's distribution from the original's, in nats.
    """

    sentences: int
    tokens: int
    same: float
    divergence: float


@dataclass(frozen=True)
class OutputAgreement:
    """How far two models write the same text; BLEU and chrF take the original's translations as references."""

    lines: int
    identical: float
    bleu: float
    chrf: float


@dataclass(frozen=True)
class LengthGroup:
    """Lines whose numbers of source words are in a range; `highest` None: no limit."""

    lowest: int
    highest: int | None
    outputs: OutputAgreement
    agreement: Agreement | None

    @property
    def title(self) -> str:
        """The range in words."""
        if self.highest == self.lowest:
            return f"{self.lowest}"
        return f"{self.lowest} or more" if self.highest is None else f"{self.lowest} to {self.highest}"

    @property
    def label(self) -> str:
        """The range as numbers and marks."""
        if self.highest == self.lowest:
            return f"{self.lowest}"
        return f"{self.lowest}+" if self.highest is None else f"{self.lowest}–{self.highest}"


@dataclass(frozen=True)
class ChangedLine:
    """A line whose translation changed; `chrf` of the smaller model's with the original's as the reference."""

    line: int  # from 1
    source: str
    original: str
    small: str
    references: tuple[str, ...]
    chrf: float


@dataclass(frozen=True)
class Comparison:
    """The comparison of two models.

    Attributes:
        agreement: None if the vocabularies differ, as `no_agreement` then says.
        chrf_histogram: numbers of lines by chrF in tenths; the last one is of 90 to 100.
        differences: of the smaller model from the original; empty without references.
        changed: the lines that changed most.
    """

    original: ComparedModel
    small: ComparedModel
    source_language: str
    target_language: str
    text: str
    references: tuple[str, ...]
    lines: int
    beam_size: int
    outputs: OutputAgreement
    agreement: Agreement | None
    no_agreement: str
    by_length: tuple[LengthGroup, ...]
    chrf_histogram: tuple[int, ...]
    differences: tuple[Difference, ...]
    changed: tuple[ChangedLine, ...]
    provenance: Provenance
