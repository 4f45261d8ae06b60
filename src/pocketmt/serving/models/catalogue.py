"""The model files of a server, and the languages between which they translate, also through a third language."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.serving.models.description import ModelDescription, Stamp, describe_model, is_model_name, stamp_of

PREFERRED_PIVOT: Final = "en"
# A file that is replaced may be missing for a moment.
LOOKS_UNTIL_REMOVED: Final = 2


@dataclass(frozen=True)
class Step:
    """A translation by one model."""

    model: ModelDescription
    source: str
    target: str


@dataclass(frozen=True)
class Routes:
    """Translations that a set of models offers.

    Attributes:
        steps: (source, target) -> the model for it.
        targets: source -> all targets, also those through a third language, sorted.
        languages: all codes, sorted.
    """

    steps: dict[tuple[str, str], Step]
    targets: dict[str, tuple[str, ...]]
    languages: tuple[str, ...]

    def route(self, source: str, target: str) -> tuple[Step, ...] | None:
        """Return one or two steps from a language to another, none if they are the same; None: there is no way.

        A third language is English if possible, or else the first in the order of their codes.
        """
        if source == target:
            return ()
        if (source, target) in self.steps:
            return (self.steps[source, target],)
        for middle in sorted(self.languages, key=lambda code: (code != PREFERRED_PIVOT, code)):
            if (source, middle) in self.steps and (middle, target) in self.steps:
                return self.steps[source, middle], self.steps[middle, target]
        return None

    def find(self, code: str) -> str | None:
        """Return the language that a code names, in any case and without its region if need be; None: there is none."""
        wanted = code.replace("_", "-").lower()
        known = {language.replace("_", "-").lower(): language for language in reversed(self.languages)}
        if wanted in known:
            return known[wanted]
        primary = wanted.partition("-")[0]
        return known.get(primary) or next(
            (language for name, language in sorted(known.items()) if name.partition("-")[0] == primary), None
        )


def make_routes(models: Iterable[ModelDescription]) -> Routes:
    """Return the routes of models; of two models for the same languages, the first is taken."""
    steps: dict[tuple[str, str], Step] = {}
    for model in models:
        for source in model.sources:
            for target in model.targets:
                if source != target:
                    steps.setdefault((source, target), Step(model, source, target))
    languages = tuple(sorted({code for pair in steps for code in pair}))
    direct: dict[str, set[str]] = {}
    for source, target in steps:
        direct.setdefault(source, set()).add(target)
    targets = {}
    for source, near in direct.items():
        far = {target for middle in near for target in direct.get(middle, ())}
        targets[source] = tuple(sorted((near | far) - {source}))
    return Routes(steps, targets, languages)


class Catalogue:
    """The model files in some places, looked for again at each `refresh`.

    Args:
        places: model files and folders of model files.
        report: is told of files that cannot be served, and of changes.

    Attributes:
        routes: of the files as they were at the last `refresh`.
        models: path -> description.
    """

    def __init__(self, places: Sequence[Path], report: Callable[[str], None]) -> None:
        self._places = places
        self._report = report
        self._refused: dict[Path, Stamp] = {}
        self._missing: dict[Path, int] = {}
        self.models: dict[Path, ModelDescription] = {}
        self.routes = make_routes(())
        self.refresh()

    def refresh(self) -> list[ModelDescription]:
        """Look for new, changed and removed files; returns the descriptions of those that changed.

        A file that can no longer be read keeps its description, so that a model in memory stays in use.
        """
        changed = []
        found = list(self._files())
        for path in found:
            try:
                stamp = stamp_of(path)
                known = self.models.get(path)
                if (known is not None and known.stamp == stamp) or self._refused.get(path) == stamp:
                    continue
                self.models[path] = describe_model(path)
                self._refused.pop(path, None)
                if known is not None:
                    changed.append(self.models[path])
            except OSError:
                continue  # It is being replaced.
            except ModelFileError as error:
                self._refused[path] = stamp
                self._report(str(error))
        self._forget(set(found))
        self.routes = make_routes(self.models[path] for path in sorted(self.models))
        return changed

    def _files(self) -> Iterable[Path]:
        for place in self._places:
            if place.is_dir():
                yield from sorted(path for path in place.iterdir() if is_model_name(path.name) and path.is_file())
            elif place.exists():
                yield place

    def _forget(self, found: set[Path]) -> None:
        for path in [path for path in self.models if path not in found]:
            self._missing[path] = self._missing.get(path, 0) + 1
            if self._missing[path] >= LOOKS_UNTIL_REMOVED:
                del self.models[path]
                self._report(f"{path}: removed")
        self._missing = {
            path: times for path, times in self._missing.items() if path in self.models and path not in found
        }
