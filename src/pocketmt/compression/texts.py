"""Text that a compression learns from: the model's own, the uncompressed model's translations, or both."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pocketmt.compression.plan import Plan
from pocketmt.compression.teacher_translations import LanguageEncoder, Teacher, Translations
from pocketmt.engine.languages import ModelLanguages
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.packing.model_source import start_engine
from pocketmt.progress import Progress
from pocketmt.recipes.schema import SEQUENCE_OBJECTIVES
from pocketmt.text.corpus import check_rereadable, read_lines
from pocketmt.training.configuration import Data
from pocketmt.training.data import Corpus, PairEncoder, corpus_for
from pocketmt.training.trained_model import TrainedModel


@dataclass(frozen=True)
class Texts:
    """What stages are trained and validated on.

    Attributes:
        corpus: None: nothing is retrained or validated.
        translations: by the uncompressed model; None where no stage's objective needs them.
    """

    corpus: Corpus | None
    translations: Translations | None

    @property
    def scored_on_translations(self) -> bool:
        """Whether the uncompressed model's translations stand for references."""
        return (
            self.corpus is not None
            and self.translations is not None
            and self.translations.validation is self.corpus.validation
        )


def parallel_text(
    model: TrainedModel,
    plan: Plan,
    source_text: Path | None,
    warn: Callable[[str], None] = lambda message: None,
) -> Corpus | None:
    """Load the text of a model's own configuration; None if it has none and needs none.

    Text that is not needed may be missing, as a run may come from another machine. It may have errors where no stage
    needs any text.

    Args:
        model: to compress.
        plan: of the compression.
        source_text: plain text that replaces it, if any.
        warn: told that text is missing.

    Raises:
        DataError: it has none, and no plain text replaces it; or text that is needed has an error, or the plain text is
            blank or a pipe.
        ConfigurationError: plain text is given beside other text, but no stage learns from it.
    """
    if source_text is not None:
        _check_text(source_text, model)
    needed = plan.needs_text and source_text is None
    corpus = None
    if model.configuration is not None:
        data = model.configuration.data
        files = [file for sides in (data.validation_files, *data.training_files) for file in sides]
        missing = [file for file in files if not file.exists()]
        if missing and not needed:
            warn(f"{missing[0]}: no such file, so the training and validation text of {model.name} is not used")
        else:
            corpus = _corpus(model, data, plan, warn)
    elif needed:
        raise DataError(
            f"{model.name}: the recipe needs text, but none is known: give plain text with --source-text, or a "
            "training configuration with --configuration"
        )
    if source_text is not None and corpus is not None and not plan.learns_from_translations:
        objectives = " or ".join(SEQUENCE_OBJECTIVES)
        raise ConfigurationError(
            f"nothing would be learnt from {source_text}: no stage of the recipe has the objective {objectives}; "
            "choose another recipe, or leave the text out"
        )
    return corpus


def _corpus(model: TrainedModel, data: Data, plan: Plan, warn: Callable[[str], None]) -> Corpus | None:
    """Return the text of a configuration; None, with a warning, where it has an error and no stage needs text."""
    try:
        return corpus_for(data, encoder_of(model))
    except DataError as error:
        if plan.needs_text:
            raise
        warn(f"the training and validation text of {model.name} is not used, as it has an error: {error}")
        return None


def encoder_of(model: TrainedModel) -> PairEncoder:
    """Return what encodes the text of a model: in the languages of its configuration, or in its default ones."""
    return _language_encoder(model) or PairEncoder(model.vocabularies)


def _language_encoder(model: TrainedModel) -> LanguageEncoder | None:
    """Return the encoder of a model of several languages; None for any other model."""
    if model.language_pieces is None:
        return None
    defaults = model.languages["source"], model.languages["target"]
    languages = ModelLanguages(defaults, model.language_pieces, model.vocabularies)
    codes = None if model.configuration is None else model.configuration.data.languages
    return LanguageEncoder(model.vocabularies, languages, codes)


def teacher_of(model: TrainedModel, folder: Path, progress: Progress) -> Teacher:
    """Return the uncompressed model as a teacher, which keeps its translations in a folder of `folder`."""
    engine = partial(start_engine, model)
    return Teacher(
        model.digest,
        model.vocabularies,
        model.configuration,
        engine,
        folder / "translations",
        progress,
        _language_encoder(model),
        model.text_languages,
    )


def translated_text(model: TrainedModel, source_text: Path, folder: Path, progress: Progress) -> Corpus:
    """Return plain source text with the model's translations, some lines of it held out for validation.

    Raises as `parallel_text` and `Teacher.corpus_of_plain_text` do.
    """
    _check_text(source_text, model)
    return teacher_of(model, folder, progress).corpus_of_plain_text(source_text)


def scored_text(model: TrainedModel, source_text: Path, folder: Path, most: int | None, progress: Progress) -> Corpus:
    """Return plain source text with the model's translations, all of it for validation.

    Args:
        model: whose translations are references.
        source_text: the text.
        folder: for its translations.
        most: number of usable lines to translate, the first ones; None: all.
        progress: as of `Teacher`.

    Raises as `parallel_text` and `Teacher.corpus_to_score` do.
    """
    _check_text(source_text, model)
    return teacher_of(model, folder, progress).corpus_to_score(source_text, most)


def with_translations(corpus: Corpus | None, plan: Plan, source_text: Path | None, teacher: Teacher) -> Texts:
    """Add the translations that stages learn from; without parallel text, translated plain text replaces it.

    Raises as `Teacher.texts` and `Teacher.corpus_of_plain_text` do.
    """
    if corpus is None and source_text is not None:
        corpus = teacher.corpus_of_plain_text(source_text)
        return Texts(corpus, Translations(corpus.training, corpus.validation))
    return Texts(corpus, teacher.translate_corpus(source_text) if plan.learns_from_translations else None)


def _check_text(source_text: Path, model: TrainedModel) -> None:
    check_rereadable(source_text)
    if not any(line.strip() for line in read_lines(source_text, "source", model.text_languages)):
        raise DataError(f"{source_text}: every line is empty: give other text")
