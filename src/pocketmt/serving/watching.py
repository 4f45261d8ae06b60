"""A task that looks at the model files while the server runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from pocketmt.serving.models.catalogue import Catalogue
from pocketmt.serving.models.store import ModelStore

SECONDS_BETWEEN_LOOKS: Final = 2.0


@asynccontextmanager
async def watched_files(catalogue: Catalogue, store: ModelStore | None = None) -> AsyncIterator[None]:
    """Look at the model files again and again until the context ends.

    Args:
        catalogue: of the model files.
        store: of the models in memory; None: no model is loaded.
    """
    watching = asyncio.create_task(_watch(catalogue, store))
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def _watch(catalogue: Catalogue, store: ModelStore | None) -> None:
    reported = ""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            await _look(catalogue, store)
            reported = ""
        except Exception as error:
            # The next look may succeed; until then one message is enough.
            message = f"changes of the model files were not taken over: {type(error).__name__}: {error}"
            if message != reported:
                catalogue.report(message)
            reported = message


async def _look(catalogue: Catalogue, store: ModelStore | None) -> None:
    changes = await asyncio.to_thread(catalogue.refresh)
    for path in changes.removed:
        if store is not None:
            await store.remove(path)
    for changed in changes.replaced:
        if store is None or await store.replace(changed):
            catalogue.accept(changed)
