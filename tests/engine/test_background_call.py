"""Calls on another thread."""

from threading import Event, get_ident

import pytest

from pocketmt.engine.background_call import BackgroundCall


def test_the_call_runs_on_another_thread_while_the_block_does() -> None:
    begun = Event()

    def call() -> int:
        assert begun.wait(60)
        return get_ident()

    with BackgroundCall("test", call) as running:
        begun.set()
    assert running.result() != get_ident()


def test_the_block_ends_after_the_call() -> None:
    ended, goes_on = Event(), Event()

    def call() -> None:
        goes_on.wait(0.05)
        ended.set()

    with BackgroundCall("test", call):
        assert not ended.is_set()
    assert ended.is_set()


def test_an_error_of_the_call_replaces_one_of_the_block() -> None:
    def call() -> None:
        raise ValueError("of the call")

    with pytest.raises(ValueError, match="of the call"), BackgroundCall("test", call):
        pass
    with pytest.raises(ValueError, match="of the call"), BackgroundCall("test", call):
        raise KeyError("of the block")


def test_an_error_of_the_block_is_unchanged_if_the_call_succeeds() -> None:
    with pytest.raises(KeyError, match="of the block"), BackgroundCall("test", lambda: 1):
        raise KeyError("of the block")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_block_does_not_wait(interruption: type[BaseException]) -> None:
    goes_on = Event()

    def call() -> None:
        assert goes_on.wait(60)
        raise ValueError("of the call")

    running = BackgroundCall("test", call)
    with pytest.raises(interruption), running:
        raise interruption
    assert running.is_alive()
    goes_on.set()
