"""Generates distinct sentence pairs of all constructions, split into training, development and test parts."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.sentences import (
    descriptions,
    journeys,
    questions,
    situations,
    statements,
    subordinate,
    surroundings,
)
from pocketmt.atomic_file import atomic_write
from pocketmt.errors import ConfigurationError
from pocketmt.text.corpus import write_pairs

Construction = Callable[[Draw], tuple[str, str]]

# Name, function that makes a pair, share of the corpus.
CONSTRUCTIONS: tuple[tuple[str, Construction, int], ...] = (
    *statements.CONSTRUCTIONS,
    *questions.CONSTRUCTIONS,
    *subordinate.CONSTRUCTIONS,
    *descriptions.CONSTRUCTIONS,
    *situations.CONSTRUCTIONS,
    *journeys.CONSTRUCTIONS,
    *surroundings.CONSTRUCTIONS,
)
LARGEST = 1_000_000
_ATTEMPTS = 50


@dataclass(frozen=True)
class SentencePair:
    """An English sentence, its German translation, and the construction that it was made by."""

    english: str
    german: str
    construction: str


@dataclass(frozen=True)
class SyntheticCorpus:
    """Training, development and test pairs; no sentence, English or German, occurs twice."""

    seed: int
    training: tuple[SentencePair, ...]
    development: tuple[SentencePair, ...]
    test: tuple[SentencePair, ...]

    def write(self, folder: Path) -> None:
        """Write train.en, train.de, dev.en, ..., test.de (UTF-8, one sentence a line) and a README into `folder`.

        Creates the folder if necessary; replaces files of these names.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for name, pairs in (("train", self.training), ("dev", self.development), ("test", self.test)):
            with write_pairs(folder / f"{name}.en", folder / f"{name}.de") as write:
                for pair in pairs:
                    write(pair.english, pair.german)
        sizes = f"train {len(self.training)}, dev {len(self.development)}, test {len(self.test)}"
        readme = _README.format(sizes=sizes, seed=self.seed, constructions=len(CONSTRUCTIONS))
        with atomic_write(folder / "README.md") as stream:
            stream.write(f"{readme}\n".encode())


def generate(seed: int = 1, training: int = 20_000, development: int = 500, test: int = 500) -> SyntheticCorpus:
    """Return a corpus of these numbers of sentence pairs; the seed and the sizes alone decide the sentences.

    The held-out parts do not depend on the size of the training part. Raises ConfigurationError if a size is
    negative, or if their sum is above a million: beyond that, new sentences become rare.
    """
    sizes = (training, development, test)
    if min(sizes) < 0 or sum(sizes) > LARGEST:
        raise ConfigurationError(
            f"a synthetic corpus of {training} + {development} + {test} sentence pairs cannot be generated: "
            f"the numbers must not be negative, and their sum at most {LARGEST}"
        )
    pairs = _distinct_pairs(seed, sum(sizes))
    held_out = development + test
    return SyntheticCorpus(seed, pairs[held_out:], pairs[:development], pairs[development:held_out])


def _distinct_pairs(seed: int, count: int) -> tuple[SentencePair, ...]:
    """Return pairs in random order of constructions; each gets its share while it still finds new sentences."""
    draw = Draw(seed)
    options = [((name, make), share) for name, make, share in CONSTRUCTIONS]
    english_seen: set[str] = set()
    german_seen: set[str] = set()
    pairs: list[SentencePair] = []
    while len(pairs) < count:
        name, make = draw.weighted(options)
        for _ in range(_ATTEMPTS):
            english, german = make(draw)
            if english not in english_seen and german not in german_seen:
                english_seen.add(english)
                german_seen.add(german)
                pairs.append(SentencePair(english, german, name))
                break
    return tuple(pairs)


_README = """# A synthetic English-German corpus

A program generated every sentence here from a grammar of both languages ({constructions} constructions, several
hundred words), seed {seed}. Nobody said or wrote these sentences; the facts in them (prices, distances) are made up.
Line n of a `.en` file is translated by line n of the `.de` file.

Sentence pairs: {sizes}. No sentence, English or German, occurs twice.

Use it to try out PocketMT in minutes, and for tests, and for nothing else: a model trained on it knows only these words
and constructions, and its scores say nothing about real text and cannot be compared with published ones. "You" is
always the polite "Sie", and each English sentence has a single translation."""
