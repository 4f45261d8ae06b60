"""Scores, sizes and speed of a family that `python -m examples.everyday` made: ensemble, teachers, students, files.

    python -m benchmarks.everyday_family examples/everyday/two-cores.toml --folder runs/two-cores --languages en-de

Scores are of the test set, with all references and beam 4; `val` chooses the best teacher, which gains are against. All
models are timed on one core, in turn; the ensemble, which the engine does not run, is not. Members that were not made
are left out. `--compare MODEL BASELINE` adds the gain of one member over another.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.multi30k.quality import BEAM, score_entry
from benchmarks.multi30k.students import times_in_turn
from benchmarks.multi30k.texts import TEXTS, Texts
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.record_files import write_record
from examples.everyday.settings import Settings, read_settings
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.quality import compare, score
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import open_model
from pocketmt.text.corpus import read_lines

CORPORA: Final = {"en-de": "tatoeba", "de-en": "tatoeba-de-en"}
ENSEMBLE: Final = "ensemble"
COLUMNS: Final = (
    *("model", "bytes:,", "val.bleu:.2f=val BLEU", "test.bleu:.2f=test BLEU", "test.chrf:.2f=chrF"),
    *("gain:+.2f", "p_value:.3f=p", "words_per_second:,.0f=words/s"),
)
_COUNT: Final = re.compile(r"^\s*(?P<reason>\S.*?)\s{2,}(?P<pairs>[\d,]+)\s", re.MULTILINE)


@dataclass(frozen=True)
class Member:
    """A model of the family.

    Attributes:
        name: as the configuration calls it.
        outputs: translations of the test set.
        row: of the record.
    """

    name: str
    outputs: list[str]
    row: dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Score and time; write the record, print its rows."""
    options = _options(arguments)
    origin, texts, settings = provenance(), TEXTS[CORPORA[options.languages]], read_settings(options.configuration)
    core = OneCore(options.core)
    made = options.folder / options.languages
    files = model_files(settings, made)
    translators = {name: Translator(path) for name, path in files.items()}
    members = {name: _member(name, path, translators[name], texts) for name, path in files.items()}
    teachers = [member for name, member in members.items() if name.startswith("teacher")]
    if not teachers:
        raise ConfigurationError(f"{made}: no teacher was packed: run python -m examples.everyday first")
    best = max(teachers, key=lambda member: float(member.row["val"]["bleu"]))
    ensemble = _ensemble(made, options.languages, teachers, texts)
    members = {**({ensemble.name: ensemble} if ensemble is not None else {}), **members}
    for member in members.values():
        member.row.update(_gain(member, best, texts))
    words = sum(len(line.split()) for line in texts.pooled_sources())
    for name, time in times_in_turn(translators, texts.pooled_sources(), options.rounds).items():
        members[name].row.update(time=time, words_per_second=words / time["seconds"])
    record = {
        "languages": options.languages,
        "best_teacher": best.name,
        "rows": [member.row for member in members.values()],
        "comparisons": [_comparison(members, name, baseline, texts) for name, baseline in options.compare],
        "cleaning": cleaning_counts(options.folder / "logs", options.languages),
        **core.about(),
        "provenance": origin,
    }
    write_record(record, options.output)
    print(plain_table(record["rows"], [Column.parse(column) for column in COLUMNS]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configuration", type=Path, help="of the family")
    parser.add_argument("--folder", type=Path, required=True, help="folder of the family's results")
    parser.add_argument("--languages", choices=list(CORPORA), required=True, help="direction of translation")
    parser.add_argument("--compare", nargs=2, action="append", default=[], metavar=("MODEL", "BASELINE"))
    parser.add_argument("--rounds", type=int, default=3, help="rounds of timing (default: %(default)s)")
    parser.add_argument("--output", type=Path, required=True, help="the record")
    add_core_option(parser)
    return parser.parse_args(arguments)


def model_files(settings: Settings, made: Path) -> dict[str, Path]:
    """Return the model files of a direction that exist, by name: teachers, students, compressed students."""
    teachers = [f"teacher{number}" for number in range(1, len(settings.teachers.models) + 1)]
    paths = {name: made / f"{name}.pocketmt" for name in (*teachers, *settings.students, *settings.compressions)}
    return {name: path for name, path in paths.items() if path.exists()}


def _member(name: str, path: Path, translator: Translator, texts: Texts) -> Member:
    validation = _translations(translator, texts.source_lines(texts.validation))
    outputs = _translations(translator, texts.pooled_sources())
    with open_model(path) as file:
        training: Any = file.manifest["training"]
    row = {
        "model": name,
        "bytes": path.stat().st_size,
        "training": training,
        "val": score_entry(score(validation, *texts.reference_lines(texts.validation))),
        "test": score_entry(score(outputs, *texts.pooled_references())),
    }
    return Member(name, outputs, row)


def _translations(translator: Translator, source: Sequence[str]) -> list[str]:
    return translator.translate(source, beam_size=BEAM, split=False, check=False)


def _ensemble(made: Path, languages: str, teachers: Sequence[Member], texts: Texts) -> Member | None:
    """Return the ensemble by its translations of the test set; None: they were not made."""
    source, target = (made / f"test.{ENSEMBLE}.{language}" for language in languages.split("-"))
    if not target.exists():
        return None
    if list(read_lines(source)) != texts.pooled_sources():
        raise DataError(f"{source}: these are not the lines of the test set: make the family on the same texts")
    outputs = list(read_lines(target))
    row = {
        "model": ENSEMBLE,
        "bytes": sum(int(teacher.row["bytes"]) for teacher in teachers),
        "val": {"bleu": None},
        "test": score_entry(score(outputs, *texts.pooled_references())),
        "words_per_second": None,
    }
    return Member(ENSEMBLE, outputs, row)


def _gain(member: Member, baseline: Member, texts: Texts) -> dict[str, float | None]:
    """Return the gain in BLEU of a member over another one on the test set, with the p-value of a paired bootstrap."""
    if member.name == baseline.name:
        return {"gain": None, "p_value": None}
    bleu = compare(baseline.outputs, member.outputs, *texts.pooled_references())[0]
    return {"gain": bleu.gain, "p_value": bleu.p_value}


def _comparison(members: dict[str, Member], name: str, baseline: str, texts: Texts) -> dict[str, Any]:
    for each in (name, baseline):
        if each not in members:
            raise ConfigurationError(f"{each} is not a member that was made: choose from {', '.join(members)}")
    return {"model": name, "baseline": baseline, **_gain(members[name], members[baseline], texts)}


def cleaning_counts(logs: Path, languages: str) -> dict[str, dict[str, int]]:
    """Return the pairs that each rule of `pocketmt clean` removed, as the logs of a direction have them, by text."""
    counts = {}
    for text in ("distilled", "plain"):
        path = logs / f"{languages}.{text}.log"
        if path.exists():
            table = path.read_text(encoding="utf-8").rpartition("removed as")[2]
            counts[text] = {match["reason"]: int(match["pairs"].replace(",", "")) for match in _COUNT.finditer(table)}
    return counts


if __name__ == "__main__":
    sys.exit(run(main))
