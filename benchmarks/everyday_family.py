"""Scores, sizes and speed of a family that `python -m examples.everyday` made: ensemble, teachers, students, files.

    python -m benchmarks.everyday_family examples/everyday/two-cores.toml --folder runs/two-cores --languages en-de

Scores are of the test set, with all references and beam 4; `val` chooses the best teacher, which gains are against, if
there is one. All models, and the ensemble of the teachers, are timed on one core, in turn. Members that were not made
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
from benchmarks.multi30k.compression import encoder_sparsity
from benchmarks.multi30k.quality import BEAM, score_entry
from benchmarks.multi30k.students import times_in_turn
from benchmarks.multi30k.texts import TEXTS, Texts
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.record_files import write_record
from examples.everyday.settings import Settings, read_settings
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import compare, score
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import open_model

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
    translators = {name: Translator(paths) for name, paths in files.items()}
    members = {name: _member(name, paths, translators[name], texts) for name, paths in files.items()}
    teachers = [member for name, member in members.items() if name.startswith("teacher")]
    best = max(teachers, key=lambda member: float(member.row["val"]["bleu"]), default=None)
    for member in members.values():
        member.row.update(_gain(member, best, texts))
    words = sum(len(line.split()) for line in texts.pooled_sources())
    for name, time in times_in_turn(translators, texts.pooled_sources(), options.rounds).items():
        members[name].row.update(time=time, words_per_second=words / time["seconds"])
    record = {
        "languages": options.languages,
        "best_teacher": None if best is None else best.name,
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


def model_files(settings: Settings, made: Path) -> dict[str, list[Path]]:
    """Return the model files of a direction, by name: the ensemble, teachers, students, compressed students.

    Those that were not made are left out. Raises ConfigurationError if there is none.
    """
    teachers = [f"teacher{number}" for number in range(1, len(settings.teachers.models) + 1)]
    paths = {name: made / f"{name}.pocketmt" for name in (*teachers, *settings.students, *settings.compressions)}
    found = {name: [path] for name, path in paths.items() if path.exists()}
    together = [path for name in teachers for path in found.get(name, [])]
    if not found:
        raise ConfigurationError(f"{made}: no model was packed: run python -m examples.everyday first")
    return {ENSEMBLE: together, **found} if len(together) > 1 else found


def _member(name: str, paths: Sequence[Path], translator: Translator, texts: Texts) -> Member:
    validation = _translations(translator, texts.source_lines(texts.validation))
    outputs = _translations(translator, texts.pooled_sources())
    with open_model(paths[0]) as file:
        sparsity = encoder_sparsity(file.architecture) if len(paths) == 1 else None
    row = {
        "model": name,
        "bytes": sum(path.stat().st_size for path in paths),
        "encoder_sparsity": sparsity,
        "training": translator.manifest["training"] if len(paths) == 1 else None,
        "val": score_entry(score(validation, *texts.reference_lines(texts.validation))),
        "test": score_entry(score(outputs, *texts.pooled_references())),
    }
    return Member(name, outputs, row)


def _translations(translator: Translator, source: Sequence[str]) -> list[str]:
    return translator.translate(source, beam_size=BEAM, split=False, check=False)


def _gain(member: Member, baseline: Member | None, texts: Texts) -> dict[str, float | None]:
    """Return the gain in BLEU of a member over another one on the test set, with the p-value of a paired bootstrap."""
    if baseline is None or member.name == baseline.name:
        return {"gain": None, "p_value": None}
    bleu = compare(baseline.outputs, member.outputs, *texts.pooled_references())[0]
    return {"gain": bleu.gain, "p_value": bleu.p_value}


def _comparison(members: dict[str, Member], name: str, baseline: str, texts: Texts) -> dict[str, Any]:
    for each in (name, baseline):
        if each not in members:
            raise ConfigurationError(f"{each} is not a member that was made: choose from {', '.join(members)}")
    return {"model": name, "baseline": baseline, **_gain(members[name], members[baseline], texts)}


def cleaning_counts(logs: Path, languages: str) -> list[dict[str, Any]]:
    """Return the pairs that each rule of `pocketmt clean` removed, as the logs of a direction have them.

    A row has the rule as "removed as", and the number of pairs by the name of the text.
    """
    rows: dict[str, dict[str, Any]] = {}
    for text in ("distilled", "plain"):
        path = logs / f"{languages}.{text}.log"
        if not path.exists():
            continue
        table = path.read_text(encoding="utf-8").rpartition("removed as")[2]
        for match in _COUNT.finditer(table):
            row = rows.setdefault(match["reason"], {"removed as": match["reason"]})
            row[text] = int(match["pairs"].replace(",", ""))
    return list(rows.values())


if __name__ == "__main__":
    sys.exit(run(main))
