"""Threads that share a product."""

import threading
import time

import pytest

from pocketmt.engine._native_testing import ThreadPool


@pytest.mark.parametrize("workers", [0, 1, 3, 7])
def test_every_part_is_run_once(workers: int) -> None:
    pool = ThreadPool(workers)
    for parts in [*range(50), 1000, 0, 1]:
        assert pool.run(parts) == [1] * parts


def test_workers_that_fell_asleep_wake_up_for_the_next_task() -> None:
    pool = ThreadPool(2)
    for _ in range(5):
        time.sleep(0.02)
        assert pool.run(64) == [1] * 64


def test_an_exception_of_a_part_is_rethrown_and_the_next_task_runs() -> None:
    pool = ThreadPool(2)
    for failing in (0, 3, 7):
        with pytest.raises(RuntimeError, match=f"part {failing} failed"):
            pool.run(8, failing)
        assert pool.run(8) == [1] * 8


def test_a_waiting_pool_is_destroyed() -> None:
    before = threading.active_count()
    for _ in range(20):
        pool = ThreadPool(3)
        pool.run(5)
        del pool
    assert threading.active_count() == before


def test_a_caller_sleeps_while_a_worker_has_no_core() -> None:
    assert ThreadPool(1).processor_seconds_of_waiting(0.5) < 0.1
