"""The child process of CTranslate2; with the arguments `export WEIGHTS.npz FOLDER` it exports a network instead."""

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy

from benchmarks.peer.child_program import serve
from pocketmt.interop.ctranslate2.exporting import export
from pocketmt.model_file.architecture import architecture_from_json

# Imported by name, because this dependency of benchmarks is not installed when types are checked.
try:
    ctranslate2: Any = importlib.import_module("ctranslate2")
except ModuleNotFoundError as error:
    sys.exit(f"error: the package {error.name} is not installed for {sys.executable}")


class CTranslate2:
    """CTranslate2 with one thread by default. Sentences are lists of pieces, because it does not accept ids."""

    def load(self, model: str, options: dict[str, Any]) -> dict[str, Any]:
        """Load a CTranslate2 folder with the compute type of the options.

        Its threads translate a batch each, or, with `threads_together`, work together.
        """
        workers = options.get("workers", 1)
        inter, intra = (1, workers) if options.get("threads_together") else (workers, 1)
        self._translator = ctranslate2.Translator(
            model, compute_type=options["compute_type"], inter_threads=inter, intra_threads=intra
        )
        self._pieces: list[str] = json.loads((Path(model) / "shared_vocabulary.json").read_text(encoding="utf-8"))
        self._ids = {piece: index for index, piece in enumerate(self._pieces)}
        return {"compute_type": self._translator.compute_type, "version": ctranslate2.__version__}

    def prepare(self, sources: Sequence[Sequence[int]]) -> list[list[str]]:
        """Return pieces of ids."""
        return [[self._pieces[index] for index in source] for source in sources]

    def translate(self, sources: Sequence[list[str]], options: dict[str, Any]) -> list[list[str]]:
        """Translate pieces to pieces."""
        results = self._translator.translate_batch(
            sources,
            beam_size=options["beam"],
            max_batch_size=options["batch_size"],
            batch_type=options["batch_type"],
            min_decoding_length=options["shortest"],
            max_decoding_length=options["longest"],
            use_vmap=options["shortlist"],
        )
        return [result.hypotheses[0] for result in results]

    def token_ids(self, outputs: Sequence[list[str]]) -> list[list[int]]:
        """Return ids of pieces."""
        return [[self._ids[piece] for piece in output] for output in outputs]


def export_weights(weights: Path, folder: Path) -> None:
    """Write CTranslate2 folders `folder`/float32 and `folder`/int8 from a file of `files.write_ctranslate2`."""
    with numpy.load(weights) as arrays:
        tensors = {name: arrays[name] for name in arrays.files if name not in ("architecture", "vocabulary")}
        architecture = architecture_from_json(json.loads(arrays["architecture"].item()))
        vocabulary = arrays["vocabulary"].tobytes()
    export(tensors, architecture, vocabulary, folder / "float32")
    export(tensors, architecture, vocabulary, folder / "int8", "int8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["export"]:
        export_weights(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        serve(CTranslate2())
