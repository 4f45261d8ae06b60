"""Properties of the whole synthetic corpus."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from examples.demo.corpus import SentencePair, SyntheticCorpus, generate
from examples.demo.corpus.__main__ import main
from examples.demo.corpus.generation import CONSTRUCTIONS
from pocketmt.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[4]
# Changes with every change of the grammar or the lexicon, so that an accidental one fails here.
DIGEST = "a7e5630613897a4cc3ec96e73e582bfb3612b7140635b5ebacaee1c5e2083087"


@pytest.fixture(scope="module")
def corpus() -> SyntheticCorpus:
    return generate()


@pytest.fixture(scope="module")
def pairs(corpus: SyntheticCorpus) -> tuple[SentencePair, ...]:
    return corpus.training + corpus.development + corpus.test


def digest(pairs: tuple[SentencePair, ...]) -> str:
    text = "".join(f"{pair.english}\t{pair.german}\n" for pair in pairs)
    return hashlib.sha256(text.encode()).hexdigest()


def test_sizes(corpus: SyntheticCorpus) -> None:
    assert (len(corpus.training), len(corpus.development), len(corpus.test)) == (20_000, 500, 500)


def test_the_corpus_is_the_same_everywhere(pairs: tuple[SentencePair, ...]) -> None:
    assert digest(pairs) == DIGEST


def test_the_corpus_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from examples.demo.corpus import generate; print([pair.german for pair in generate(3, 200, 5, 5).training])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


def test_another_seed_gives_another_corpus() -> None:
    assert digest(generate(1, 100, 0, 0).training) != digest(generate(2, 100, 0, 0).training)


def test_held_out_parts_do_not_depend_on_the_size_of_the_training_part(corpus: SyntheticCorpus) -> None:
    small = generate(training=10)
    assert (small.development, small.test) == (corpus.development, corpus.test)
    assert small.training == corpus.training[:10]


def test_no_sentence_stands_twice(pairs: tuple[SentencePair, ...]) -> None:
    assert len({pair.english for pair in pairs}) == len({pair.german for pair in pairs}) == len(pairs)


def test_constructions_have_their_shares(corpus: SyntheticCorpus) -> None:
    counts = Counter(pair.construction for pair in corpus.training)
    total = sum(share for *_, share in CONSTRUCTIONS)
    for name, _, share in CONSTRUCTIONS:
        assert counts[name] > 0.6 * len(corpus.training) * share / total, name
    assert set(counts) == {name for name, *_ in CONSTRUCTIONS}


def test_held_out_parts_hold_every_construction(corpus: SyntheticCorpus) -> None:
    held_out = {pair.construction for pair in corpus.development + corpus.test}
    assert held_out == {name for name, *_ in CONSTRUCTIONS}


def test_held_out_words_occur_in_training(corpus: SyntheticCorpus) -> None:
    def vocabulary(part: tuple[SentencePair, ...]) -> Counter[str]:
        return Counter(word for pair in part for word in re.findall(r"[^\W\d_]+", pair.german))

    known = vocabulary(corpus.training)
    test = vocabulary(corpus.test)
    assert sum(count for word, count in test.items() if word not in known) < 0.005 * test.total()


def test_every_sentence_is_well_formed(pairs: tuple[SentencePair, ...]) -> None:
    english_form = re.compile(r"[A-Z0-9€][A-Za-zé0-9€' ,.:-]*[.?!]")
    german_form = re.compile(r"[A-ZÄÖÜ0-9][A-Za-zäöüßÄÖÜé0-9€' ,.:-]*[.?!]")
    slips = re.compile(r"  |,,|\.\.| [,.?!]|,[^ \d]|\bNone\b")
    twice = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
    for pair in pairs:
        assert english_form.fullmatch(pair.english), pair
        assert german_form.fullmatch(pair.german), pair
        assert not slips.search(pair.english) and not slips.search(pair.german), pair
        assert not twice.search(pair.english), pair
        assert pair.english[-1] == pair.german[-1], pair


def test_sentences_are_short(pairs: tuple[SentencePair, ...]) -> None:
    lengths = [len(pair.german.split()) for pair in pairs]
    assert max(lengths) <= 30
    assert 6 <= sum(lengths) / len(lengths) <= 10


def test_german_and_english_numbers_agree(pairs: tuple[SentencePair, ...]) -> None:
    swap = str.maketrans(".,", ",.")
    for pair in pairs:
        english = sorted(re.findall(r"\d[\d.,:]*\d|\d", pair.english))
        german = sorted(number.translate(swap) for number in re.findall(r"\d[\d.,:]*\d|\d", pair.german))
        assert english == german, pair


def test_no_article_disagrees_with_the_next_word(pairs: tuple[SentencePair, ...]) -> None:
    wrong = re.compile(r"\ba [aeio]|\ban [^aeiouh]", re.IGNORECASE)
    assert not [pair.english for pair in pairs if wrong.search(pair.english)]


def test_uncontracted_prepositions_do_not_occur(pairs: tuple[SentencePair, ...]) -> None:
    wrong = re.compile(r"\b(in|an|von|zu|bei) dem [A-Z]|\b(in|an) das [A-Z]|\bzu der [A-Z]")
    assert not [pair.german for pair in pairs if wrong.search(pair.german)]


def test_writes_parallel_files(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "corpus"
    corpus = generate(training=30, development=4, test=3)
    corpus.write(folder)
    corpus.write(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md", "dev.de", "dev.en", "test.de", "test.en", "train.de", "train.en"
    ]  # fmt: skip
    assert (folder / "train.en").read_bytes().decode().split("\n") == [*(pair.english for pair in corpus.training), ""]
    assert (folder / "test.de").read_text(encoding="utf-8").splitlines() == [pair.german for pair in corpus.test]
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "synthetic" in readme and "train 30, dev 4, test 3" in readme
    assert max(map(len, readme.splitlines())) <= 140


@pytest.mark.parametrize("sizes", [(-1, 0, 0), (1, 0, -5), (2_000_000, 0, 0)])
def test_impossible_sizes_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ConfigurationError, match="cannot be generated"):
        generate(1, *sizes)


def test_no_sentences_are_possible() -> None:
    assert generate(1, 0, 0, 0) == SyntheticCorpus(1, (), (), ())


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "corpus"), "--training", "10", "--seed", "4"]) == 0
    written = (tmp_path / "corpus" / "train.de").read_text(encoding="utf-8").splitlines()
    assert written == [pair.german for pair in generate(4, 10).training]
    assert capsys.readouterr() == ("", "")


def test_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file" / "corpus"), "--training", "10"]) == 1
    assert main([str(tmp_path / "corpus"), "--training", "-10"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("error: ") and "cannot be written" in first
    assert second.startswith("error: ") and "cannot be generated" in second
