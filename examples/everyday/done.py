"""Finished steps: files in the folder `done`, with digests that tell whether a step's settings have changed."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from examples.everyday.step import Step, StepError

DONE: Final = "done"


class FinishedSteps:
    """The finished steps of a folder: `done`/NAME in it holds the digest of what the step was made by.

    Attributes:
        names: of the steps.
    """

    def __init__(self, steps: Sequence[Step], folder: Path) -> None:
        """Read which of all steps are finished.

        Raises StepError if one was made with other settings, or from such a one. An empty file fits all settings:
        earlier versions wrote no digests.
        """
        self._folder = folder / DONE
        self._digests = _digests(steps, folder)
        self.names = {path.name for path in self._folder.glob("*")}
        changed = [name for name in self._digests if name in self.names and not self._fits(name)]
        if changed:
            files = " ".join(str(self._folder / name) for name in changed)
            raise StepError(
                f"{', '.join(changed)}: made with other settings: choose another folder. To run these steps again, "
                f"remove their results and {files}; to keep the results, empty these files"
            )

    def add(self, name: str) -> None:
        """Record that a step is finished."""
        self._folder.mkdir(exist_ok=True)
        (self._folder / name).write_text(self._digests[name], encoding="utf-8")
        self.names.add(name)

    def _fits(self, name: str) -> bool:
        return (self._folder / name).read_text(encoding="utf-8") in ("", self._digests[name])


def _digests(steps: Sequence[Step], folder: Path) -> dict[str, str]:
    """Return a hexadecimal SHA-256 for each step, of what it does and of the digests of the steps that it needs."""
    by_name = {step.name: step for step in steps}
    found: dict[str, str] = {}

    def digest(step: Step) -> str:
        if step.name not in found:
            needed = [digest(by_name[need]) for need in step.needs]
            description = step.description().replace(str(folder), "")  # The folder may be moved.
            found[step.name] = hashlib.sha256("\0".join([description, *needed]).encode()).hexdigest()
        return found[step.name]

    return {step.name: digest(step) for step in steps}
