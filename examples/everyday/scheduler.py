"""Runs steps side by side, each when the steps that it needs are done."""

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

Run = Callable[[], None] | list[str]  # A function, or a command.


@dataclass(frozen=True)
class Step:
    """A step: a command or a function, and the names of the steps that it needs."""

    name: str
    run: Run
    needs: tuple[str, ...] = ()


class StepError(Exception):
    """Steps have failed."""


def run_steps(steps: Sequence[Step], folder: Path, most: int, report: Callable[[str], None]) -> None:
    """Run steps, at most `most` commands at one time, the first of the list first.

    A finished step is not run again: a file in `folder`/done says so. Commands write to
    `folder`/logs/NAME.log.
    After a step has failed, no step that needs it starts; StepError names those that failed.
    """
    done = {path.name for path in (folder / "done").glob("*")}
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    waiting = [step for step in steps if step.name not in done]
    running: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
    failed: list[str] = []
    try:
        while True:
            ready = [step for step in waiting if done.issuperset(step.needs)][: most - len(running)]
            for step in ready:
                waiting.remove(step)
                if callable(step.run):
                    step.run()
                    _finish(step.name, folder, done)
                    report(f"{step.name}: done")
                else:
                    running[step.name] = (_start(step.run, folder / "logs" / f"{step.name}.log"), time.monotonic())
                    report(f"{step.name}: started")
            if not running and not ready:
                break
            for name, (process, started) in list(running.items()):
                if process.poll() is None:
                    continue
                del running[name]
                seconds = time.monotonic() - started
                if process.returncode:
                    failed.append(name)
                    report(f"{name}: failed with status {process.returncode} after {seconds:.0f} s")
                else:
                    _finish(name, folder, done)
                    report(f"{name}: done in {seconds:.0f} s")
            time.sleep(0.2)
    finally:
        for process, _ in running.values():
            process.terminate()
    if failed:
        raise StepError(f"failed: {', '.join(failed)}; see {folder / 'logs'}")


def _start(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as stream:
        return subprocess.Popen(command, stdout=stream, stderr=stream)


def _finish(name: str, folder: Path, done: set[str]) -> None:
    (folder / "done").mkdir(exist_ok=True)
    (folder / "done" / name).touch()
    done.add(name)
