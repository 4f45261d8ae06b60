"""Quality and speed of a model file, measured through the engine and recorded."""

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pocketmt.engine import SearchOptions, Translator
from pocketmt.errors import DataError
from pocketmt.evaluation.quality import Difference, Quality, compare, metrics, score
from pocketmt.evaluation.records import Provenance, memory_bytes, peak_memory_bytes, provenance
from pocketmt.evaluation.speed import Mode, SpeedRecord, lengthened, measure_latency, measure_throughput
from pocketmt.text.corpus import read_lines, read_pairs


@dataclass(frozen=True)
class QualityRecord:
    """The quality of one model file on one parallel text, as it is written to disk."""

    model: str
    source: str
    reference: str
    beam_size: int
    instruction_set: str
    shortlist: bool  # whether the model file's is used, where it has one
    quality: Quality
    baseline: str | None  # another model file, translated likewise
    differences: list[Difference]  # this model against the baseline; empty without one
    provenance: Provenance


def evaluate_model(
    model: str,
    source: Path,
    reference: Path,
    *,
    beam_size: int,
    baseline: str | None = None,
    workers: int = 1,
    shortlist: bool = True,
) -> QualityRecord:
    """Translate `source` by a model file and score it against `reference`, against a baseline model too where given.

    DataError where the files cannot be read, are not parallel or have no lines; ModelFileError for a broken model file.
    """
    metrics()  # what they need is missed before the long part, not after it
    pairs = list(read_pairs(source, reference))
    if not pairs:
        raise DataError(f"{source} and {reference} have no lines: there is nothing to score")
    references = [target for _, target in pairs]
    sources = [line for line, _ in pairs]
    translator = Translator(model, workers=workers)
    other = None if baseline is None else Translator(baseline, workers=workers)
    translations = translator.translate(sources, beam_size=beam_size, shortlist=shortlist)
    differences = []
    if other is not None:
        others = other.translate(sources, beam_size=beam_size, shortlist=shortlist)
        differences = compare(others, translations, references)
    return QualityRecord(
        model=model,
        source=str(source),
        reference=str(reference),
        beam_size=beam_size,
        instruction_set=translator.instruction_set,
        shortlist=shortlist,
        quality=score(translations, references),
        baseline=baseline,
        differences=differences,
        provenance=provenance(),
    )


def measure_speed(
    model: Path,
    text: Path,
    *,
    mode: Mode,
    beam_size: int,
    repeats: int,
    lines: int | None = None,
    workers: int = 1,
    pin_workers: bool = False,
    instruction_set: str | None = None,
    shortlist: bool = True,
) -> SpeedRecord:
    """Time a model file on a text, sentence by sentence or as a stream [E8], `repeats` times over.

    Args:
        model: the file.
        text: a sentence a line.
        mode: "latency" or "throughput".
        beam_size, workers, pin_workers, instruction_set, shortlist: see `Translator`.
        repeats: runs over the whole text.
        lines: how many are translated in a run, from the text's beginning again where it has fewer; None: its own.

    Raises:
        DataError: a text that cannot be read or has no lines.
        ModelFileError: a broken model file.
        EngineError: more pinned workers than cores, or an instruction set that the CPU lacks.
    """
    sentences = list(read_lines(text))
    if not sentences:
        raise DataError(f"{text} has no lines: there is nothing to time")
    if lines is not None:
        sentences = lengthened(sentences, lines)
    before = memory_bytes()
    start = time.perf_counter()
    translator = Translator(model, workers=workers, pin_workers=pin_workers, instruction_set=instruction_set)
    load_seconds = time.perf_counter() - start
    search: SearchOptions = {"beam_size": beam_size, "shortlist": shortlist}
    if mode == "latency":
        timing = measure_latency(partial(translator.translate, **search), sentences, repeats)
    else:
        timing = measure_throughput(partial(translator.translate_chunks, **search), sentences, repeats)
    return SpeedRecord(
        model=str(model),
        model_bytes=model.stat().st_size,
        text=str(text),
        instruction_set=translator.instruction_set,
        shortlist=shortlist,
        workers=workers,
        pinned=pin_workers,
        beam_size=beam_size,
        timing=timing,
        load_seconds=load_seconds,
        memory_before_load_bytes=before,
        peak_memory_bytes=peak_memory_bytes(),
        provenance=provenance(),
    )
