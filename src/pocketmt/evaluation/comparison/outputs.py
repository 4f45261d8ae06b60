"""Agreement of the texts that two models write, and faults that show in a text by itself."""

import re
from collections.abc import Sequence
from typing import Final

from pocketmt.evaluation.comparison.record import ChangedLine, Faults, OutputAgreement
from pocketmt.evaluation.quality import metrics
from pocketmt.sentences.scripts import WITHOUT_SPACES
from pocketmt.sentences.word_count import count_words, is_too_long, is_too_short

_WORD: Final = re.compile(rf"[{WITHOUT_SPACES}]|[^\W{WITHOUT_SPACES}]+")
_LONGEST_REPEATED: Final = 8  # words
_TENTHS: Final = 10
_WORD_OR_SPACE: Final = re.compile(rf"{_WORD.pattern}|\s+|[^\w\s]")


def find_faults(sources: Sequence[str], translations: Sequence[str]) -> Faults:
    """Count translations that look wrong."""
    pairs = [
        (source, text, count_words(source), count_words(text))
        for source, text in zip(sources, translations, strict=True)
    ]
    return Faults(
        repeated=sum(repeats(text) and not repeats(source) for source, text, _, _ in pairs),
        too_short=sum(is_too_short(before, after) for _, _, before, after in pairs),
        too_long=sum(is_too_long(before, after) for _, _, before, after in pairs),
        empty=sum(bool(source.strip()) and not text.strip() for source, text, _, _ in pairs),
    )


def repeats(text: str) -> bool:
    """Whether a word, or a sequence of up to 8 words, stands three times in a row; marks between them do not count."""
    words = _WORD.findall(text.lower())
    for size in range(1, _LONGEST_REPEATED + 1):
        run = 0  # Words in a row that are those `size` words before.
        for place in range(size, len(words)):
            run = run + 1 if words[place] == words[place - size] else 0
            if run == 2 * size:
                return True
    return False


def words_and_spaces(text: str) -> list[str]:
    """Divide a text into words, marks and white space."""
    return _WORD_OR_SPACE.findall(text)


def sentence_chrf(originals: Sequence[str], others: Sequence[str]) -> list[float]:
    """Return the chrF of each line, with the original's as its reference; 100 for equal lines."""
    chrf = metrics()["chrF"]
    return [
        100.0 if original == other else float(chrf.sentence_score(other, [original]).score)
        for original, other in zip(originals, others, strict=True)
    ]


def agree(originals: Sequence[str], others: Sequence[str]) -> OutputAgreement:
    """Compare at least one line."""
    scores = {
        name: 100.0 if list(originals) == list(others) else float(metric.corpus_score(others, [originals]).score)
        for name, metric in metrics(originals).items()
    }
    identical = sum(original == other for original, other in zip(originals, others, strict=True))
    return OutputAgreement(len(others), identical / len(others), scores["BLEU"], scores["chrF"])


def histogram(scores: Sequence[float]) -> tuple[int, ...]:
    """Return the numbers of scores from 0 to 100 in each tenth."""
    tenths = [min(int(score / _TENTHS), _TENTHS - 1) for score in scores]
    return tuple(tenths.count(tenth) for tenth in range(_TENTHS))


def most_changed(
    sources: Sequence[str],
    originals: Sequence[str],
    others: Sequence[str],
    references: Sequence[Sequence[str]],
    scores: Sequence[float],
    most: int,
) -> tuple[ChangedLine, ...]:
    """Return the lines of lowest chrF whose translations differ."""
    changed = [place for place in range(len(sources)) if originals[place] != others[place]]
    changed.sort(key=lambda place: scores[place])
    return tuple(
        ChangedLine(
            place + 1,
            sources[place],
            originals[place],
            others[place],
            tuple(each[place] for each in references),
            scores[place],
        )
        for place in changed[:most]
    )
