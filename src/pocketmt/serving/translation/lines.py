"""Translation of lines along a route of one or two models."""

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import Final

from pocketmt.markup.division import Translation, divide_lines
from pocketmt.markup.links import compose_links
from pocketmt.model_file.manifest import DEFAULT_UNIT
from pocketmt.serving.models.catalogue import Step
from pocketmt.serving.models.store import ModelStore
from pocketmt.serving.queue.batcher import Batcher
from pocketmt.serving.translation.engine_batch import Kind

_QUICKLY_DIVIDED: Final = 5_000  # characters; more are divided in a thread
_QUICKLY_COMPOSED: Final = 1_000  # links; more are composed in a thread


class LineTranslator:
    """Translates lines; their sentences wait with those of other requests in one queue."""

    def __init__(self, store: ModelStore, batcher: Batcher[Kind, Translation]) -> None:
        self._store = store
        self._batcher = batcher

    async def translate(
        self, client: str, route: Sequence[Step], lines: Sequence[str], *, n_best: int = 1, aligned: bool = False
    ) -> list[Translation]:
        """Return the translation of each line.

        Args:
            client: who asks.
            route: the models, in order; none: lines stay as they are.
            lines: without line breaks.
            n_best: most translations of each line, by the last model.
            aligned: whether links are needed.

        Raises RequestError if there is too much to do, or a model cannot be loaded.
        """
        translations = [Translation((line,)) for line in lines]
        for number, step in enumerate(route):
            best_only = 1 if number + 1 < len(route) else n_best
            texts = [each.texts[0] for each in translations]
            following = await self._step(client, step, texts, best_only, aligned)
            if number and sum(len(each.links) for each in (*translations, *following)) > _QUICKLY_COMPOSED:
                following = await asyncio.to_thread(_compose, translations, following)
            elif number:
                following = _compose(translations, following)
            translations = following
        return translations

    async def _step(
        self, client: str, step: Step, lines: Sequence[str], n_best: int, aligned: bool
    ) -> list[Translation]:
        async with self._store.use(step.model) as translator:
            split = translator.unit == DEFAULT_UNIT
            if sum(map(len, lines)) > _QUICKLY_DIVIDED:
                divided = await asyncio.to_thread(divide_lines, lines, step.source, split=split)
            else:
                divided = divide_lines(lines, step.source, split=split)
            kind = Kind(translator, step.source, step.target, n_best, aligned)
            sentences = [sentence for line in divided for sentence in line.sentences]
            remaining = iter(await self._batcher.translate(kind, client, sentences))
        return [line.join(list(islice(remaining, len(line.spans)))) for line in divided]


def _compose(first: Sequence[Translation], second: Sequence[Translation]) -> list[Translation]:
    """Return translations of translations, linked to the texts that were translated first."""
    return [
        Translation(after.texts, tuple(compose_links(before.links, after.links)))
        for before, after in zip(first, second, strict=True)
    ]
