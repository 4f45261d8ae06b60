"""Who translates: one model by the engine, or an ensemble, the mean of its log-probabilities, in PyTorch [E1]."""

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
from pocketmt.models.search import Hypothesis as Found
from pocketmt.models.search import translate_by_ensemble
from pocketmt.recipes.any_model import AnyModel
from pocketmt.text.vocabulary import Vocabulary

LONGEST_SEGMENT: Final = 200  # pieces, as the engine cuts longer lines


class _Translator(Protocol):
    """What the engine's Translator and an ensemble have in common."""

    def translate_n_best(self, lines: Sequence[str], n_best: int, *, beam_size: int) -> list[list[Hypothesis]]: ...


class Teachers:
    """One teacher or several of one vocabulary, ready to translate.

    Attributes:
        models: the teachers.
        languages: "source" and "target", those of all.
        vocabulary: that of all.
        beam_size: of the search.
        n_best: translations among which is picked by reference.
    """

    def __init__(
        self, names: Sequence[str], folder: Path, *, beam_size: int, n_best: int = 1, workers: int | None = None
    ) -> None:
        """Read the teachers; weights are made ready when the first line is translated.

        Args:
            names: of the models, as `AnyModel` takes them.
            folder: where a run's model may be written as a model file.
            beam_size: hypotheses of the search.
            n_best: translations among which `translate` picks by reference; without references the best is taken.
            workers: threads; None: as many as there are cores for this process.

        Raises:
            DataError: different vocabularies or languages.
            ConfigurationError: more translations asked for than the beam has.
        """
        if n_best > beam_size:
            raise ConfigurationError(
                f"the {n_best} best translations need a beam of at least that size, not {beam_size}"
            )
        self.models = [AnyModel(name) for name in names]
        self.languages, self.vocabulary = self.models[0].languages, self.models[0].vocabulary
        for model in self.models[1:]:
            if model.vocabulary.model != self.vocabulary.model:
                raise DataError(
                    f"{model.name}: its vocabulary is not that of {names[0]}: teachers of one ensemble are trained "
                    "with one vocabulary ([data] vocabulary)"
                )
            if model.languages != self.languages:
                raise DataError(f"{model.name}: it translates other languages than {names[0]}")
        self._folder = folder
        self.beam_size, self.n_best = beam_size, n_best
        self._workers = workers or len(os.sched_getaffinity(0))
        self._translator: _Translator | None = None

    @property
    def identity(self) -> dict[str, str | int]:
        """What says who translates and how."""
        digests = "+".join(model.digest for model in self.models)
        return {"model": digests, "beam_size": self.beam_size, "n_best": self.n_best}

    def translate(self, lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        """Return a translation of each line: the best, or of the n best the one that is likest its reference."""
        if self._translator is None:
            self._translator = self._start()
        n_best = 1 if references is None else self.n_best
        found = self._translator.translate_n_best(lines, n_best, beam_size=self.beam_size)
        if references is None:
            return [hypotheses[0].text for hypotheses in found]
        return [likest(hypotheses, reference) for hypotheses, reference in zip(found, references, strict=True)]

    def _start(self) -> _Translator:
        if len(self.models) == 1:
            return self.models[0].translator(self._folder / "teacher.pocketmt", self._workers)
        torch.set_num_threads(self._workers)
        return Ensemble([model.network() for model in self.models], self.vocabulary)


class Ensemble:
    """Several networks of one vocabulary; lines are cut and joined as the engine does it."""

    def __init__(self, networks: Sequence[TranslationNetwork], vocabulary: Vocabulary) -> None:
        """Take networks in evaluation mode, of whatever sizes."""
        self._networks = networks
        self._vocabulary = vocabulary

    def translate_n_best(self, lines: Sequence[str], n_best: int, *, beam_size: int) -> list[list[Hypothesis]]:
        """Return up to `n_best` translations of each line, best first, as `Translator.translate_n_best` does."""
        segments = [encode_line(self._vocabulary, line, LONGEST_SEGMENT) for line in lines]
        sources = [ids for some in segments for ids in some]
        found = iter(translate_by_ensemble(self._networks, sources, beam_size))
        return [self._joined(list(islice(found, len(some))), n_best) for some in segments]

    def _joined(self, segments: Sequence[Sequence[Found]], n_best: int) -> list[Hypothesis]:
        """Join the i-th translations of a line's segments; of a line without text, there is one without text."""
        if not segments:
            return [Hypothesis("", 0.0)]
        return [
            Hypothesis(" ".join(self._text(part.ids) for part in parts), sum(part.score for part in parts) / len(parts))
            for parts in islice(zip(*segments, strict=False), n_best)
        ]

    def _text(self, ids: Sequence[int]) -> str:
        return " ".join(self._vocabulary.decode(ids).splitlines())


def likest(hypotheses: Sequence[Hypothesis], reference: str) -> str:
    """Return the text of the largest sentence chrF; of several that are as like, the first."""
    return max(hypotheses, key=lambda each: sacrebleu.sentence_chrf(each.text, [reference]).score).text
