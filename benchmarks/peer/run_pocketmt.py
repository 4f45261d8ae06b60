"""The child process of PocketMT."""

from collections.abc import Sequence
from typing import Any

import sentencepiece  # noqa: F401  # Importing it is no part of loading a model.

from benchmarks.peer.child_program import serve
from pocketmt import __version__
from pocketmt.engine import Translator


class PocketMT:
    """PocketMT with one worker by default. Sentences are piece ids."""

    def load(self, model: str, options: dict[str, Any]) -> dict[str, Any]:
        """Load a model file with options of `Translator`."""
        self._translator = Translator(model, **options)
        return {"instruction_set": self._translator.instruction_set, "version": __version__}

    def prepare(self, sources: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        """Return the ids unchanged."""
        return list(sources)

    def translate(self, sources: Sequence[Sequence[int]], options: dict[str, Any]) -> list[list[int]]:
        """Translate ids to ids, `batch_size` sentences a call (0: all)."""
        size = options["batch_size"] or len(sources)
        search: Any = {
            "beam_size": options["beam"],
            "min_length": options["shortest"],
            "max_length": options["longest"],
            "shortlist": options["shortlist"],
        }
        outputs: list[list[int]] = []
        for start in range(0, len(sources), size):
            outputs += self._translator.translate_ids(sources[start : start + size], **search)
        return outputs

    def token_ids(self, outputs: Sequence[list[int]]) -> list[list[int]]:
        """Return the ids unchanged."""
        return list(outputs)


if __name__ == "__main__":
    serve(PocketMT())
