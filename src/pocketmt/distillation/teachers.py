"""Teachers for distillation: a single model, run by the engine or on a GPU, or an ensemble, run by PyTorch."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

import sacrebleu
import torch

from pocketmt.cores import available_cores
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import SearchSettings, plain_requests
from pocketmt.engine import Hypothesis
from pocketmt.engine.devices import AUTOMATIC, NATIVE, choose_device, lines_at_once
from pocketmt.engine.languages import ModelLanguages
from pocketmt.engine.line_parts import DividedLine, LineDivider
from pocketmt.engine.translator import LONGEST_SEGMENT, LONGEST_SENTENCE
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.model_file.manifest import DEFAULT_UNIT
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import Hypothesis as TokenHypothesis
from pocketmt.packing.model_source import AnyModel, text_precision
from pocketmt.text.vocabulary import Vocabulary

PACKED_TEACHER: Final = "teacher.pocketmt"  # The model of a run as a file, in the folder of the distillation.
# The n best translations of each line.
_Translate = Callable[[Sequence[str], int], list[list[Hypothesis]]]


class Teachers:
    """One teacher, or an ensemble of several with the same vocabulary.

    Attributes:
        models: the teachers.
        languages: "source" and "target", the same for all teachers.
        vocabularies: of all teachers.
        beam_size: number of hypotheses of the search.
        n_best: number of translations among which references choose.
        device: see `Translator`.
        precision: see `Translator`; None: float16 on a GPU, else float32.
        same_device: whether translations by another device, or in another precision, are refused.
        lines_at_once: a good number of lines for a call of `translate`.
    """

    def __init__(
        self,
        names: Sequence[str],
        folder: Path,
        *,
        beam_size: int,
        n_best: int = 1,
        workers: int | None = None,
        device: str = AUTOMATIC,
        precision: str | None = None,
        same_device: bool = True,
    ) -> None:
        """Read the teachers. The engine or the networks are loaded with the first translation.

        Args:
            names: names of the models, which `AnyModel` opens.
            folder: folder for a model file of a run's model.
            beam_size: number of hypotheses of the search.
            n_best: number of translations among which `translate` chooses by reference; without references, it takes
                the best.
            workers: number of threads; None: the number of cores of this process.
            device: see `Translator`; an ensemble runs in PyTorch on any device.
            precision: see `Translator`; None: float16 on a GPU, else float32.
            same_device: see the class.

        Raises:
            DataError: the teachers differ in vocabulary or languages.
            ConfigurationError: `n_best` is larger than the beam.
            EngineError: there is no such device.
        """
        if n_best > beam_size:
            raise ConfigurationError(
                f"the {n_best} best translations need a beam of at least {n_best}, not {beam_size}"
            )
        self.models = [AnyModel(name) for name in names]
        self.languages, self.vocabularies = self.models[0].languages, self.models[0].vocabularies
        for model in self.models[1:]:
            if model.vocabularies.stored != self.vocabularies.stored:
                raise DataError(
                    f"{model.name}: its vocabulary is not that of {names[0]}: train the teachers of an ensemble with "
                    "the same vocabulary ([data] vocabulary)"
                )
            if model.languages != self.languages:
                raise DataError(f"{model.name}: it translates other languages than {names[0]}: choose other teachers")
        self._folder = folder
        self.beam_size, self.n_best = beam_size, n_best
        self._workers = workers or available_cores()
        self.device, self.precision = choose_device(device), precision
        self.same_device = same_device
        self.lines_at_once = lines_at_once(self.device)
        self._translate: _Translate | None = None

    @property
    def identity(self) -> dict[str, str | int]:
        """The teachers' digests and the settings of the search, which identify their translations."""
        digests = "+".join(model.digest for model in self.models)
        search: dict[str, str | int] = {"model": digests, "beam_size": self.beam_size, "n_best": self.n_best}
        return {**search, **self.computed_by} if self.same_device else search

    @property
    def computed_by(self) -> dict[str, str]:
        """The device, without the number of a GPU, and the precision, neither of which is left open."""
        precision = self.precision or text_precision(self.device) or "float32"
        return {"device": self.device.partition(":")[0], "precision": precision}

    def translate(self, lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        """Return the best translation of each line, or of the n best the one that is most similar to its reference."""
        self.load()
        assert self._translate is not None
        n_best = 1 if references is None else self.n_best
        found = self._translate(lines, n_best)
        if references is None:
            return [hypotheses[0].text for hypotheses in found]
        return [most_similar(hypotheses, reference) for hypotheses, reference in zip(found, references, strict=True)]

    def load(self) -> None:
        """Load the engine or the networks, if they are not loaded yet."""
        if self._translate is None:
            self._translate = self._load()

    def single_file(self) -> Path | None:
        """Return the model file of a single teacher, see `AnyModel.file`; None for an ensemble."""
        return self.models[0].file(self._folder / PACKED_TEACHER) if len(self.models) == 1 else None

    def _load(self) -> _Translate:
        if len(self.models) == 1:
            packed = self._folder / PACKED_TEACHER
            translator = self.models[0].translator(packed, self._workers, self.device, self.precision)
            return partial(translator.translate_n_best, beam_size=self.beam_size, protect=False, check=False)
        torch.set_num_threads(self._workers)
        defaults = self.languages["source"], self.languages["target"]
        languages = ModelLanguages(defaults, None, self.vocabularies)
        divider = LineDivider(
            self.vocabularies.source,
            languages,
            longest_segment=LONGEST_SEGMENT,
            longest_sentence=LONGEST_SENTENCE,
        )
        chosen = languages.choose(None, None)
        divide = partial(divider.divide, languages=chosen, split=self.models[0].unit == DEFAULT_UNIT)
        device = "torch-cpu" if self.device == NATIVE else self.device
        networks = [model.network(device, self.precision or text_precision(device)) for model in self.models]
        ensemble = Ensemble(networks, self.vocabularies.target, divide)
        return partial(ensemble.translate_n_best, beam_size=self.beam_size)


class Ensemble:
    """Several networks that translate together: each step of the search uses the mean of their log-probabilities."""

    def __init__(
        self,
        networks: Sequence[TranslationNetwork],
        vocabulary: Vocabulary,
        divide: Callable[[str], DividedLine],
    ) -> None:
        """Take networks in evaluation mode, which may differ in size, their target vocabulary, and a line divider."""
        self._vocabulary = vocabulary
        self._divide = divide
        self._decoder = Decoder(networks)

    def translate_n_best(self, lines: Sequence[str], n_best: int, *, beam_size: int) -> list[list[Hypothesis]]:
        """Return up to `n_best` translations of each line, best first, as `Translator.translate_n_best` does."""
        divided = [self._divide(line) for line in lines]
        sources = [ids for line in divided for ids in line.sentences]
        found = iter(self._decoder.translate(plain_requests(sources), SearchSettings(beam_size)))
        return [self._joined(line, list(islice(found, len(line.sentences))), n_best) for line in divided]

    def _joined(
        self, line: DividedLine, sentences: Sequence[Sequence[TokenHypothesis]], n_best: int
    ) -> list[Hypothesis]:
        """Join the i-th translations of a line's sentences; a line without words has one translation, itself."""
        if not sentences:
            return [Hypothesis(line.join([]), 0.0)]
        return [
            Hypothesis(
                line.join(self._text(part.ids) for part in parts), sum(part.score for part in parts) / len(parts)
            )
            for parts in islice(zip(*sentences, strict=False), n_best)
        ]

    def _text(self, ids: Sequence[int]) -> str:
        return " ".join(self._vocabulary.decode(ids).splitlines())


def most_similar(hypotheses: Sequence[Hypothesis], reference: str) -> str:
    """Return the text with the largest sentence chrF to a reference, and the first of several equal ones."""
    return max(hypotheses, key=lambda each: sacrebleu.sentence_chrf(each.text, [reference]).score).text
