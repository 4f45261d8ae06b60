"""The model files of a server, and the languages between which they translate, also through a third language."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.serving.models.description import ModelDescription, Stamp, describe_model, is_model_name, stamp_of
from pocketmt.text.language_tags import agreeing_tags, find_language, primary_subtag

PREFERRED_PIVOT: Final = "en"
_TAG: Final = re.compile(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8})*", re.ASCII)  # BCP 47
# A file that is replaced may be missing for a moment.
LOOKS_UNTIL_REMOVED: Final = 2


@dataclass(frozen=True)
class Step:
    """A translation by one model; `source` and `target` are its codes."""

    model: ModelDescription
    source: str
    target: str


@dataclass(frozen=True)
class Routes:
    """Translations that a set of models offers, between languages that have one code each.

    Attributes:
        steps: (source, target) -> the model for it.
        targets: source -> all targets, also those through a third language, sorted.
        languages: all codes, sorted.
        codes: code of a model -> that of its language here.
    """

    steps: dict[tuple[str, str], Step]
    targets: dict[str, tuple[str, ...]]
    languages: tuple[str, ...]
    codes: dict[str, str]

    def route(self, source: str, target: str) -> tuple[Step, ...] | None:
        """Return one or two steps from a language to another, none if they are the same; None: there is no way.

        A third language is English if possible, or else the first in the order of their codes.
        """
        if source == target:
            return ()
        if (source, target) in self.steps:
            return (self.steps[source, target],)
        for middle in self._middles:
            if (source, middle) in self.steps and (middle, target) in self.steps:
                return self.steps[source, middle], self.steps[middle, target]
        return None

    @cached_property
    def _middles(self) -> list[str]:
        return sorted(self.languages, key=lambda code: (primary_subtag(code) != PREFERRED_PIVOT, code))

    def find(self, code: str) -> str | None:
        """Return the language that a code names, in any case and without its region if need be.

        None: there is none, or it is not the code of a language.
        """
        wanted = code.replace("_", "-").lower()
        if wanted in self._known:
            return self._known[wanted]
        if not _TAG.fullmatch(wanted):
            return None
        if _shortened(wanted) in self._known:
            return self._known[_shortened(wanted)]
        primary = primary_subtag(wanted)
        same = self._by_primary_subtag.get(primary, [])
        return find_language(wanted, same) or self._known.get(primary) or next(iter(same), None)

    @cached_property
    def _known(self) -> dict[str, str]:
        """Code of a model, and the same with the shortest code of its language, in lower case -> the code here."""
        offered = [(code, language) for code, language in self.codes.items() if language in self.languages]
        written = {code.replace("_", "-").lower(): language for code, language in reversed(offered)}
        return {_shortened(code): language for code, language in written.items()} | written

    @cached_property
    def _by_primary_subtag(self) -> dict[str, list[str]]:
        return _by_primary_subtag(self.languages)


def make_routes(models: Iterable[ModelDescription]) -> Routes:
    """Return the routes of models; of two models for the same languages, the first is taken."""
    models = tuple(models)
    codes = _common_codes(models)
    steps: dict[tuple[str, str], Step] = {}
    direct: dict[str, set[str]] = {}
    for model in models:
        for source in model.sources:
            for target in model.targets:
                pair = codes[source], codes[target]
                if pair[0] != pair[1] and pair not in steps:
                    steps[pair] = Step(model, source, target)
                    direct.setdefault(pair[0], set()).add(pair[1])
    languages = tuple(sorted({code for pair in steps for code in pair}))
    targets = {}
    # In a model of many languages, each source and its targets are the same languages.
    reached: dict[frozenset[str], list[str]] = {}
    for source, near in direct.items():
        middles = frozenset((source, *near))
        if middles not in reached:
            reached[middles] = sorted(set[str]().union(*(direct.get(middle, ()) for middle in middles)))
        targets[source] = tuple(code for code in reached[middles] if code != source)
    return Routes(steps, targets, languages, codes)


def _common_codes(models: Sequence[ModelDescription]) -> dict[str, str]:
    """Return each code of the models -> the shortest code for the same language.

    Codes are not merged if one of them may name several others (zh, if there are zho_Hans and zho_Hant), or if a model
    has more than one of them.
    """
    of_models = [{*model.sources, *model.targets} for model in models]
    common: dict[str, str] = {}
    for codes in _by_primary_subtag(dict.fromkeys(code for each in of_models for code in each)).values():
        agreeing = {code: agreeing_tags(code, codes) for code in codes}
        for code in codes:
            same = {each for each in codes if agreeing[each] == agreeing[code]}
            apart = any(len(same & each) > 1 for each in of_models)
            common[code] = code if apart else min(same, key=lambda each: (len(each), each))
    return common


def _by_primary_subtag(codes: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for code in codes:
        found.setdefault(primary_subtag(code), []).append(code)
    return found


def _shortened(tag: str) -> str:
    """Return a tag with the shortest code of its language: zh-hans for zho-hans."""
    language, hyphen, others = tag.partition("-")
    return primary_subtag(language) + hyphen + others


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

    @property
    def refused(self) -> bool:
        """Whether a file was found that cannot be served; its reason was reported."""
        return bool(self._refused)

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
        if [*models.items()] == [*self.models.items()]:
            return  # Routes between hundreds of languages take a while, and the files are looked at often.
        self.models = models
        self.routes = make_routes(models.values())
        if self._by_languages:
            self._report_unused()

    def _report_unused(self) -> None:
        """Report each model once for whose languages others are used."""
        used = {step.model.path for step in self.routes.steps.values()}
        unused = [model for path, model in self.models.items() if path not in used]
        for model in unused:
            codes = self.routes.codes
            pairs = ((codes[source], codes[target]) for source in model.sources for target in model.targets)
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
