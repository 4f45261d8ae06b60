"""Teachers for distillation: a model or an ensemble, run by the engine or on a GPU."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import sacrebleu

from pocketmt.cores import available_cores
from pocketmt.engine import Hypothesis, Translator
from pocketmt.engine.devices import AUTOMATIC, choose_device, lines_at_once
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.packing.model_source import AnyModel, text_precision

PACKED_TEACHER: Final = "teacher.pocketmt"  # The model of a single run as a file, in the folder of the distillation.
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
        """Read the teachers. They are loaded with the first translation.

        Args:
            names: names of the models, which `AnyModel` opens.
            folder: folder for model files of runs' models.
            beam_size: number of hypotheses of the search.
            n_best: number of translations among which `translate` chooses by reference; without references, it takes
                the best.
            workers: number of threads; None: the number of cores of this process.
            device: see `Translator`.
            precision: see `Translator`; None: float16 on a GPU, else float32.
            same_device: see the class.

        Raises:
            DataError: the teachers cannot translate together.
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
            if found := model.common.difference(self.models[0].common, names[0]):
                raise DataError(
                    f"{model.name}: {found}: train the teachers of an ensemble with the same ([data] vocabulary)"
                    if found.startswith("its vocabulary")
                    else f"{model.name}: {found}: choose other teachers"
                )
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
        digests = self.models[0].digest
        if len(self.models) > 1:  # In any order: the mean is the same, up to rounding.
            together = "+".join(sorted(model.digest for model in self.models))
            digests = f"{len(self.models)} teachers, {hashlib.sha256(together.encode()).hexdigest()}"
        search: dict[str, str | int] = {"model": digests, "beam_size": self.beam_size, "n_best": self.n_best}
        return {**search, **self.computed_by} if self.same_device else search

    @property
    def packed_files(self) -> list[Path]:
        """Where the models of runs are written as files, in the folder of the distillation."""
        if len(self.models) == 1:
            return [self._folder / PACKED_TEACHER]
        return [self._folder / f"teacher{number}.pocketmt" for number in range(1, len(self.models) + 1)]

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
        """Load the models, if they are not loaded yet."""
        if self._translate is None:
            self._translate = self._load()

    def single_file(self) -> Path | None:
        """Return the model file of a single teacher, see `AnyModel.file`; None for an ensemble."""
        return self.models[0].file(self.packed_files[0]) if len(self.models) == 1 else None

    def _load(self) -> _Translate:
        files = [model.file(packed) for model, packed in zip(self.models, self.packed_files, strict=True)]
        precision = self.precision or text_precision(self.device)
        translator = Translator(files, workers=self._workers, device=self.device, precision=precision)
        return partial(translator.translate_n_best, beam_size=self.beam_size, protect=False, check=False)


def most_similar(hypotheses: Sequence[Hypothesis], reference: str) -> str:
    """Return the text with the largest sentence chrF to a reference, and the first of several equal ones."""
    return max(hypotheses, key=lambda each: sacrebleu.sentence_chrf(each.text, [reference]).score).text
