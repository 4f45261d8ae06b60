"""A task that looks at the model files while the server runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from pocketmt.serving.models.catalogue import Catalogue
from pocketmt.serving.models.description import ModelDescription

SECONDS_BETWEEN_LOOKS: Final = 2.0
Replace = Callable[[ModelDescription], Awaitable[None]]


@asynccontextmanager
async def watched_files(catalogue: Catalogue, replace: Replace | None = None) -> AsyncIterator[None]:
    """Look at the model files again and again until the context ends.

    Args:
        catalogue: of the model files.
        replace: is called with each model that changed; None: nothing has to be loaded again.
    """
    watching = asyncio.create_task(_watch(catalogue, replace))
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def _watch(catalogue: Catalogue, replace: Replace | None) -> None:
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        for changed in await asyncio.to_thread(catalogue.refresh):
            if replace is not None:
                await replace(changed)
