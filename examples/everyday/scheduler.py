"""Runs steps side by side, each when the steps that it needs are done."""

import subprocess
import time
from collections.abc import Callable, Sequence
from fnmatch import filter as matching
from pathlib import Path

from examples.everyday.done import FinishedSteps
from examples.everyday.step import Step, StepError


def run_steps(
    steps: Sequence[Step], folder: Path, most: int, report: Callable[[str], None], only: Sequence[str] = ("*",)
) -> None:
    """Run steps, at most `most` commands at one time, the first of the list first.

    A finished step is not run again, see `FinishedSteps`. Commands write to `folder`/logs/NAME.log.
    After a step has failed, no step that needs it starts.

    Args:
        steps: all steps.
        folder: of the results.
        most: number of commands at one time.
        report: called with a line about each step that starts or ends.
        only: patterns of the names of the steps to run.

    Raises StepError, at the end, if a step has failed or lacks one that it needs; before, if a pattern fits no name,
    and as `FinishedSteps` does.
    """
    waiting = _chosen(steps, only)
    done = FinishedSteps(steps, folder)
    waiting = [step for step in waiting if step.name not in done.names]
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    running: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
    failed: list[str] = []
    try:
        while True:
            ready = [step for step in waiting if done.names.issuperset(step.needs)][: most - len(running)]
            for step in ready:
                waiting.remove(step)
                if callable(step.run):
                    step.run()
                    done.add(step.name)
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
                    done.add(name)
                    report(f"{name}: done in {seconds:.0f} s")
            time.sleep(0.2)
    finally:
        for process, _ in running.values():
            process.terminate()
    problems = [f"failed: {', '.join(failed)}; see {folder / 'logs'}"] if failed else []
    problems += [f"not run: {step.name}, which needs {_missing(step, done)}" for step in waiting]
    if problems:
        raise StepError("\n".join(problems))


def _chosen(steps: Sequence[Step], only: Sequence[str]) -> list[Step]:
    """Return the steps whose names fit a pattern; StepError if a pattern fits none."""
    names = [step.name for step in steps]
    if unknown := [pattern for pattern in only if not matching(names, pattern)]:
        raise StepError(f"no step fits {', '.join(unknown)}: the steps are {', '.join(names)}")
    chosen = {name for pattern in only for name in matching(names, pattern)}
    return [step for step in steps if step.name in chosen]


def _missing(step: Step, done: FinishedSteps) -> str:
    return ", ".join(need for need in step.needs if need not in done.names)


def _start(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as stream:
        return subprocess.Popen(command, stdout=stream, stderr=stream)
