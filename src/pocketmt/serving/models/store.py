"""Models in memory: loaded when they are needed, unloaded when others need the memory, replaced when a file changes."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pocketmt.engine import Translator
from pocketmt.errors import ModelFileError, PocketMTError
from pocketmt.serving.allocator import return_freed_memory
from pocketmt.serving.errors import RequestError
from pocketmt.serving.models.description import ModelDescription, Stamp

SECONDS_TO_FREE = 0.5  # the memory of a model that left


@dataclass(eq=False, slots=True)
class LoadedModel:
    """A model in memory.

    Attributes:
        description: of the file from which it was loaded.
        translator: of the model.
        uses: how many requests use it now.
        last_use: number of the last use of any model.
        retired: whether it is to leave the memory when nothing uses it.
    """

    description: ModelDescription
    translator: Translator
    uses: int = 0
    last_use: int = 0
    retired: bool = False


class _Failure(NamedTuple):
    """Why a model could not be loaded; that of a disk may pass, that of a file stays until the file changes."""

    stamp: Stamp
    message: str
    may_pass: bool


@dataclass(eq=False)
class ModelStore:
    """Loads models for requests. All methods belong to one event loop.

    Args:
        load: returns the translator of a file; called in a thread.
        most_memory: bytes of the models together by their descriptions; 0: any number.
        report: is told what is loaded, and what cannot be.
    """

    load: Callable[[Path], Translator]
    most_memory: int
    report: Callable[[str], None]
    memory: int = field(init=False, default=0)
    _loaded: dict[Path, LoadedModel] = field(init=False, default_factory=dict)
    _failures: dict[Path, _Failure] = field(init=False, default_factory=dict)
    _loading: "dict[Path, asyncio.Task[None]]" = field(init=False, default_factory=dict)
    _waiters: "dict[Path, list[asyncio.Future[LoadedModel]]]" = field(init=False, default_factory=dict)
    _released: asyncio.Condition = field(init=False, default_factory=asyncio.Condition)
    _threads: ThreadPoolExecutor = field(init=False)
    _count: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="pocketmt-load")

    @property
    def loaded(self) -> tuple[Path, ...]:
        """Paths of the models that requests find in memory."""
        return tuple(self._loaded)

    @asynccontextmanager
    async def use(self, description: ModelDescription) -> AsyncIterator[Translator]:
        """Provide the translator of a model, and keep it in memory meanwhile; raises RequestError (503)."""
        model = await self._find(description)
        try:
            loaded = model.description
            if (loaded.sources, loaded.targets) != (description.sources, description.targets):
                raise RequestError(503, f"the model {description.path.name} is being replaced: try again", 1)
            yield model.translator
        finally:
            await self._release(model)

    async def replace(self, description: ModelDescription) -> bool:
        """Load a model again whose file changed, if it is in memory; requests that use the old one go on with it.

        Returns whether the changed file is in use from now on: False if it cannot be loaded, and the old model stays.
        """
        await self._loading_ended(description.path)
        if description.path in self._loaded:
            await asyncio.shield(self._begin_to_load(description))
        loaded = self._loaded.get(description.path)
        return loaded is None or loaded.description.stamp == description.stamp

    async def remove(self, path: Path) -> None:
        """Let a model leave whose file was removed; requests that use it go on with it."""
        await self._loading_ended(path)
        self._failures.pop(path, None)
        if path in self._loaded:
            await self._retire(self._loaded[path])

    async def _loading_ended(self, path: Path) -> None:
        while path in self._loading:
            await asyncio.wait((self._loading[path],))

    async def _find(self, description: ModelDescription) -> LoadedModel:
        """Return a model with one use more."""
        path = description.path
        if path in self._loaded:  # A changed file is loaded in the background, by `replace`.
            return self._used(self._loaded[path])
        self._begin_to_load(description)
        waiter: asyncio.Future[LoadedModel] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(path, []).append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                await self._release(waiter.result())
            raise

    def _used(self, model: LoadedModel) -> LoadedModel:
        model.uses += 1
        self._count += 1
        model.last_use = self._count
        return model

    async def _release(self, model: LoadedModel) -> None:
        model.uses -= 1
        if model.retired and model.uses == 0:
            await self._give_back(model.description.memory)

    def _begin_to_load(self, description: ModelDescription) -> "asyncio.Task[None]":
        """Return the task that loads a model, begun now or before; it does not end when a client leaves."""
        path = description.path
        if path not in self._loading:
            self._loading[path] = asyncio.get_running_loop().create_task(self._load_for_waiters(description))
        return self._loading[path]

    async def _load_for_waiters(self, description: ModelDescription) -> None:
        path = description.path
        try:
            await self._load(description)
        finally:
            del self._loading[path]
            # At once, so that the model does not leave before it was used.
            refusal = f"the model {path.name} cannot be loaded: tell the operator of this server"
            for waiter in self._waiters.pop(path, ()):
                if waiter.done():
                    continue
                if path in self._loaded:
                    waiter.set_result(self._used(self._loaded[path]))
                else:
                    waiter.set_exception(RequestError(503, refusal, 5))
        await self._give_back(0)  # What waits for memory may now have this model leave.

    async def _load(self, description: ModelDescription) -> None:
        """Load a model; if that fails, one that was loaded before stays."""
        path = description.path
        failure = self._failures.get(path)
        if failure is not None and failure.stamp == description.stamp and not failure.may_pass:
            return
        if self.most_memory and description.memory > self.most_memory:
            self.report(f"{path}: needs about {description.memory / 1e6:.0f} MB, more than all models may have")
        if path not in self._loaded:
            await self._make_room(description.memory)
        self.memory += description.memory
        try:
            loop = asyncio.get_running_loop()
            translator = await loop.run_in_executor(self._threads, load_copy, path, self.load)
        except PocketMTError as error:
            self._failures[path] = _Failure(description.stamp, str(error), isinstance(error.__cause__, OSError))
            if failure != self._failures[path]:
                self.report(str(error))
            await self._give_back(description.memory)
            return
        except BaseException:
            await self._give_back(description.memory)
            raise
        if path in self._loaded:
            await self._retire(self._loaded[path])
        self._loaded[path] = LoadedModel(description, translator)
        self._failures.pop(path, None)
        self.report(f"{path}: loaded")

    async def _make_room(self, memory: int) -> None:
        """Wait until there is memory for a model; the models that were used least recently leave, idle ones first."""
        while self.most_memory and self.memory + memory > self.most_memory:
            if not self._loaded and self.memory == 0:
                return  # It is the only one.
            if self._loaded:
                await self._retire(min(self._loaded.values(), key=lambda model: (model.uses > 0, model.last_use)))
            else:
                async with self._released:
                    await self._released.wait_for(
                        lambda: self._loaded or self.memory == 0 or self.memory + memory <= self.most_memory
                    )

    async def _retire(self, model: LoadedModel) -> None:
        del self._loaded[model.description.path]
        model.retired = True
        if model.uses == 0:
            await self._give_back(model.description.memory)

    async def _give_back(self, memory: int) -> None:
        self.memory -= memory
        if memory:
            # The last batch of the model may have references to it for a moment.
            loop = asyncio.get_running_loop()
            loop.call_later(SECONDS_TO_FREE, loop.run_in_executor, self._threads, return_freed_memory)
        async with self._released:
            self._released.notify_all()


def load_copy(path: Path, load: Callable[[Path], Translator]) -> Translator:
    """Load a model from a copy of its file, so that a program that writes the file meanwhile cannot do harm.

    Raises ModelFileError if the file is not a whole model, or cannot be copied; then its cause is an OSError.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="pocketmt-serve-") as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            try:
                return load(copy)
            except PocketMTError as error:
                raise ModelFileError(str(error).replace(os.fspath(copy), os.fspath(path))) from error
    except OSError as error:
        reason = error.strerror or error
        if error.filename == os.fspath(path) and error.filename2 is None:
            raise ModelFileError(f"{path}: cannot be read: {reason}") from error
        raise ModelFileError(
            f"{path}: cannot be copied to a temporary folder: {reason}. Free space there, or name another in TMPDIR"
        ) from error
