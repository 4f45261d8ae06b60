"""Quality and speed of a model file, measured with the engine."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pocketmt.engine import TranslationOptions, Translator
from pocketmt.engine.devices import NATIVE
from pocketmt.errors import DataError
from pocketmt.evaluation.languages import languages_of
from pocketmt.evaluation.quality import Difference, Quality, compare, metrics, score
from pocketmt.evaluation.records import Provenance, memory_bytes, peak_memory_bytes, provenance
from pocketmt.evaluation.speed import Mode, SpeedRecord, lengthened, measure_latency, measure_throughput
from pocketmt.progress import Progress, no_progress
from pocketmt.text.corpus import check_rereadable, read_lines, read_pairs
from pocketmt.text.languages import check_same_languages


@dataclass(frozen=True)
class QualityRecord:
    """The quality of a model file on a parallel text, as it is written to disk."""

    model: str
    source: str
    references: list[str]
    beam_size: int
    instruction_set: str
    shortlist: bool  # whether the model file's shortlist is used, if it has one
    quality: Quality
    baseline: str | None  # another model file, evaluated in the same way
    differences: list[Difference]  # of this model from the baseline; empty without one
    provenance: Provenance


def evaluate_model(
    models: Sequence[str | Path],
    source: Path,
    references: Sequence[Path],
    *,
    beam_size: int,
    baseline: str | Path | None = None,
    workers: int = 1,
    shortlist: bool | None = None,
    device: str = NATIVE,
    languages: tuple[str | None, str | None] = (None, None),
) -> QualityRecord:
    """Translate `source` with a model file or an ensemble of several, and score it against `references`.

    If a baseline is given, it is compared with it. Without `shortlist`, that of a model file is used as `Translator`
    does: by the native engine, not by PyTorch.

    `languages` are those of the translation, where models have several; each model may name them by other codes.

    Raises:
        DataError: the files cannot be read, are not parallel or have no lines.
        ConfigurationError: the baseline translates between other languages.
        ModelFileError: a model file is invalid.
        EngineError: PyTorch or the GPU is missing, or a model does not have a language.
    """
    metrics()  # fails now, not after the translation, if sacreBLEU is missing
    if len(references) > 1:
        check_rereadable(source)
    translator = Translator(models, workers=workers, device=device)
    if shortlist is None:
        shortlist = translator.device == NATIVE
    name = " + ".join(map(str, models))
    other = None if baseline is None else Translator(baseline, workers=workers, device=device)
    search = TranslationOptions(beam_size=beam_size, shortlist=shortlist, check=False)
    search["source_language"], search["target_language"] = languages
    sides = languages_of(search, translator)
    if other is not None:
        check_same_languages(name, sides, f"the baseline {baseline}", languages_of(search, other))
    pairs = list(read_pairs(source, references[0], sides))
    if not pairs:
        raise DataError(f"{source} and {references[0]} have no lines: there is nothing to score, give other files")
    sources = [line for line, _ in pairs]
    expected = [[target for _, target in pairs]]
    expected += [[target for _, target in read_pairs(source, each, sides)] for each in references[1:]]
    translations = translator.translate(sources, **search)
    differences = []
    if other is not None:
        differences = compare(other.translate(sources, **search), translations, *expected)
    return QualityRecord(
        model=name,
        source=str(source),
        references=[str(each) for each in references],
        beam_size=beam_size,
        instruction_set=translator.instruction_set,
        shortlist=shortlist,
        quality=score(translations, *expected),
        baseline=None if baseline is None else str(baseline),
        differences=differences,
        provenance=provenance(),
    )


def _timed_lines(text: Path, count: int | None) -> list[str]:
    lines = list(read_lines(text))
    if not lines:
        raise DataError(f"{text} has no lines: there is nothing to time, give another file")
    if not any(line.strip() for line in lines):
        raise DataError(f"{text} has only blank lines: there is nothing to time, give another file")
    return lines if count is None else lengthened(lines, count)


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
    languages: tuple[str | None, str | None] = (None, None),
    progress: Progress = no_progress,
) -> SpeedRecord:
    """Time a model file on a text, sentence by sentence or as a stream (Behnke et al. 2021, section 1.1).

    Args:
        model, text: the files; the text has a sentence a line.
        mode: "latency" or "throughput".
        beam_size, workers, pin_workers, instruction_set, shortlist, languages: see `Translator`.
        repeats: number of runs over the whole text.
        lines: number of lines in a run, with the text repeated as needed; None: the lines of the text.
        progress: called with the number of translated lines, and of all in all runs.

    Raises:
        DataError: the text cannot be read or is blank.
        ModelFileError: the model file is invalid.
        EngineError: there are more pinned workers than cores, or the CPU lacks the instruction set.
    """
    sentences = _timed_lines(text, lines)
    before = memory_bytes()
    start = time.perf_counter()
    translator = Translator(model, workers=workers, pin_workers=pin_workers, instruction_set=instruction_set)
    load_seconds = time.perf_counter() - start
    search = TranslationOptions(beam_size=beam_size, shortlist=shortlist, check=False)
    search["source_language"], search["target_language"] = languages
    if mode == "latency":
        timing = measure_latency(partial(translator.translate, **search), sentences, repeats, progress)
    else:
        timing = measure_throughput(partial(translator.translate_chunks, **search), sentences, repeats, progress)
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
