"""The child process of Marian, by pymarian."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peer.child_program import serve

# By its name, because the checks run where this benchmark-only dependency is not installed.
pymarian: Any = importlib.import_module("pymarian")

WORKSPACE_MEGABYTES = 128  # taken at the start; it grows where a batch asks for more


class Marian:
    """Marian with one thread, or as many as asked for. Its sentences are lines of pieces: it takes no ids."""

    def load(self, model: str, options: dict[str, Any]) -> dict[str, Any]:
        """Load a file of a folder, with the shortlist and the limit of lengths that the options say."""
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
            first, likeliest = options["shortlist"]
            arguments += ["--shortlist", folder / "shortlist.txt", first, likeliest, 0]
        self._translator = pymarian.Translator(" ".join(map(str, arguments)))
        return {"version": pymarian.__version__}

    def prepare(self, sources: Sequence[Sequence[int]]) -> list[str]:
        """Return pieces of ids, with spaces between them."""
        return [" ".join(self._pieces[index] for index in source) for source in sources]

    def translate(self, sources: Sequence[str], options: dict[str, Any]) -> list[str]:
        """Translate lines to lines; of one source, of as many as there are."""
        size = min(options["batch_size"] or len(sources), len(sources))
        lines: list[str] = self._translator.translate(sources, mini_batch=size, beam_size=options["beam"])
        return lines

    def token_ids(self, outputs: Sequence[str]) -> list[list[int]]:
        """Return ids of pieces."""
        return [[self._ids[piece] for piece in output.split()] for output in outputs]


if __name__ == "__main__":
    serve(Marian())
