"""Steps: commands and functions, with the names of the steps that they need."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Run = Callable[[], None] | list[str]  # A function, or a command that begins with its program.


@dataclass(frozen=True)
class Step:
    """A step: a command or a function, and the names of the steps that it needs."""

    name: str
    run: Run
    needs: tuple[str, ...] = ()
    settings: str = ""  # What a function depends on, beside the steps that it needs.

    def description(self) -> str:
        """Return what the step does: its settings, or its arguments and the content of configurations among them."""
        if callable(self.run):
            return self.settings
        files = [Path(argument) for argument in self.run if argument.endswith(".toml")]
        return "\0".join([*self.run[1:], *(file.read_text(encoding="utf-8") for file in files if file.is_file())])


class StepError(Exception):
    """Steps have failed, or cannot be run."""
