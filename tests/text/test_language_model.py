"""Kneser-Ney smoothing compared with its definition, and properties of any language model."""

import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest

from pocketmt.errors import DataError
from pocketmt.text.language_model import LanguageModel

Gram = tuple[str, ...]
START, END, UNKNOWN = "<s>", "</s>", "<unk>"
FALLBACK = (0.5, 1.0, 1.5)


class Plain:
    """The same by dictionaries, straight from Chen and Goodman 1998, eq. 22-26, as lmplz applies them."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int) -> None:
        self.order = order
        raw: Counter[Gram] = Counter()
        for sentence in sentences:
            words = (START, *sentence, END)
            for length in range(1, order + 1):
                raw.update(words[place : place + length] for place in range(len(words) - length + 1))
        before: dict[Gram, set[str]] = defaultdict(set)
        for gram in raw:
            before[gram[1:]].add(gram[0])
        self.counts: list[dict[Gram, int]] = []
        for length in range(1, order + 1):
            grams = [gram for gram in raw if len(gram) == length and gram != (START,)]
            full = {gram: raw[gram] for gram in grams}
            types = {gram: raw[gram] if gram[0] == START else len(before[gram]) for gram in grams}
            self.counts.append(full if length == order else types)
        self.vocabulary = {gram[0] for gram in self.counts[0]} | {UNKNOWN}
        self.discounts = [self._discounts(counts) for counts in self.counts]

    @staticmethod
    def _discounts(counts: dict[Gram, int]) -> tuple[float, ...]:
        number = Counter(counts.values())
        if not (number[1] and number[2] and number[3]):
            return FALLBACK
        share = number[1] / (number[1] + 2 * number[2])
        found = tuple(times - (times + 1) * share * number[times + 1] / number[times] for times in (1, 2, 3))
        return found if all(0 <= each <= times for times, each in enumerate(found, 1)) else FALLBACK

    def probability(self, history: Gram, word: str) -> float:
        history = history[-(self.order - 1) :]
        counts, discounts = self.counts[len(history)], self.discounts[len(history)]
        following = {gram: count for gram, count in counts.items() if gram[:-1] == history}
        lower = self.probability(history[1:], word) if history else 1 / len(self.vocabulary)
        if not following:
            return lower
        total = sum(following.values())
        taken = sum(discounts[min(count, 3) - 1] for count in following.values())
        count = following.get((*history, word), 0)
        own = count - discounts[min(count, 3) - 1] if count else 0.0
        return own / total + taken / total * lower

    def cross_entropy(self, sentence: Sequence[str]) -> float:
        words = [START, *(word if word in self.vocabulary else UNKNOWN for word in sentence), END]
        places = range(1, len(words))
        return -sum(math.log(self.probability(tuple(words[:place]), words[place])) for place in places) / len(places)


def text(lines: int, words: str, seed: int) -> list[list[str]]:
    draw = random.Random(seed)
    return [draw.choices(words, weights=range(1, len(words) + 1), k=draw.randint(1, 6)) for _ in range(lines)]


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize(("lines", "words"), [(3, "ab"), (60, "abcdefgh"), (300, "abcdefghijklmnopqrstuvwxyz")])
def test_it_follows_the_definition(order: int, lines: int, words: str) -> None:
    sentences = text(lines, words, seed=order)
    unseen = [*text(20, words + "?!", seed=9), ["never", "seen"], sentences[0]]
    plain = Plain(sentences, order)
    found = LanguageModel(sentences, order).cross_entropies(unseen)
    assert found == pytest.approx([plain.cross_entropy(sentence) for sentence in unseen], rel=1e-9)


def test_a_model_worked_out_by_hand() -> None:
    # Bigrams <s> a, a a, a b, b </s>, each once; too few for estimated discounts: 0.5 is taken from each.
    model = LanguageModel([["a", "a", "b"]], order=2)
    # Single words by what they follow: a after <s>, a; b after a; </s> after b: 2, 1, 1 of 4; taken 1 + 0.5 + 0.5 = 2.
    a = (2 - 1) / 4 + 2 / 4 / 4  # 4 words: a, b, the end, the unknown one
    end, unknown = 0.5 / 4 + 2 / 4 / 4, 2 / 4 / 4
    a_at_start = 0.5 / 1 + 0.5 * a
    unknown_after_a = (0.5 + 0.5) / 2 * unknown
    wanted = -(math.log(a_at_start) + math.log(unknown_after_a) + math.log(end)) / 3
    assert model.cross_entropies([["a", "?"]]) == pytest.approx([wanted])


@pytest.mark.parametrize("history", [(START,), ("a",), ("b", "a"), (START, "c"), ("c", UNKNOWN)])
def test_the_definition_gives_probabilities(history: Gram) -> None:
    plain = Plain(text(80, "abcdef", seed=3), order=3)
    assert sum(plain.probability(history, word) for word in plain.vocabulary) == pytest.approx(1.0)


def test_it_is_the_same_for_one_sentence_and_for_many() -> None:
    model = LanguageModel(text(200, "abcdefgh", seed=5))
    some = [[], *text(50, "abcdefghij", seed=6)]
    assert model.cross_entropies(some) == [score for sentence in some for score in model.cross_entropies([sentence])]
    assert model.cross_entropies([]) == []


def test_training_text_is_more_probable_than_other_text() -> None:
    sentences = [["the", "cat", "sleeps"], ["the", "dog", "sleeps"], ["a", "cat", "sees", "the", "dog"]] * 3
    model = LanguageModel(sentences)
    known, turned, strange = model.cross_entropies(
        [["the", "cat", "sleeps"], ["sleeps", "cat", "the"], ["x", "y", "z"]]
    )
    assert known < turned < strange


def test_words_may_be_pieces_of_a_vocabulary() -> None:
    letters = text(50, "abcd", seed=2)
    numbers = [[ord(word) for word in sentence] for sentence in letters]
    assert LanguageModel(numbers).cross_entropies(numbers) == LanguageModel(letters).cross_entropies(letters)


def test_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="no text to train a language model on"):
        LanguageModel(itertools.repeat(["a"], 0))
