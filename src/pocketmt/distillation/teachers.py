"""Teachers for distillation: a single model, run by the engine, or an ensemble, run by PyTorch."""

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

import sacrebleu
import torch

from pocketmt.engine import Hypothesis
from pocketmt.engine.segmentation import encode_line
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import Hypothesis as TokenHypothesis
from pocketmt.models.search import translate_by_ensemble
from pocketmt.packing.model_source import AnyModel
from pocketmt.text.vocabulary import Vocabulary

PACKED_TEACHER: Final = "teacher.pocketmt"  # The model of a run as a file, in the folder of the distillation.
LONGEST_SEGMENT: Final = 200  # Tokens; the engine splits longer lines in the same way.


class _Translator(Protocol):
    """The common interface of the engine's Translator and an ensemble."""

    def translate_n_best(self, lines: Sequence[str], n_best: int, *, beam_size: int) -> list[list[Hypothesis]]: ...


class Teachers:
    """One teacher, or an ensemble of several with the same vocabulary.

    Attributes:
        models: the teachers.
        languages: "source" and "target", the same for all teachers.
        vocabulary: vocabulary of all teachers.
        beam_size: number of hypotheses of the search.
        n_best: number of translations among which references choose.
    """

    def __init__(
        self, names: Sequence[str], folder: Path, *, beam_size: int, n_best: int = 1, workers: int | None = None
    ) -> None:
        """Read the teachers. The engine or the networks are loaded with the first translation.

        Args:
            names: names of the models, which `AnyModel` opens.
            folder: folder for a model file of a run's model.
            beam_size: number of hypotheses of the search.
            n_best: number of translations among which `translate` chooses by reference; without references, it takes
                the best.
            workers: number of threads; None: the number of cores of this process.

        Raises:
            DataError: the teachers differ in vocabulary or languages.
            ConfigurationError: `n_best` is larger than the beam.
        """
        if n_best > beam_size:
            raise ConfigurationError(
                f"the {n_best} best translations need a beam of at least {n_best}, not {beam_size}"
            )
        self.models = [AnyModel(name) for name in names]
        self.languages, self.vocabulary = self.models[0].languages, self.models[0].vocabulary
        for model in self.models[1:]:
            if model.vocabulary.model != self.vocabulary.model:
                raise DataError(
                    f"{model.name}: its vocabulary is not that of {names[0]}: train the teachers of an ensemble with "
                    "the same vocabulary ([data] vocabulary)"
                )
            if model.languages != self.languages:
                raise DataError(f"{model.name}: it translates other languages than {names[0]}: choose other teachers")
        self._folder = folder
        self.beam_size, self.n_best = beam_size, n_best
        self._workers = workers or len(os.sched_getaffinity(0))
        self._translator: _Translator | None = None

    @property
    def identity(self) -> dict[str, str | int]:
        """The teachers' digests and the settings of the search, which identify their translations."""
        digests = "+".join(model.digest for model in self.models)
        return {"model": digests, "beam_size": self.beam_size, "n_best": self.n_best}

    def translate(self, lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        """Return the best translation of each line, or of the n best the one that is most similar to its reference."""
        if self._translator is None:
            self._translator = self._load()
        n_best = 1 if references is None else self.n_best
        found = self._translator.translate_n_best(lines, n_best, beam_size=self.beam_size)
        if references is None:
            return [hypotheses[0].text for hypotheses in found]
        return [most_similar(hypotheses, reference) for hypotheses, reference in zip(found, references, strict=True)]

    def _load(self) -> _Translator:
        if len(self.models) == 1:
            return self.models[0].translator(self._folder / PACKED_TEACHER, self._workers)
        torch.set_num_threads(self._workers)
        return Ensemble([model.network() for model in self.models], self.vocabulary)


class Ensemble:
    """Several networks that translate together: each step of the search uses the mean of their log-probabilities.

    Lines are split into segments and joined as by the engine.
    """

    def __init__(self, networks: Sequence[TranslationNetwork], vocabulary: Vocabulary) -> None:
        """Take networks in evaluation mode, which may differ in size, and their vocabulary."""
        self._networks = networks
        self._vocabulary = vocabulary

    def translate_n_best(self, lines: Sequence[str], n_best: int, *, beam_size: int) -> list[list[Hypothesis]]:
        """Return up to `n_best` translations of each line, best first, as `Translator.translate_n_best` does."""
        segmented = [encode_line(self._vocabulary, line, LONGEST_SEGMENT) for line in lines]
        sources = [ids for segments in segmented for ids in segments]
        found = iter(translate_by_ensemble(self._networks, sources, beam_size))
        return [self._joined(list(islice(found, len(segments))), n_best) for segments in segmented]

    def _joined(self, segments: Sequence[Sequence[TokenHypothesis]], n_best: int) -> list[Hypothesis]:
        """Join the i-th translations of a line's segments; a blank line has one blank translation."""
        if not segments:
            return [Hypothesis("", 0.0)]
        return [
            Hypothesis(" ".join(self._text(part.ids) for part in parts), sum(part.score for part in parts) / len(parts))
            for parts in islice(zip(*segments, strict=False), n_best)
        ]

    def _text(self, ids: Sequence[int]) -> str:
        return " ".join(self._vocabulary.decode(ids).splitlines())


def most_similar(hypotheses: Sequence[Hypothesis], reference: str) -> str:
    """Return the text with the largest sentence chrF to a reference, and the first of several equal ones."""
    return max(hypotheses, key=lambda each: sacrebleu.sentence_chrf(each.text, [reference]).score).text
