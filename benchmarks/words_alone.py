"""Scores models on words and phrases that stand alone on a line, as labels do.

    python -m benchmarks.words_alone --languages en-de 'name=MODEL' 'another=MODEL'

The phrases are those of the validation text of Tatoeba, or with --final of the test set, by word alignments over that
and the training text. A translation is right if it is linked to the phrase at least twice in these texts; case and a
final mark do not count. A phrase is known if the training text has it often enough for `examples.everyday.phrases`.
They are translated in lower case, and as labels, with a first capital. Translations are by beam 4.
"""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.everyday_scores import REFERENCES, Rows, score_models
from examples.everyday.phrases import PhraseCounts, Side
from pocketmt.engine import Translator

SEED: Final = 1
LARGEST_GROUP: Final = 1_000  # phrases; of more, some are drawn
LEAST_LINKS: Final = 2  # of a right translation
COLUMNS: Final = [
    "model",
    "group",
    "phrases:,",
    "lower_case:.1%",
    "labels:.1%",
]


class Group(NamedTuple):
    """Phrases of a kind.

    Attributes:
        name: of the kind.
        right: the right translations of each phrase, in lower case.
    """

    name: str
    right: dict[str, set[str]]


def main(arguments: Sequence[str]) -> int:
    """Score, write the record, print its rows."""
    return score_models(arguments, __doc__, _scorer, COLUMNS, seed=SEED)


def _scorer(languages: str, part: str) -> Callable[[Translator], Rows]:
    groups = list(phrase_groups(languages, part))
    return lambda translator: [scored(translator, group) for group in groups]


def phrase_groups(languages: str, part: str) -> Iterator[Group]:
    """Yield the known and the new words and phrases of a text; words that do not begin with a letter are no phrases."""
    source_name, reference_names = REFERENCES[languages]
    evaluated = [pair for name in reference_names for pair in _pairs(source_name, name, part)]
    training = _pairs(source_name, languages.partition("-")[2], "train")
    known = {phrase.source.lower() for phrase in _counts(training).best()}
    right: dict[str, set[str]] = {}
    for phrase, links in _counts([*training, *evaluated]).counts.items():
        if links >= LEAST_LINKS:
            right.setdefault(phrase.source, set()).add(phrase.target)
    found = sorted({phrase.source for phrase in _counts(evaluated).counts} & right.keys())
    draw = random.Random(SEED)
    for words, name in ((True, "words"), (False, "phrases")):
        for is_known in (True, False):
            group = [each for each in found if (" " not in each) == words and (each in known) == is_known]
            drawn = sorted(draw.sample(group, min(len(group), LARGEST_GROUP)))
            yield Group(f"{'known' if is_known else 'new'} {name}", {each: right[each] for each in drawn})


def _counts(pairs: Sequence[tuple[str, str]]) -> PhraseCounts:
    return PhraseCounts(Side(source for source, _ in pairs), Side(target for _, target in pairs))


def _pairs(source: str, target: str, part: str) -> list[tuple[str, str]]:
    sides = (_lines(part, source), _lines(part, target))
    return list(zip(*sides, strict=True))


def _lines(part: str, name: str) -> list[str]:
    folder = corpus("tatoeba")
    path = folder / f"{part}.{name}"
    path = path if path.exists() else folder / f"{part}.{name[:2]}"  # The training text has one side a language.
    return path.read_text(encoding="utf-8").splitlines()


def scored(translator: Translator, group: Group) -> dict[str, Any]:
    """Return the number of phrases of a group, and the shares of them whose translations are right."""
    phrases = list(group.right)
    shares = {}
    for name, change in (("lower_case", str), ("labels", str.capitalize)):
        translations = translator.translate(list(map(change, phrases)), beam_size=4, check=False)
        right = sum(
            translation.lower().rstrip(".!?") in group.right[phrase]
            for phrase, translation in zip(phrases, translations, strict=True)
        )
        shares[name] = right / max(len(phrases), 1)
    return {"group": group.name, "phrases": len(phrases), **shares}


if __name__ == "__main__":
    sys.exit(run(main))
