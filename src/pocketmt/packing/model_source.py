"""A model from the folder of a run, a model file, the name of a bundled model, or a model of another toolkit."""

import hashlib
from functools import cached_property
from pathlib import Path

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.interop.temporary import model_file_of
from pocketmt.model_file import open_model
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.contents import FLOAT32, contents_of
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.training.trained_model import TrainedModel, read_trained_model


class AnyModel:
    """A model that was read and checked.

    Attributes:
        name: as it was given.
        vocabularies: of the model.
        languages: "source" and "target".
        unit: what it translates at once, see `pocketmt.model_file.manifest.UNITS`.
    """

    def __init__(self, name: str) -> None:
        """Read a model; raises as `model_file_of`, `read_trained_model`, `resolve_model` and `open_model` do."""
        self.name = name
        self._run: TrainedModel | None = None
        given = Path(model_file_of(name))
        if given.is_dir():
            self._run = read_trained_model(given)
            self.vocabularies = self._run.vocabularies
            self.languages, self.unit = self._run.languages, self._run.unit
            return
        self._file = resolve_model(given)
        with open_model(self._file) as file:
            self.vocabularies = file.vocabularies()
            self.languages = {"source": file.source_language, "target": file.target_language}
            self.unit = file.unit

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file of weights or of the model file, hexadecimal."""
        return hashlib.sha256(self._file.read_bytes()).hexdigest() if self._run is None else self._run.digest

    def network(self) -> TranslationNetwork:
        """Return the network in PyTorch, for evaluation only; a model file gives its reference."""
        if self._run is None:
            return load_reference(self._file)
        return self._run.network()

    def file(self, packed: Path) -> Path:
        """Return the model file; the model of a run is first written, in full precision, to `packed`."""
        if self._run is None:
            return self._file
        pack(packed, contents_of(self._run, FLOAT32))
        return packed

    def translator(self, packed: Path, workers: int) -> Translator:
        """Return the engine with the file that `file` returns."""
        return Translator(self.file(packed), workers=workers)


def start_engine(model: TrainedModel, packed: Path, workers: int) -> Translator:
    """Write the model of a run, in full precision, to a model file, and return the engine with it."""
    pack(packed, contents_of(model, FLOAT32))
    return Translator(packed, workers=workers)
