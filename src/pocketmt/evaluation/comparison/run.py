"""The comparison of two model files on a text."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pocketmt.chunks import in_chunks
from pocketmt.engine import TranslationOptions, Translator
from pocketmt.engine.devices import LINES_AT_ONCE
from pocketmt.errors import DataError
from pocketmt.evaluation.comparison import agreement, outputs
from pocketmt.evaluation.comparison.agreement import LineAgreement
from pocketmt.evaluation.comparison.record import ComparedModel, Comparison, LengthGroup
from pocketmt.evaluation.comparison.sizes import measure_sizes
from pocketmt.evaluation.comparison.speed import compare_speed
from pocketmt.evaluation.languages import languages_of
from pocketmt.evaluation.quality import compare, metrics, score
from pocketmt.evaluation.records import provenance
from pocketmt.model_file.report import inspect_model
from pocketmt.packing.model_path import model_path
from pocketmt.sentences.word_count import count_words
from pocketmt.text.corpus import check_rereadable, read_lines, read_pairs
from pocketmt.text.formats.format import format_of
from pocketmt.text.languages import check_same_languages

MOST_CHANGED: Final = 25
# Lowest numbers of source words of the groups of lines.
LENGTHS: Final = (0, 1, 6, 11, 16, 21, 31)

# Called with the name of a step, and the numbers of what is done of it and of all.
StepProgress = Callable[[str, int, int], None]


def compare_models(
    original: str,
    small: str,
    text: Path,
    references: Sequence[Path] = (),
    *,
    search: TranslationOptions,
    workers: int = 1,
    most_lines: int | None = None,
    speed: bool = True,
    progress: StepProgress = lambda step, done, total: None,
) -> Comparison:
    """Compare a smaller model with its original; both are files, names of bundled models, or of another toolkit.

    Args:
        original, small: the models, which the result names as they are given.
        text, references: one sentence a line; a text of a parallel format has references.
        search, workers: beam size, and languages where the models have several; threads of the engine.
        most_lines, speed, progress: of the text, None: all; whether speed is measured; see `StepProgress`.

    Raises:
        ModelFileError, InteropError: there is no such model, or it is broken.
        DataError: a text cannot be read, is blank, or references are not parallel to it.
        ConfigurationError: the models are of different languages, or sacreBLEU is not installed.
    """
    metrics()  # fails now, not after the translation, if sacreBLEU is missing
    paths = [model_path(each) for each in (original, small)]
    translators = [Translator(path, workers=workers) for path in paths]
    languages = _common_languages([original, small], translators, search)
    search = _named_in(search, translators, languages)
    references = references or (() if format_of(text) == "text" else (text,))
    lines, expected = _read(text, references, languages, most_lines)
    first = _translate(translators[0], "the original", lines, search, progress)
    second = _translate(translators[1], "the smaller model", lines, search, progress)
    no_agreement = agreement.why_not(*translators)
    forced = {} if no_agreement else _compare_pieces(translators, lines, search, progress)
    models = [_describe(*each, lines, expected) for each in zip((original, small), paths, (first, second), strict=True)]
    if speed:
        models = _with_speed(models, paths, lines, search, workers, progress)
    scores = outputs.sentence_chrf(first, second)
    return Comparison(
        original=models[0],
        small=models[1],
        source_language=languages[0],
        target_language=languages[1],
        text=str(text),
        references=tuple(map(str, references)),
        lines=len(lines),
        beam_size=search["beam_size"],
        outputs=outputs.agree(first, second),
        agreement=agreement.total(forced.values()),
        no_agreement=no_agreement,
        by_length=_by_length(lines, first, second, forced),
        chrf_histogram=outputs.histogram(scores),
        differences=tuple(compare(first, second, *expected)) if expected else (),
        changed=outputs.most_changed(lines, first, second, expected, scores, MOST_CHANGED),
        provenance=provenance(),
    )


def _common_languages(
    names: Sequence[str], translators: Sequence[Translator], search: TranslationOptions
) -> tuple[str, str]:
    first, second = (languages_of(search, translator) for translator in translators)
    check_same_languages(names[0], first, names[1], second)
    return first[0] or second[0], first[1] or second[1]


def _named_in(
    search: TranslationOptions, translators: Sequence[Translator], languages: tuple[str, str]
) -> TranslationOptions:
    """Return the options with the languages, so that a model whose file names none splits text as the other one."""
    if all(translator.source_language and translator.target_language for translator in translators):
        return search
    return {**search, "source_language": languages[0] or None, "target_language": languages[1] or None}


def _read(
    text: Path, references: Sequence[Path], languages: tuple[str, str], most: int | None
) -> tuple[list[str], list[list[str]]]:
    """Return the lines of a text, and those of each reference."""
    if len(references) > 1:
        check_rereadable(text)
    expected = []
    for reference in references:
        pairs = list(read_pairs(text, reference, languages))
        expected.append([target for _, target in pairs][:most])
        lines = [source for source, _ in pairs][:most]
    if not references:
        lines = list(read_lines(text, "source", languages))[:most]
    if not any(line.strip() for line in lines):
        raise DataError(f"{text} has no text: there is nothing to compare, give another file")
    return lines, expected


def _translate(
    translator: Translator, name: str, lines: list[str], search: TranslationOptions, progress: StepProgress
) -> list[str]:
    translations: list[str] = []
    options: TranslationOptions = {**search, "check": False}
    for chunk in translator.translate_chunks(in_chunks(lines, LINES_AT_ONCE), **options):
        translations += chunk
        progress(f"translated by {name}", len(translations), len(lines))
    return translations


def _compare_pieces(
    translators: Sequence[Translator], lines: list[str], search: TranslationOptions, progress: StepProgress
) -> dict[int, LineAgreement]:
    """Return the agreement of some lines, by their places."""
    places = agreement.chosen_lines(lines, partial(progress, "compared pieces of"))
    return {place: agreement.compare_line(translators, lines[place], search) for place in places}


def _describe(
    name: str, path: Path, translations: list[str], lines: list[str], expected: list[list[str]]
) -> ComparedModel:
    report = inspect_model(path)
    return ComparedModel(
        name=name,
        producer=report.producer,
        recipe=str(report.recipe.get("name", report.recipe.get("schemes", ""))),
        architecture=report.architecture.to_json(),
        sizes=measure_sizes(report),
        faults=outputs.find_faults(lines, translations),
        quality=score(translations, *expected) if expected else None,
        speed=None,
    )


def _with_speed(
    models: Sequence[ComparedModel],
    paths: Sequence[Path],
    lines: list[str],
    search: TranslationOptions,
    workers: int,
    progress: StepProgress,
) -> list[ComparedModel]:
    shown = partial(progress, "measured speed")
    speeds = compare_speed(paths, lines, search=search, workers=workers, progress=shown)
    return [replace(model, speed=speed) for model, speed in zip(models, speeds, strict=True)]


def _by_length(
    lines: list[str], first: list[str], second: list[str], forced: dict[int, LineAgreement]
) -> tuple[LengthGroup, ...]:
    groups = []
    for index, lowest in enumerate(LENGTHS):
        highest = LENGTHS[index + 1] - 1 if index + 1 < len(LENGTHS) else None
        limit = float("inf") if highest is None else highest
        # Half a word of a script without spaces belongs to the words before it.
        places = [place for place, line in enumerate(lines) if lowest <= int(count_words(line)) <= limit]
        if places:
            agreed = outputs.agree([first[place] for place in places], [second[place] for place in places])
            in_group = agreement.total(forced[place] for place in places if place in forced)
            groups.append(LengthGroup(lowest, highest, agreed, in_group))
    return tuple(groups)
