"""Models in memory: loaded once, unloaded when others need the memory, replaced and removed."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.errors import ModelFileError
from pocketmt.serving.errors import RequestError
from pocketmt.serving.models.description import ModelDescription
from pocketmt.serving.models.store import ModelStore


def store_of(loads: list[str], most_memory: int) -> ModelStore:
    def load(path: Path) -> Translator:
        loads.append(path.name)
        time.sleep(0.01)
        return object()  # type: ignore[return-value]

    return ModelStore(load, most_memory, lambda message: None)


@pytest.fixture
def described(tmp_path: Path) -> Callable[[str], ModelDescription]:
    def describe(name: str) -> ModelDescription:
        (tmp_path / name).write_bytes(b"a model")
        return ModelDescription(tmp_path / name, (0, 0, 0), ("en",), ("de",), 10)

    return describe


def test_the_least_recently_used_model_leaves(described: Callable[[str], ModelDescription]) -> None:
    async def work() -> None:
        loads: list[str] = []
        store = store_of(loads, most_memory=25)
        for name in "abacab":
            async with store.use(described(name)):
                assert store.memory <= 25
        assert loads == ["a", "b", "c", "b"]

    asyncio.run(work())


def test_a_model_in_use_stays_until_it_is_released(described: Callable[[str], ModelDescription]) -> None:
    async def work() -> None:
        loads: list[str] = []
        store = store_of(loads, most_memory=15)
        using = asyncio.Event()

        async def use(name: str, seconds: float) -> None:
            async with store.use(described(name)):
                using.set()
                assert store.memory == 10
                await asyncio.sleep(seconds)

        first = asyncio.create_task(use("a", 0.2))
        await using.wait()
        start = time.monotonic()
        await use("b", 0)
        assert time.monotonic() - start > 0.1
        await first
        await asyncio.gather(*(use(name, 0.001) for name in "abcab" * 5))

    asyncio.run(work())


def test_a_model_larger_than_the_memory_is_loaded_once_it_is_alone(
    described: Callable[[str], ModelDescription],
) -> None:
    async def work() -> None:
        store = store_of([], most_memory=15)
        using = asyncio.Event()

        async def use(description: ModelDescription, seconds: float) -> None:
            async with store.use(description):
                using.set()
                await asyncio.sleep(seconds)

        first = asyncio.create_task(use(described("small"), 0.05))
        await using.wait()
        await asyncio.wait_for(use(replace(described("large"), memory=20), 0), timeout=10)
        await first

    asyncio.run(work())


def test_a_model_is_loaded_once_for_many_requests(described: Callable[[str], ModelDescription]) -> None:
    async def work() -> None:
        loads: list[str] = []
        store = store_of(loads, most_memory=0)

        async def use() -> None:
            async with store.use(described("a")):
                pass

        await asyncio.gather(*(use() for _ in range(50)))
        assert loads == ["a"]

    asyncio.run(work())


def test_a_client_that_leaves_does_not_stop_the_loading_for_others(
    described: Callable[[str], ModelDescription],
) -> None:
    async def work() -> None:
        loads: list[str] = []
        store = store_of(loads, most_memory=0)

        async def use() -> None:
            async with store.use(described("a")):
                pass

        first, second = asyncio.create_task(use()), asyncio.create_task(use())
        await asyncio.sleep(0.002)
        first.cancel()
        await second
        assert loads == ["a"]
        assert store.memory == 10

    asyncio.run(work())


def test_a_model_that_cannot_be_loaded_is_refused_each_time(described: Callable[[str], ModelDescription]) -> None:
    async def work() -> None:
        store = ModelStore(failing, 15, lambda message: None)

        def failing_use() -> Coroutine[object, object, None]:
            async def use() -> None:
                async with store.use(described("a")):
                    pass

            return use()

        results = await asyncio.gather(*(failing_use() for _ in range(5)), return_exceptions=True)
        results += await asyncio.gather(*(failing_use() for _ in range(5)), return_exceptions=True)
        assert [getattr(each, "status", None) for each in results] == [503] * 10
        assert store.memory == 0

    def failing(path: Path) -> Translator:
        raise ModelFileError(f"{path}: broken")

    asyncio.run(asyncio.wait_for(work(), 10))


def test_a_model_whose_file_was_removed_leaves_and_is_loaded_when_it_comes_back(
    described: Callable[[str], ModelDescription],
) -> None:
    async def work() -> None:
        loads: list[str] = []
        store = store_of(loads, most_memory=0)
        async with store.use(described("a")):
            await store.remove(described("a").path)
            assert not store.loaded and store.memory == 10  # It is still used.
        assert store.memory == 0
        async with store.use(described("a")):
            pass
        assert loads == ["a", "a"]

    asyncio.run(work())


def test_a_model_that_was_replaced_by_one_for_other_languages_is_refused(
    described: Callable[[str], ModelDescription],
) -> None:
    async def work() -> None:
        store = store_of([], most_memory=0)
        old = described("a")
        new = replace(old, stamp=(1, 1, 1), targets=("fr",))
        async with store.use(old):
            assert await store.replace(new)
        with pytest.raises(RequestError) as refusal:
            async with store.use(old):
                pass
        assert (refusal.value.status, refusal.value.retry_after) == (503, 1)
        async with store.use(new):
            pass

    asyncio.run(work())


def test_a_replacement_that_is_given_up_is_loaded_all_the_same(described: Callable[[str], ModelDescription]) -> None:
    messages: list[str] = []

    async def work() -> None:
        store = store_of([], most_memory=0)
        store.report = messages.append
        old = described("a")
        async with store.use(old):
            pass
        replacing = asyncio.create_task(store.replace(replace(old, stamp=(1, 1, 1))))
        await asyncio.sleep(0.001)
        replacing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await replacing
        await store.remove(old.path)  # after the loading

    asyncio.run(work())
    assert len(messages) == 2 and all(message.endswith("a: loaded") for message in messages)


def test_a_full_disk_for_temporary_files_is_told_once_and_may_pass(
    described: Callable[[str], ModelDescription], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []

    async def work() -> None:
        store = ModelStore(lambda path: object(), 0, messages.append)  # type: ignore[arg-type, return-value]
        with monkeypatch.context() as patch:
            patch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
            for _ in range(3):
                with pytest.raises(RequestError, match="cannot be loaded"):
                    async with store.use(described("a")):
                        pass
        async with store.use(described("a")):
            pass

    asyncio.run(work())
    assert len(messages) == 2
    assert "cannot be copied to a temporary folder" in messages[0] and messages[1].endswith("a: loaded")


def test_many_requests_share_little_memory(described: Callable[[str], ModelDescription]) -> None:
    async def work() -> None:
        store = store_of([], most_memory=25)

        async def use(number: int) -> None:
            async with store.use(described("abcdefg"[number % 7])):
                assert store.memory <= 25
                await asyncio.sleep(0)

        await asyncio.gather(*map(use, range(100)))

    asyncio.run(work())
