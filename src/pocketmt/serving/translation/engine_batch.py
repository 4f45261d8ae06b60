"""Translation of a batch of sentences by the engine."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pocketmt.engine import DetailedHypothesis, TranslationFuture, Translator
from pocketmt.markup.division import Translation, linked_translations
from pocketmt.model_file.manifest import DEFAULT_UNIT

Result = TypeVar("Result")

_QUICKLY_ENCODED: Final = 5_000  # characters; the pieces of more are found in a thread


@dataclass(frozen=True, slots=True)
class Kind:
    """How sentences are translated; those of the same kind may be in one batch.

    Attributes:
        translator: of the model; equal to itself alone, so that a replaced model is another one.
        source, target: codes of the languages.
        n_best: translations of each sentence.
        aligned: whether links are needed.
    """

    translator: Translator
    source: str
    target: str
    n_best: int = 1
    aligned: bool = False


class EngineBatches:
    """Translates batches in threads.

    Args:
        beam_size: of the search; more if more translations of a sentence are asked for.
        workers: most batches at once.
    """

    def __init__(self, beam_size: int, workers: int) -> None:
        self._beam_size: Final = beam_size
        self._threads = ThreadPoolExecutor(workers + 1, thread_name_prefix="pocketmt-serve")

    async def translate(self, kind: Kind, sentences: list[str], alone: bool) -> Sequence[Translation]:
        """Return the translation of each sentence; stops soon when it is cancelled.

        Args:
            kind: of the sentences.
            sentences: to translate.
            alone: whether nothing else waits, so that all workers may work on these.
        """
        if kind.n_best == 1 and not kind.aligned:
            if sum(map(len, sentences)) > _QUICKLY_ENCODED:
                future = await self._submit_in_thread(self._submit, kind, sentences, alone)
            else:
                future = self._submit(kind, sentences, alone)
            return [Translation((text,)) for text in await asyncio.wrap_future(future)]
        detailed = await self._submit_in_thread(self._submit_detailed, kind, sentences, alone)
        results = await asyncio.wrap_future(detailed)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, linked_translations, sentences, results)

    async def _submit_in_thread(
        self,
        submit: Callable[[Kind, list[str], bool], TranslationFuture[Result]],
        kind: Kind,
        sentences: list[str],
        alone: bool,
    ) -> TranslationFuture[Result]:
        submitted = self._threads.submit(submit, kind, sentences, alone)
        try:
            return await asyncio.wrap_future(submitted)
        except asyncio.CancelledError:  # The thread goes on, and nobody else will know of its translation.
            submitted.add_done_callback(_cancel_result)
            raise

    def _submit(self, kind: Kind, sentences: list[str], alone: bool) -> TranslationFuture[list[str]]:
        # Checks are off: their warnings would show texts.
        return kind.translator.submit(
            sentences,
            beam_size=self._beam_size,
            split=False,
            protect=kind.translator.unit == DEFAULT_UNIT,
            check=False,
            parallel=alone,
            source_language=kind.source,
            target_language=kind.target,
        )

    def _submit_detailed(
        self, kind: Kind, sentences: list[str], alone: bool
    ) -> TranslationFuture[list[list[DetailedHypothesis]]]:
        return kind.translator.submit_detailed(
            sentences,
            n_best=kind.n_best,
            alignment=kind.aligned,
            beam_size=max(self._beam_size, kind.n_best),
            split=False,
            protect=kind.translator.unit == DEFAULT_UNIT,
            check=False,
            parallel=alone,
            source_language=kind.source,
            target_language=kind.target,
        )


def _cancel_result(submitted: Future[TranslationFuture[Any]]) -> None:
    if not submitted.cancelled() and submitted.exception() is None:
        submitted.result().cancel()
