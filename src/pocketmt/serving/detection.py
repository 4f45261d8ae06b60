"""Detection of the language of a text, out of the languages of the models, by py3langid."""

import lzma
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pocketmt.serving.models.catalogue import Routes
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.normalization import remove_invisible

_LONGEST: Final = 2_000  # characters that are looked at
_LEAST_CONFIDENCE: Final = 1.0
_BYTES_AT_ONCE: Final = 1 << 20
_SHORT: Final = 40  # characters of a text that tells little of its language
_SIMILAR: Final = 0.6  # of the confidence in the most probable language


@dataclass(frozen=True, slots=True)
class Detected:
    """A language, and the confidence in it: 0 to 100."""

    language: str
    confidence: float


class LanguageDetector:
    """Finds the language of a text among some languages.

    Args:
        languages: codes of at least one language; one that py3langid does not know is never found.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        import numpy as np
        from py3langid.langid import MODEL_DIR, MODEL_FILE  # type: ignore[import-untyped]

        self._languages: Final = tuple(languages)
        path = MODEL_DIR / MODEL_FILE
        with tempfile.TemporaryFile() as file:
            with lzma.open(path) as compressed:
                shutil.copyfileobj(compressed, file, _BYTES_AT_ONCE)
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                known: dict[str, str] = {}
                labels = arrays["classes"].tolist()
                for code in self._languages:
                    primary = primary_subtag(code)
                    if primary in labels:
                        known.setdefault(primary, code)
                self._codes: Final = known
                if known:
                    self._identifier = _identifier(arrays, labels, known)

    def detect(self, text: str) -> list[Detected]:
        """Return the languages that a text may be in, at least one, most probable first."""
        text = remove_invisible(text[:_LONGEST])
        if not self._codes or not any(map(str.isalpha, text)):
            return [Detected(self._languages[0], 0.0)]
        ranked = [
            Detected(self._codes[label], round(100 * float(probability), 1))
            for label, probability in self._identifier.rank(text)
        ]
        return [each for each in ranked if each.confidence >= _LEAST_CONFIDENCE] or ranked[:1]


def detect_sources(detector: LanguageDetector, routes: Routes, texts: Sequence[str], target: str) -> list[Detected]:
    """Return the most probable language of each text that can be translated into a target.

    Of several texts, short ones have the language of all together, as in LibreTranslate.
    """
    together = None
    found = []
    for text in texts:
        if len(text) > _SHORT or len(texts) == 1:
            found.append(_source(detector, routes, text, target))
        else:
            together = together or _source(detector, routes, " ".join(texts), target)
            found.append(together)
    return found


def _source(detector: LanguageDetector, routes: Routes, text: str, target: str) -> Detected:
    """Return the language of a text; a short one that could be in the target or another is taken for the other."""
    candidates = detector.detect(text)
    possible = [each for each in candidates if routes.route(each.language, target) is not None]
    if not possible:
        sources = [source for source in routes.targets if routes.route(source, target) is not None]
        return Detected(min(sources), 0.0) if sources else candidates[0]
    first, *others = possible
    if first.language == target and len(text) <= _SHORT:
        return next((each for each in others if each.confidence >= _SIMILAR * first.confidence), first)
    return first


def _identifier(arrays: Mapping[str, Any], labels: Sequence[str], known: Collection[str]) -> Any:
    """Return py3langid's identifier with the tables of some languages.

    That of `LanguageIdentifier.from_model_file` keeps the tables of all languages, and needs 100 MB while it is made.
    """
    from py3langid.langid import LanguageIdentifier

    columns = [column for column, label in enumerate(labels) if label in known]
    probabilities = arrays["ptc"][:, columns]
    # Elements of a memoryview are Python's integers, which are much faster to compute with than NumPy's.
    transitions, rows, features = (memoryview(arrays[name]) for name in ("nextmove", "nextmove_row", "out_feat"))
    return LanguageIdentifier(
        probabilities,
        arrays["pc"][columns],
        [labels[column] for column in columns],
        transitions,
        features,
        norm_probs=True,
        tk_row=rows,
    )
