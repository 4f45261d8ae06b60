"""A model from the folder of a run, a model file, the name of a bundled model, or a model of another toolkit."""

import dataclasses
from functools import cached_property
from pathlib import Path

from pocketmt.engine import Translator
from pocketmt.engine.devices import AUTOMATIC, choose_device
from pocketmt.model_file import open_model
from pocketmt.model_file.ensemble import Common
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.contents import FLOAT32, contents_of
from pocketmt.packing.decoded import read_model
from pocketmt.packing.device.model import torch_device
from pocketmt.packing.device.precision import DEFAULT_PRECISION, check_precision, in_precision, load_network
from pocketmt.packing.model_file import pack
from pocketmt.packing.model_path import model_path
from pocketmt.training.trained_model import TrainedModel, file_digest, read_trained_model


class AnyModel:
    """A model that was read and checked.

    Attributes:
        name: as it was given.
        vocabularies: of the model.
        languages: "source" and "target".
        common: what it must have in common with others to translate together.
        unit: what it translates at once, see `pocketmt.model_file.manifest.UNITS`.
    """

    def __init__(self, name: str) -> None:
        """Read a model; raises as `model_path`, `read_trained_model` and `open_model` do."""
        self.name = name
        self._run: TrainedModel | None = None
        given = model_path(name)
        if given.is_dir():
            self._run = read_trained_model(given)
            self.vocabularies = self._run.vocabularies
            self.languages, self.unit = self._run.languages, self._run.unit
            self.common = Common(
                self.vocabularies.stored,
                (self.languages["source"], self.languages["target"]),
                self._run.language_pieces,
                self.unit,
                self._run.architecture,
            )
            return
        self._file = given
        with open_model(self._file) as file:
            self.vocabularies = file.vocabularies()
            self.languages = {"source": file.source_language, "target": file.target_language}
            self.unit = file.unit
            languages = file.source_language, file.target_language
            self.common = Common(
                self.vocabularies.stored, languages, file.language_pieces, file.unit, file.architecture
            )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file of weights or of the model file, hexadecimal."""
        return file_digest(self._file) if self._run is None else self._run.digest

    def network(self, device: str = "torch-cpu", precision: str | None = None) -> TranslationNetwork:
        """Return the network in PyTorch, for evaluation only; a model file gives its reference.

        Args:
            device: of PyTorch, see `Translator`.
            precision: see `Translator`; None: float32.

        Raises EngineError if PyTorch does not find the device.
        """
        place, chosen = torch_device(device), precision or DEFAULT_PRECISION
        if self._run is None:
            return load_network(str(self._file), chosen, place)
        check_precision(chosen)
        return in_precision(self._run.network(), chosen, place)

    def decoded_network(self) -> TranslationNetwork:
        """Return the network in PyTorch, float32, with the values of a file's codes as weights; it rounds nothing."""
        model = read_model(self._file) if self._run is None else self._run
        return model.network()

    def file(self, packed: Path) -> Path:
        """Return the model file; the model of a run is first written, in full precision, to `packed`."""
        if self._run is None:
            return self._file
        return _float_file(self._run, packed)


def start_engine(
    model: TrainedModel, packed: Path, workers: int, device: str = AUTOMATIC, precision: str | None = None
) -> Translator:
    """Return a translator of a model in full precision: with its model file, or with one that is written to `packed`.

    Args:
        model: of a run, or of a model file.
        packed: where a model that has no file in full precision is written.
        workers: number of threads.
        device: see `Translator`.
        precision: see `Translator`; None: `text_precision`.

    Raises EngineError as `Translator` does.
    """
    device, path = choose_device(device), _float_file(model, packed)
    return Translator(path, workers=workers, device=device, precision=precision or text_precision(device))


def text_precision(device: str) -> str | None:
    """Return the precision in which text for training is translated: float16 on a GPU; None: the device's default."""
    return "float16" if device.startswith("cuda") else None


def _float_file(model: TrainedModel, packed: Path) -> Path:
    """Return the model file in full precision, without a shortlist; a model that has none is written to `packed`."""
    if model.float_file is not None:
        return model.float_file
    pack(packed, dataclasses.replace(contents_of(model, FLOAT32), shortlist=None))
    return packed
