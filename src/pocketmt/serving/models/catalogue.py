"""The model files of a server, and the languages between which they translate, also through a third language."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.serving.models.description import ModelDescription, Stamp, describe_model, is_model_name, stamp_of
from pocketmt.text.language_tags import primary_subtag

PREFERRED_PIVOT: Final = "en"
_TAG: Final = re.compile(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8})*", re.ASCII)  # BCP 47
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
        """Return the language that a code names, in any case and without its region if need be.

        None: there is none, or it is not the code of a language.
        """
        wanted = code.replace("_", "-").lower()
        known = {language.replace("_", "-").lower(): language for language in reversed(self.languages)}
        if wanted in known:
            return known[wanted]
        if not _TAG.fullmatch(wanted):
            return None
        primary = primary_subtag(wanted)
        return known.get(primary) or next(
            (language for name, language in sorted(known.items()) if primary_subtag(name) == primary), None
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


@dataclass(frozen=True, slots=True)
class Changes:
    """What a look at the files found.

    Attributes:
        replaced: descriptions of files that changed, again at each look until they are accepted.
        removed: paths of files that are no longer there.
    """

    replaced: tuple[ModelDescription, ...]
    removed: tuple[Path, ...]


class Catalogue:
    """The model files in some places, looked for again at each `refresh`.

    Args:
        places: model files and folders of model files, in the order of preference.
        report: is told of files that cannot be served, and of changes.
        by_languages: whether models are found by their languages; then one that is never found is reported.

    Attributes:
        report: as it was given.
        routes: of the files as they were at the last `refresh`.
        models: path -> description, in the order of the places.
    """

    def __init__(self, places: Sequence[Path], report: Callable[[str], None], *, by_languages: bool = True) -> None:
        self.report = report
        self._by_languages = by_languages
        self._places = places
        self._unreadable: set[Path] = set()
        self._refused: dict[Path, Stamp] = {}
        self._offered: dict[Path, ModelDescription] = {}
        self._missing: dict[Path, int] = {}
        self._unused: set[Path] = set()
        self.models: dict[Path, ModelDescription] = {}
        self.routes = make_routes(())
        self.refresh()

    def refresh(self) -> Changes:
        """Look for new, changed and removed files, and return what was found.

        A file that changed keeps its description until `accept`, and one that can no longer be read keeps it, too, so
        that a model in memory stays in use.
        """
        found = self._files()
        models = dict(self.models)
        for path in found:
            self._look_at(path, models)
        removed = self._forget(found, models)
        order = {path: place for place, path in enumerate(found)}
        self._set({path: models[path] for path in sorted(models, key=lambda path: order.get(path, len(order)))})
        return Changes(tuple(self._offered.values()), removed)

    def accept(self, description: ModelDescription) -> None:
        """Use the description of a file that changed."""
        self._offered.pop(description.path, None)
        self._set(self.models | {description.path: description})

    def _set(self, models: dict[Path, ModelDescription]) -> None:
        self.models = models
        self.routes = make_routes(models.values())
        if self._by_languages:
            self._report_unused()

    def _report_unused(self) -> None:
        """Report each model once for whose languages others are used."""
        used = {step.model.path for step in self.routes.steps.values()}
        unused = [model for path, model in self.models.items() if path not in used]
        for model in unused:
            pairs = ((source, target) for source in model.sources for target in model.targets)
            pair = next((pair for pair in pairs if pair in self.routes.steps), None)
            if pair is not None and model.path not in self._unused:
                other = self.routes.steps[pair].model.path
                self.report(f"{model.path}: not used, {other} translates {pair[0]} to {pair[1]}")
        self._unused = {model.path for model in unused}

    def _files(self) -> list[Path]:
        """Return the model files; of a folder that cannot be read now, those that were found before."""
        found: list[Path] = []
        for place in self._places:
            try:
                found += _files_in(place)
                self._unreadable.discard(place)
            except OSError as error:
                if place not in self._unreadable:
                    self.report(f"{place}: cannot be read: {error.strerror or error}; its models stay in use")
                self._unreadable.add(place)
                found += [path for path in (*self.models, *self._refused) if place in (path, path.parent)]
        return list(dict.fromkeys(found))

    def _look_at(self, path: Path, models: dict[Path, ModelDescription]) -> None:
        """Describe a file if it is new, or if it changed since it was described or refused."""
        try:
            stamp = stamp_of(path)
        except OSError:
            return  # It is being replaced.
        known, offered = models.get(path), self._offered.get(path)
        if known is not None and known.stamp == stamp:
            self._offered.pop(path, None)
        if self._refused.get(path) == stamp or any(each and each.stamp == stamp for each in (known, offered)):
            return
        self._offered.pop(path, None)
        try:
            description = describe_model(path)
        except ModelFileError as error:
            self._refused[path] = stamp
            self.report(str(error))
            return
        self._refused.pop(path, None)
        (models if known is None else self._offered)[path] = description

    def _forget(self, found: Sequence[Path], models: dict[Path, ModelDescription]) -> tuple[Path, ...]:
        """Take models away whose files are missing for a while; returns their paths."""
        missing = [path for path in models if path not in found]
        self._missing = {path: self._missing.get(path, 0) + 1 for path in missing}
        removed = tuple(path for path, looks in self._missing.items() if looks >= LOOKS_UNTIL_REMOVED)
        for path in removed:
            del models[path]
            self._offered.pop(path, None)
            self.report(f"{path}: removed")
        self._refused = {path: stamp for path, stamp in self._refused.items() if path in found}
        return removed


def _files_in(place: Path) -> list[Path]:
    """Return the model files at a place; raises OSError."""
    if place.is_dir():
        return sorted(path for path in place.iterdir() if is_model_name(path.name) and path.is_file())
    return [place] if place.exists() else []
