"""The corpora on which recipes are scored, and their sets: choices are made on one, the others are used last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.data import corpus
from benchmarks.multi30k.data import TESTS, VALIDATION
from pocketmt.text.corpus import read_lines


@dataclass(frozen=True)
class Texts:
    """A corpus in one direction."""

    name: str
    folder_name: str
    source: str  # ending of the files with the source
    validation: str
    tests: tuple[str, ...]
    references: tuple[str, ...]  # endings of the files with the references
    licence: str
    description: str  # of a model trained on it

    def folder(self) -> Path:
        """Return its folder; DataError if it does not exist."""
        return corpus(self.folder_name)

    def source_lines(self, name: str) -> list[str]:
        """Return the source of one set."""
        return list(read_lines(self.folder() / f"{name}.{self.source}"))

    def reference_lines(self, name: str) -> list[list[str]]:
        """Return the references of one set: lists that are parallel to its source."""
        return [list(read_lines(self.folder() / f"{name}.{ending}")) for ending in self.references]

    def pooled(self, outputs: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the lines of all test sets, concatenated."""
        return [line for each in self.tests for line in outputs[each]]

    def pooled_sources(self) -> list[str]:
        """Return the source of all test sets, concatenated."""
        return self.pooled({each: self.source_lines(each) for each in self.tests})

    def pooled_references(self) -> list[list[str]]:
        """Return the references for `pooled`."""
        sets = {each: self.reference_lines(each) for each in self.tests}
        return [self.pooled({each: sets[each][index] for each in self.tests}) for index in range(len(self.references))]


TEXTS: Final = {
    texts.name: texts
    for texts in (
        Texts(
            name="multi30k",
            folder_name="multi30k",
            source="en",
            validation=VALIDATION,
            tests=TESTS,
            references=("de",),
            licence="Research use only: trained on Multi30k, whose captions come from Flickr30k under its terms",
            description="Image captions, English to German; tiny Transformer trained on Multi30k",
        ),
        Texts(
            name="multi30k-de-en",
            folder_name="multi30k",
            source="de",
            validation=VALIDATION,
            tests=TESTS,
            references=("en",),
            licence="Research use only: trained on Multi30k, whose captions come from Flickr30k under its terms",
            description="Image captions, German to English; tiny Transformer trained on Multi30k",
        ),
        Texts(
            name="tatoeba",
            folder_name="tatoeba",
            source="en",
            validation="val",
            tests=("test",),
            references=("de0", "de1", "de2", "de3"),
            licence="CC BY 2.0 FR: www.manythings.org/anki and tatoeba.org",
            description="Everyday sentences, English to German; student trained on Tatoeba",
        ),
        Texts(
            name="tatoeba-de-en",
            folder_name="tatoeba",
            source="de0",
            validation="val",
            tests=("test",),
            references=("en",),
            licence="CC BY 2.0 FR: www.manythings.org/anki and tatoeba.org",
            description="Everyday sentences, German to English; student trained on Tatoeba",
        ),
    )
}
MULTI30K: Final = TEXTS["multi30k"]
