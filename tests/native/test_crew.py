"""Threads that share a product."""

import threading
import time

import pytest

from pocketmt.engine._native_testing import Crew


@pytest.mark.parametrize("members", [0, 1, 3, 7])
def test_every_part_is_done_once(members: int) -> None:
    crew = Crew(members)
    for parts in [*range(50), 1000, 0, 1]:
        assert crew.run(parts) == [1] * parts


def test_members_that_fell_asleep_wake_up_for_more() -> None:
    crew = Crew(2)
    for _ in range(5):
        time.sleep(0.02)
        assert crew.run(64) == [1] * 64


def test_what_a_part_throws_is_told_and_the_next_task_goes_on() -> None:
    crew = Crew(2)
    for failing in (0, 3, 7):
        with pytest.raises(RuntimeError, match=f"part {failing} failed"):
            crew.run(8, failing)
        assert crew.run(8) == [1] * 8


def test_a_crew_is_let_go_while_it_waits() -> None:
    before = threading.active_count()
    for _ in range(20):
        crew = Crew(3)
        crew.run(5)
        del crew
    assert threading.active_count() == before
