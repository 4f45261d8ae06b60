"""Translations by the uncompressed model: sequence-level distillation (Kim and Rush 2016, section 3.2)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from pocketmt.cores import available_cores
from pocketmt.engine import Translator
from pocketmt.engine.devices import AUTOMATIC, choose_device, lines_at_once
from pocketmt.engine.languages import ChosenLanguages, ModelLanguages
from pocketmt.engine.options import TranslationOptions
from pocketmt.errors import DataError
from pocketmt.progress import Progress
from pocketmt.text.cleaning import Cleaning
from pocketmt.text.corpus import read_lines
from pocketmt.text.formats.format import Languages
from pocketmt.text.vocabulary import Vocabularies
from pocketmt.training.configuration import Configuration
from pocketmt.training.data import Corpus, Pair, PairEncoder, clean_pairs, make_cleaning, short_pairs
from pocketmt.training.repetitions import repetitions
from pocketmt.training.translations import LINES, TextPair, translate_text

BEAM_SIZE: Final = 4
# Without validation text, a tenth of the plain text is held out for validation, up to this number of lines.
MOST_HELD_OUT: Final = 1_000


@dataclass(frozen=True)
class Translations:
    """Sentences and the uncompressed model's translations of them, as piece ids."""

    training: Sequence[Pair]
    validation: list[Pair]


class LanguageEncoder(PairEncoder):
    """Encodes text for a model of several languages, with the pieces of its languages as the engine adds them."""

    def __init__(self, vocabularies: Vocabularies, languages: ModelLanguages, codes: Languages | None) -> None:
        """Take the model's vocabularies and languages, and the codes of the text's; None: the model's default ones."""
        super().__init__(vocabularies)
        self._languages = languages
        self.source_language = None if codes is None else codes[0]
        self.target_language = None if codes is None else codes[1]

    @cached_property
    def chosen(self) -> ChosenLanguages:
        """The languages of the text; raises EngineError as `ModelLanguages.choose` does."""
        return self._languages.choose(self.source_language, self.target_language)

    @property
    def forced(self) -> tuple[int, ...]:
        """What every translation begins with; raises as `chosen` does."""
        return () if self.chosen.forced is None else (self.chosen.forced,)

    def pairs(self, texts: Iterable[tuple[str, str]]) -> Iterator[Pair]:
        """Yield pairs of lines as pairs of token ids; raises EngineError where a language is missing."""
        for line, translation in texts:
            named, rest = self._languages.named_by(line)
            source = self.vocabularies.source.encode(rest)
            target = self.vocabularies.target.encode(translation)
            yield (
                [*self.chosen.prefix(named), *source] if source else [],
                [*self.forced, *target] if target else [],
            )


class Teacher:
    """The uncompressed model, run by the engine; it translates each text once for a compression."""

    def __init__(
        self,
        digest: str,
        vocabularies: Vocabularies,
        configuration: Configuration | None,
        start_engine: Callable[[Path, int], Translator],
        folder: Path,
        progress: Progress,
        encoder: LanguageEncoder | None = None,
        text_languages: Languages | None = None,
    ) -> None:
        """Take the model's digest, vocabularies and configuration, and what starts the engine with it.

        Args:
            digest: of the model's weights; translations of another model are not taken over.
            vocabularies: of the model.
            configuration: of its training, which says what is cleaned; None: empty and overlong lines.
            start_engine: file for a packed model, and workers -> translator.
            folder: where translations are kept.
            progress: told how many lines of a text are translated, of how many.
            encoder: of a model of several languages; None: they need no pieces.
            text_languages: by which the source side of a parallel format is found.
        """
        self.digest = digest
        self.vocabularies = vocabularies
        self.configuration = configuration
        self.folder = folder
        self.progress = progress
        self.encoder = encoder
        self.text_languages = text_languages
        unfiltered = Cleaning(remove_identical=False, remove_duplicates=False)
        self.cleaning = unfiltered if configuration is None else make_cleaning(configuration.data)
        self._start_engine = start_engine
        self._translator: Translator | None = None

    def texts(self, text: Path, name: str) -> list[TextPair]:
        """Return the usable lines of a text with their translations, which are kept under a name.

        Raises DataError if it has none, and as `translate_text` does.
        """
        identity: dict[str, str | int] = {"model": self.digest, "beam_size": BEAM_SIZE}
        if self.encoder is not None:
            identity["languages"] = f"{self.encoder.chosen.source} {self.encoder.chosen.target}"
        pairs = translate_text(
            text,
            self.folder / name,
            self._translate,
            identity,
            self.progress,
            languages=self.text_languages,
            lines_at_once=lines_at_once(choose_device(AUTOMATIC)),
        )
        return _not_empty(clean_pairs(pairs, self.cleaning, self.vocabularies), text)

    def _first_texts(self, text: Path, most: int) -> list[TextPair]:
        """Return the first usable lines of a text with their translations; no more lines than needed are translated.

        Raises DataError if it has none, or cannot be read.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = read_lines(text, "source", self.text_languages)
        most_at_once = max(LINES, lines_at_once(choose_device(AUTOMATIC)))
        kept: list[TextPair] = []

        def translated() -> Iterator[TextPair]:
            while some := list(islice(lines, min(most - len(kept), most_at_once))):
                yield from zip(some, self._translate(some, None), strict=True)
                self.progress(len(kept), most)

        for pair in clean_pairs(translated(), self.cleaning, self.vocabularies):
            kept.append(pair)  # Before the next lines are read, whose number depends on it.
        return _not_empty(kept, text)

    def pairs(self, text: Path, name: str) -> list[Pair]:
        """Return the same as piece ids."""
        return self._encode(self.texts(text, name))

    def translate_corpus(self, source_text: Path | None) -> Translations:
        """Translate the source sides of the configuration's text, and plain source text, if any.

        Raises as `texts` does.
        """
        assert self.configuration is not None
        data = self.configuration.data
        training: list[Pair] = []
        for number, (source, _) in enumerate(data.training_files):
            texts = self.texts(source, f"training-{number}" if number else "training")
            training += short_pairs(self._encode(list(repetitions(texts, data))), data.maximum_length)
        if source_text is not None:
            training += self.pairs(source_text, "source-text")
        return Translations(training, self.pairs(Path(data.validation_source), "validation"))

    def corpus_of_plain_text(self, source_text: Path) -> Corpus:
        """Return plain source text with its translations as a corpus; lines at even distances are held out.

        Raises DataError where fewer than two lines can be used, and as `texts` does.
        """
        texts = self.texts(source_text, "source-text")
        if len(texts) < 2:
            raise DataError(f"{source_text}: at least two lines are needed, one to learn from and one to validate by")
        return self._corpus(texts, held_out=max(1, min(MOST_HELD_OUT, len(texts) // 10)))

    def corpus_to_score(self, source_text: Path, most: int | None) -> Corpus:
        """Return the first usable lines of plain source text with their translations, all held out for validation.

        Args:
            source_text: the text.
            most: number of lines; None: all.

        Raises as `texts` does.
        """
        texts = self.texts(source_text, "source-text") if most is None else self._first_texts(source_text, most)
        return self._corpus(texts, held_out=len(texts))

    def _corpus(self, texts: Sequence[TextPair], held_out: int) -> Corpus:
        """Return lines and translations as a corpus, with a number of them held out."""
        places = {index * len(texts) // held_out for index in range(held_out)}
        pairs = self._encode(texts)
        validation = [pairs[index] for index in sorted(places)]
        return Corpus(
            vocabularies=self.vocabularies,
            training=[pair for index, pair in enumerate(pairs) if index not in places],
            validation_sources=[source for source, _ in validation],
            validation_references=[texts[index][1] for index in sorted(places)],
            validation=validation,
            left_out={},
            forced=() if self.encoder is None else self.encoder.forced,
        )

    def _encode(self, texts: Sequence[TextPair]) -> list[Pair]:
        """Return pairs as piece ids, with the pieces of their languages."""
        return list((self.encoder or PairEncoder(self.vocabularies)).pairs(texts))

    def _translate(self, lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        if self._translator is None:
            threads = 0 if self.configuration is None else self.configuration.training.threads
            workers = threads or available_cores()
            self._translator = self._start_engine(self.folder / "teacher.pocketmt", workers)
        options: TranslationOptions = {"beam_size": BEAM_SIZE, "protect": False, "check": False}
        if self.encoder is not None:
            options["source_language"] = self.encoder.source_language
            options["target_language"] = self.encoder.target_language
        return self._translator.translate(lines, **options)


def _not_empty(pairs: Iterable[TextPair], text: Path) -> list[TextPair]:
    """Return the pairs of a text; DataError if there are none."""
    kept = list(pairs)
    if not kept:
        raise DataError(
            f"{text}: none of its lines has a usable translation: those of the model are empty or far too long: train "
            "it longer, or give other text"
        )
    return kept
