"""Results of several processes: their order, their errors, and that none outlasts its use."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import active_children
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import pytest

from pocketmt.errors import DataError
from pocketmt.text.several_processes import apply_in_processes
from tests.forks import start


def doubled(number: int) -> tuple[int, int]:
    return 2 * number, os.getpid()


def no_process_is_left() -> bool:
    """Return whether all forks have ended; processes of other tests' fixtures are of another kind."""
    return not any(isinstance(each, ForkProcess) for each in active_children())


def test_results_come_in_the_order_of_items_from_several_processes() -> None:
    found = list(apply_in_processes(doubled, range(50), 3))
    assert [(item, result) for item, (result, _) in found] == [(number, 2 * number) for number in range(50)]
    workers = {process for _, (_, process) in found}
    assert len(workers) == 3
    assert os.getpid() not in workers
    assert no_process_is_left()


@pytest.mark.parametrize(("count", "processes"), [(0, 3), (1, 3), (5, 1)])
def test_no_process_is_started_for_one_item_or_by_one_process(count: int, processes: int) -> None:
    expected = [(number, (2 * number, os.getpid())) for number in range(count)]
    assert list(apply_in_processes(doubled, range(count), processes)) == expected


def test_one_item_for_each_process_is_read_ahead() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            read.append(number)
            yield number

    with closing(apply_in_processes(doubled, items(), 3)) as results:
        for number, _ in results:
            assert len(read) <= number + 4
            if number == 20:
                break
    assert no_process_is_left()


def test_an_error_is_raised_after_the_results_before_it() -> None:
    def fail(number: int) -> int:
        if number == 7:
            raise DataError("seven")
        return number

    found = []
    with pytest.raises(DataError, match=r"^seven$"):
        for item, _ in apply_in_processes(fail, range(20), 3):
            found.append(item)
    assert found == list(range(7))
    assert no_process_is_left()


def test_a_killed_process_is_an_error_that_says_what_to_do() -> None:
    def end(number: int) -> int:
        if number == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(DataError, match="ended with status -9: if memory ran out, run it again on fewer cores"):
        list(apply_in_processes(end, range(20), 3))


def note_and_wait(folder: Path, number: int) -> None:
    (folder / str(os.getpid())).touch()
    time.sleep(0.1)


def work_without_end(folder: Path) -> None:
    items: Any = iter(int, 1)
    for _ in apply_in_processes(lambda number: note_and_wait(folder, number), items, 3):
        pass


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_processes_end_with_the_first_one_whatever_ends_it(tmp_path: Path) -> None:
    first = start(work_without_end, tmp_path)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    first.kill()
    first.join()
    processes = [int(each.name) for each in tmp_path.iterdir()]
    while any(map(is_running, processes)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
