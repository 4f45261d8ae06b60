"""A model in whichever form it is given: a training run's folder, a model file, or a bundled model's name."""

import hashlib
from functools import cached_property
from pathlib import Path

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.model_file import open_model
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.recipes.packing.model_file import FLOAT32, About, pack
from pocketmt.recipes.reference.network import load_reference
from pocketmt.recipes.trained_model import TrainedModel, read_trained_model
from pocketmt.text.vocabulary import Vocabulary


class AnyModel:
    """A model that was read and checked.

    Attributes:
        name: as it was given.
        vocabulary: its own.
        languages: "source" and "target".
    """

    def __init__(self, name: str) -> None:
        """Read a model; raises as `read_trained_model`, `resolve_model` and `open_model` do."""
        self.name = name
        self._run: TrainedModel | None = None
        if Path(name).is_dir():
            self._run = read_trained_model(Path(name))
            self.vocabulary = Vocabulary.from_file(self._run.vocabulary_file)
            self.languages = self._run.languages
            return
        self._file = resolve_model(name)
        with open_model(self._file) as file:
            self.vocabulary = Vocabulary.from_bytes(file.vocabulary())
            self.languages = {"source": file.source_language, "target": file.target_language}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file of weights or of the model file, hexadecimal."""
        return hashlib.sha256(self._file.read_bytes()).hexdigest() if self._run is None else self._run.digest

    def network(self) -> TranslationNetwork:
        """Return the network in PyTorch, for evaluation alone; that of a model file is what its codes say."""
        if self._run is None:
            return load_reference(self._file)
        network = make_network(self._run.architecture)
        network.load_state_dict(self._run.weights)
        return network.eval().requires_grad_(False)

    def translator(self, packed: Path, workers: int) -> Translator:
        """Return the engine with the model; a run's is first written, in full precision, to `packed`."""
        if self._run is None:
            return Translator(self._file, workers=workers)
        return start_engine(self._run, packed, workers)


def open_teacher(name: str) -> tuple[TranslationNetwork, Vocabulary]:
    """Return a model's network and vocabulary, for `train`; raises as `AnyModel` does."""
    model = AnyModel(name)
    return model.network(), model.vocabulary


def start_engine(model: TrainedModel, packed: Path, workers: int) -> Translator:
    """Write the model of a run, in full precision, to a model file, and return the engine with it."""
    languages = model.languages
    about = About(source_language=languages["source"], target_language=languages["target"])
    pack(packed, model.weights, model.architecture, model.vocabulary_file.read_bytes(), FLOAT32, about)
    return Translator(packed, workers=workers)
