"""Terms: texts that translations must have."""

import re
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from pocketmt.engine import Translator
from pocketmt.engine.loading import native_model
from pocketmt.engine.terms import Terms, make_terms
from pocketmt.errors import EngineError
from pocketmt.model_file import open_model
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import Loader, search_options, sentences
from tests.engine.reference import architecture, plain, random_network, reference_logits, write
from tests.engine.test_shortlist import random_shortlist

Ids = list[int]

TERMS: list[list[tuple[Ids, bool]]] = [
    [([20], False)],
    [([21, 22], False), ([21, 23], False)],
    [([30, 31, 30, 32], False)],
    [([40], False), ([41], False), ([42, 43], False), ([40, 44], False)],
    [],
]


def contains(ids: Sequence[int], part: Sequence[int]) -> bool:
    """Whether ids have a part, all of it in one place."""
    return any(list(ids[start : start + len(part)]) == list(part) for start in range(len(ids)))


def has_terms(ids: Sequence[int], terms: Sequence[tuple[Ids, bool]]) -> bool:
    """Whether ids have all terms, each in another place."""
    parts = [list(part) for part, _ in terms]
    for order in permutations(parts):
        start = 0
        for part in order:
            places = [place for place in range(start, len(ids)) if list(ids[place : place + len(part)]) == part]
            if not places:
                break
            start = places[0] + len(part)
        else:
            return True
    return False


@pytest.mark.parametrize("listed", [False, True], ids=["whole vocabulary", "shortlist"])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_every_hypothesis_has_the_terms_and_its_score(
    tmp_path: Path, vocabulary: Vocabulary, beam_size: int, listed: bool
) -> None:
    path = tmp_path / "model.pocketmt"
    reference = write(path, random_network(architecture(decoder_layers=1)), vocabulary, plain)
    shortlist = random_shortlist()
    if listed:
        add_shortlist(path, shortlist, path)
    with open_model(path) as file:
        model = native_model(file)
    sources = sentences(10, seed=3, longest=9)
    terms = TERMS * 2
    options = search_options(beam_size=beam_size, n_best=beam_size, token_scores=True)
    for source, required, found in zip(
        sources, terms, model.submit(sources, options, [], terms).details(), strict=True
    ):
        assert len(found) == beam_size
        pieces = {piece for term, _ in required for piece in term}
        allowed = sorted({*shortlist.pieces(source), *pieces}) if listed else list(range(120))
        for ids, score, token_scores, _ in found:
            assert has_terms(ids, required)
            ended = len(token_scores) > len(ids)
            logits = reference_logits(reference, source, ids)[: len(ids) + ended].astype(np.float64)
            logits[:, [0, 1, 3, *(piece for piece in range(120) if piece not in allowed)]] = -np.inf
            log_probabilities = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
            expected = log_probabilities[range(len(token_scores)), [*ids, 2][: len(token_scores)]]
            np.testing.assert_allclose(token_scores, expected, atol=2e-3)
            assert score == pytest.approx(sum(token_scores) / len(token_scores), abs=1e-6)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_neighbours_batches_and_threads_do_not_matter(load: Loader, beam_size: int) -> None:
    sources, terms = sentences(40), TERMS * 8
    prefixes: list[Ids] = [[], [25, 30], [20], []] * 10
    model, _ = load()
    options = search_options(beam_size=beam_size, n_best=beam_size, no_repeat_ngram=3)
    together = model.submit(sources, options, prefixes, terms).result()
    for source, prefix, required, found in zip(sources, prefixes, terms, together, strict=True):
        assert model.submit([source], options, [prefix], [required]).result() == [found]
        assert all(ids[: len(prefix)] == prefix and has_terms(ids, required) for ids, _ in found)
    assert model.submit(sources[::-1], options, prefixes[::-1], terms[::-1]).result()[::-1] == together
    assert load(workers=3)[0].submit(sources, options, prefixes, terms).result() == together
    batches = search_options(beam_size=beam_size, n_best=beam_size, no_repeat_ngram=3, batch_size=2)
    assert model.submit(sources, batches, prefixes, terms).result() == together


def test_sentences_without_terms_are_not_changed_by_others(load: Loader) -> None:
    sources = sentences(20)
    terms = [[], TERMS[3]] * 10
    model, _ = load()
    for beam_size, scores in ((1, False), (1, True), (4, True)):
        options = search_options(beam_size=beam_size, scores=scores)
        plainly = model.translate(sources, options)
        assert model.submit(sources, options, [], terms).result()[::2] == plainly[::2]
        assert model.submit(sources, options, [], [[]] * 20).result() == plainly


@pytest.mark.parametrize("beam_size", [1, 4])
def test_terms_that_fill_the_longest_translation(load: Loader, beam_size: int) -> None:
    model, _ = load()
    required = TERMS[3]
    options = search_options(beam_size=beam_size, max_length=6, no_repeat_ngram=1)
    with pytest.raises(EngineError, match=r"max_length is 6.*the 6 pieces of a prefix and of the terms"):
        model.submit([[5, 6]], options, [], [required])
    options = search_options(beam_size=beam_size, max_length=7, no_repeat_ngram=1)
    with pytest.raises(EngineError, match="the 7 pieces"):
        model.submit([[5, 6]], options, [[9]], [required])
    for [(ids, _)] in model.submit(sentences(10), options, [], [required] * 10).result():
        assert len(ids) <= 7
        assert has_terms(ids, required)


def test_terms_go_before_bans_that_leave_them_no_place(load: Loader) -> None:
    model, _ = load()
    everything = [[piece] for piece in range(4, 120)]
    for changes in ({"suppressed_sequences": everything}, {"no_repeat_ngram": 1}, {"repetition_penalty": 100.0}):
        options = search_options(beam_size=2, max_length=20, **changes)
        required = [([50, 50], False), ([51, 50], False)]
        for [(ids, _)] in model.submit(sentences(4), options, [], [required] * 4).result():
            assert has_terms(ids, required)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_search_goes_on_while_the_best_translation_is_too_short(load: Loader, beam_size: int) -> None:
    """Loops end translations before the least length, and others reach it."""
    model, _ = load()
    options = search_options(beam_size=beam_size, min_length=30, max_length=60, repeat_limit=2)
    found = model.submit(sentences(30), options, [], [[([20], False)]] * 30).result()
    assert all(29 <= len(ids) <= 60 for [(ids, _)] in found)


def test_no_piece_continues_the_word_of_a_term(load: Loader) -> None:
    model, _ = load()
    continuations = list(range(60, 120))
    options = search_options(beam_size=4, n_best=4, word_continuations=continuations)
    sources = sentences(20)
    loose = model.submit(sources, options, [], [[([20], False)]] * 20).result()
    strict = model.submit(sources, options, [], [[([20], True)]] * 20).result()

    def followed(found: list[list[tuple[Ids, float]]]) -> int:
        places = [(ids, ids.index(20)) for hypotheses in found for ids, _ in hypotheses]
        return sum(ids[place + 1 : place + 2] > [59] for ids, place in places)

    assert followed(strict) == 0 < followed(loose)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ([[], []], "2 lists of terms of 1 sources"),
        ([[([], False)]], "a term is empty"),
        ([[([3], False)]], "special id 3"),
        ([[([120], False)]], "token id 120"),
    ],
)
def test_wrong_terms(load: Loader, terms: list[list[tuple[Ids, bool]]], message: str) -> None:
    model, _ = load()
    with pytest.raises(EngineError, match=message):
        model.submit([[5]], search_options(), [], terms)
    with pytest.raises(EngineError, match="leave sampling out"):
        model.submit([[5]], search_options(sampling=(1.0, 0, 1.0, 0)), [], [TERMS[0]])


REAL = {
    "A man rides a red bike in front of a house.": {"bike": "Rad", "house": "Gebäude"},
    "Two dogs are playing in the snow.": {"dogs": "Hunden", "snow": "Neuschnee"},
    "A woman in a blue shirt is reading a book on a bench.": {"blue shirt": "blauen Bluse", "shirt": "Hemd"},
    "Three men are standing on a boat.": {"boat": "Ruderboot", "men": "Kerle", "horse": "Pferd"},
    "The children are eating ice cream, and the man sleeps.": {"ice cream": "Gelato", "man": "Opa", "cream": "Sahne"},
}


@pytest.fixture(scope="module")
def bundled() -> Translator:
    """The bundled model."""
    return Translator("captions-en-de")


def words_of(text: str) -> str:
    """Words with single spaces around them."""
    return " " + " ".join(re.findall(r"\w+", text)) + " "


@pytest.mark.parametrize("beam_size", [1, 4])
def test_real_sentences_have_their_terms(bundled: Translator, beam_size: int) -> None:
    terms = {source: target for each in REAL.values() for source, target in each.items()}
    lines = [*REAL, "A cat sleeps.", " ".join(REAL)]
    translations = bundled.translate(lines, terms=terms, beam_size=beam_size)
    required = [[target for source, target in each.items()] for each in REAL.values()]
    required[2].remove("Hemd")  # the source term is a part of a longer one
    required[3].remove("Pferd")  # not in the source
    required[4].remove("Sahne")
    for expected, translation in zip(
        [*required, [], [each for line in required for each in line]], translations, strict=True
    ):
        assert [each for each in expected if f" {each} " not in words_of(translation)] == []
    assert "Hemd" not in translations[2]
    assert translations[5:6] == bundled.translate(lines[5:6], beam_size=beam_size)
    ids = [bundled.encode(line) for line in REAL]
    by_ids = bundled.translate_ids(ids, terms=terms, beam_size=beam_size)
    assert [bundled.decode(each) for each in by_ids] == translations[: len(REAL)]


def test_scores_and_alignments_of_sentences_with_terms(bundled: Translator) -> None:
    line = next(iter(REAL))
    [found] = bundled.translate_detailed([line], n_best=3, terms={"bike": "Rad"})
    assert len({each.text for each in found}) == 3
    for each in found:
        assert " Rad" in each.text
        assert len(each.token_scores) == len(each.pieces)
        assert each.alignment is not None


def test_terms_of_a_prefix_count(bundled: Translator) -> None:
    options = {"terms": {"bike": "Rad"}, "target_prefix": "Ein Rad"}
    [translation] = bundled.translate(["A man rides a red bike."], **options)  # type: ignore[arg-type]
    assert translation.startswith("Ein Rad")
    assert translation.count("Rad") == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"terms": ["bike"]}, TypeError, "mapping"),
        ({"terms": {"bike": 3}}, TypeError, "target term of 'bike' must be a string"),
        ({"terms": {3: "Rad"}}, TypeError, "a source term must be a string"),
        ({"terms": {" ": "Rad"}}, EngineError, "no text: leave it out"),
        ({"terms": {"bike": "\n"}}, EngineError, "no target term for 'bike'"),
        ({"terms": {"bike": "Rad 🚲"}}, EngineError, "has '🚲', which no piece"),
        ({"terms": {"bike": "Rad"}, "sampling": True}, EngineError, "leave sampling out"),
        ({"terms": {"bike": "Rad"}, "suppressed_texts": ["Ra"]}, EngineError, "'Rad' has 'Ra'"),
        ({"terms": {"bike": "Rad"}, "max_length": 1}, EngineError, "max_length is 1"),
    ],
)
def test_options_that_contradict_terms(
    bundled: Translator, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        bundled.translate(["A man rides a bike."], **options)  # type: ignore[arg-type]


def test_a_sequence_of_a_term_is_not_suppressed(bundled: Translator) -> None:
    pieces = bundled.tokenizer.encode_as_pieces("Neuschnee")
    with pytest.raises(EngineError, match="'Neuschnee' has a sequence of suppressed_sequences"):
        bundled.translate(["Snow."], terms={"Snow": "Neuschnee"}, suppressed_sequences=[pieces])


def find(vocabulary: Vocabulary, terms: dict[str, str], source: str) -> list[str]:
    """Return the target terms that a source requires."""
    return [vocabulary.decode(pieces) for pieces, _ in Terms(terms, vocabulary).find(source)]


def test_source_terms_are_words(vocabulary: Vocabulary) -> None:
    terms = {"red": "the", "red bike": "a", "bike": "man", "in-house": "dog", "b. c": "book", "Big": "house"}
    assert find(vocabulary, terms, "a red  bike") == ["a"]
    assert find(vocabulary, terms, "a red, bike") == ["the", "man"]
    assert find(vocabulary, terms, "redbike bikes reds") == []
    assert find(vocabulary, terms, "(bike) in-house red bike") == ["man", "dog", "a"]
    assert find(vocabulary, terms, "in house b.c big") == ["book"]
    assert find(vocabulary, terms, "bike bike bike") == ["man"]
    assert find(vocabulary, {"red bike": "a", "bike man old": "the"}, "red bike man old") == ["the"]
    assert find(vocabulary, {"ﬁn": "the"}, "a fin") == ["the"]  # both are normalized


def test_the_places_of_source_terms_are_those_of_the_text_as_given(vocabulary: Vocabulary) -> None:
    terms = Terms({"red bike": "a", "bike": "man", "fin": "the", "車": "house"}, vocabulary)
    for text, places in {
        "bike: a  red  bike": ["red  bike", "bike"],
        "a (\ufb01n), bike/book": ["(\ufb01n),", "bike"],
        "\ufb01sh and 自転車": ["車"],
        "a dog": [],
    }.items():
        assert [text[start:end] for start, end in terms.places(text)] == places


def test_source_terms_with_the_same_words(vocabulary: Vocabulary) -> None:
    """The target term must not depend on their order, nor on the terms of an earlier call."""
    pair = [("red bike", "the"), ("red  bike", "man")]
    message = "the source terms {!r} and {!r} have the same words, but the target terms {!r} and {!r}: leave one"
    make_terms({"red bike": "the"}, vocabulary)
    for (first, of_first), (second, of_second) in (pair, pair[::-1]):
        with pytest.raises(EngineError, match=message.format(first, second, of_first, of_second)):
            make_terms({first: of_first, second: of_second}, vocabulary)
    assert make_terms({"red bike": "the"}, vocabulary).find("red bike") == Terms({"x": "the"}, vocabulary).find("x")
    assert find(vocabulary, {"red bike": "the", "red  bike": " the "}, "a red bike") == ["the"]


def test_source_terms_of_scripts_without_spaces(vocabulary: Vocabulary) -> None:
    assert find(vocabulary, {"自転車": "bike", "車": "house"}, "赤い自転車に乗る") == ["bike"]
    assert find(vocabulary, {"車": "house"}, "赤い自転車に乗る") == ["house"]


def test_a_target_term_within_another_is_asked_for_once(vocabulary: Vocabulary) -> None:
    assert find(vocabulary, {"x": "red bike", "y": "bike", "z": "bike"}, "x y z") == ["red bike"]
    assert find(vocabulary, {"y": "bike", "z": "bike"}, "y z") == ["bike"]
