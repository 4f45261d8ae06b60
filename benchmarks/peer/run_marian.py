"""The child process of Marian, by pymarian."""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peer.child_program import serve

# Imported by name, because this dependency of benchmarks is not installed when types are checked.
try:
    pymarian: Any = importlib.import_module("pymarian")
except ModuleNotFoundError as error:
    sys.exit(f"error: the package {error.name} is not installed for {sys.executable}")

WORKSPACE_MEGABYTES = 128  # allocated at the start; grows if needed


class Marian:
    """Marian with one thread by default. Sentences are lines of pieces, because it does not accept ids."""

    def load(self, model: str, options: dict[str, Any]) -> dict[str, Any]:
        """Load a file of a folder, with the shortlist and the length limit in the options."""
        folder = Path(model)
        vocabulary = folder / "vocabulary.yml"
        self._pieces = [line.rpartition(":")[0][1:-1] for line in vocabulary.read_text(encoding="utf-8").splitlines()]
        self._ids = {piece: index for index, piece in enumerate(self._pieces)}
        arguments = [
            *("--models", folder / options["file"], "--vocabs", vocabulary, vocabulary),
            *("--cpu-threads", options.get("workers", 1), "--data-threads", 1),
            *("--workspace", WORKSPACE_MEGABYTES, "--quiet"),
            *("--mini-batch", 1, "--maxi-batch", 100, "--maxi-batch-sort", "src"),
            *("--max-length-factor", options["target_words_a_source_word"]),
            *options["arguments"],
        ]
        if "shortlist" in options:
            first, top_k = options["shortlist"]
            arguments += ["--shortlist", folder / "shortlist.txt", first, top_k, 0]
        self._translator = pymarian.Translator(" ".join(map(str, arguments)))
        return {"version": pymarian.__version__}

    def prepare(self, sources: Sequence[Sequence[int]]) -> list[str]:
        """Return pieces of ids, with spaces between them."""
        return [" ".join(self._pieces[index] for index in source) for source in sources]

    def translate(self, sources: Sequence[str], options: dict[str, Any]) -> list[str]:
        """Translate lines to lines."""
        size = min(options["batch_size"] or len(sources), len(sources))
        lines: list[str] = self._translator.translate(sources, mini_batch=size, beam_size=options["beam"])
        return lines

    def token_ids(self, outputs: Sequence[str]) -> list[list[int]]:
        """Return ids of pieces."""
        return [[self._ids[piece] for piece in output.split()] for output in outputs]


if __name__ == "__main__":
    serve(Marian())
