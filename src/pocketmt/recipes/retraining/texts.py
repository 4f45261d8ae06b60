"""The text that a compression learns from: the model's own, the uncompressed model's translations, or both."""

from dataclasses import dataclass
from pathlib import Path

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.quantization.static_activations import StaticActivations
from pocketmt.recipes.description.plan import PlannedStage
from pocketmt.recipes.description.schema import SEQUENCE_OBJECTIVES
from pocketmt.recipes.retraining.teaching import Taught, Teacher, corpus_of_plain_text, teach
from pocketmt.recipes.trained_model import TrainedModel
from pocketmt.training.data import Corpus, load_corpus


@dataclass(frozen=True)
class Texts:
    """What stages are trained and validated on."""

    corpus: Corpus | None  # None: nothing is retrained or validated
    taught: Taught | None  # None where no stage's objective asks for it


def parallel_text(model: TrainedModel, plan: list[PlannedStage], source_text: Path | None) -> Corpus | None:
    """Load the text of the model's own configuration; None where there is none, and none is needed.

    Raises:
        DataError: there is none, and no plain text that could take its place.
        ConfigurationError: plain text is given that nothing would be learnt from.
    """
    needed = needs_text(plan) and source_text is None
    corpus = None
    if model.configuration is not None:
        try:
            corpus = load_corpus(model.configuration.data, model.vocabulary_file)
        except DataError:
            if needed:
                raise
    elif needed:
        raise DataError(
            f"{model.vocabulary_file.parent} holds no configuration.json, and the recipe needs text, to retrain, "
            "to estimate ranges or maxima or to count words: give a training configuration, or plain text by "
            "--source-text"
        )
    if source_text is not None and not (learns_from_translations(plan) or (corpus is None and needs_text(plan))):
        objectives = " or ".join(SEQUENCE_OBJECTIVES)
        raise ConfigurationError(
            f"nothing would be learnt from {source_text}: no stage of the recipe has the objective {objectives}"
        )
    return corpus


def taught_texts(corpus: Corpus | None, plan: list[PlannedStage], source_text: Path | None, teacher: Teacher) -> Texts:
    """Have translated what is to be learnt from; plain text takes the place of parallel text where there is none.

    Raises as `teach` and `corpus_of_plain_text` do.
    """
    if corpus is None and source_text is not None:
        corpus = corpus_of_plain_text(teacher, source_text)
        return Texts(corpus, Taught(corpus.training, corpus.validation))
    return Texts(corpus, teach(teacher, source_text) if learns_from_translations(plan) else None)


def needs_text(plan: list[PlannedStage]) -> bool:
    """Return whether a recipe cannot be carried out without text."""
    return any(
        stage.retraining is not None
        or stage.compensation is not None
        or stage.estimation is not None
        or isinstance(stage.products, StaticActivations)
        or any(division.ratio is not None for division in stage.matrices.values())
        or any(entry.needs_text for entry in stage.pruning)
        for stage in plan
    )


def learns_from_translations(plan: list[PlannedStage]) -> bool:
    """Return whether any stage is retrained on the uncompressed model's translations."""
    return any(stage.retraining is not None and stage.retraining.objective in SEQUENCE_OBJECTIVES for stage in plan)
