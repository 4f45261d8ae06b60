"""Arguments of a Translator: wrong types and values are refused with a message that says what is allowed."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import Translator
from pocketmt.errors import EngineError, ModelFileError

LINES = ["the man rides a bike.", "two dogs"]


@pytest.fixture(scope="module")
def translator(shared_model: Path) -> Translator:
    return Translator(shared_model)


NOT_LINES: dict[str, Any] = {
    r"lines is one str, not a list of strings: write \[text\]": "text",
    r"lines is one bytes": b"text",
    r"must be a list of strings, not None": None,
    r"must be a list of strings, not int": 7,
    r"lines\[1\] must be a string, not None": ["a", None],
    r"lines\[0\] must be a string, not bytes: decode it first": [b"a"],
    r"lines\[2\] must be a string, not int": ["a", "b", 3],
    r"lines\[0\] must be a string, not list": [["a"]],
}


@pytest.mark.parametrize("message", NOT_LINES)
def test_anything_but_lines_is_refused(translator: Translator, message: str) -> None:
    given = NOT_LINES[message]
    for call in (
        translator.translate,
        lambda lines: translator.translate_n_best(lines, 2),
        translator.translate_detailed,
        translator.submit,
        lambda lines: list(translator.translate_stream(lines)),
        lambda lines: list(translator.translate_chunks([lines])),
    ):
        with pytest.raises(TypeError, match=message if isinstance(given, str | bytes | list) else "not"):
            call(given)


@pytest.mark.parametrize("chunk", [None, 0, "", b"", {}, iter(LINES)])
def test_a_chunk_that_is_no_list_is_refused(translator: Translator, chunk: Any) -> None:
    with pytest.raises(TypeError, match="a list of strings"):
        list(translator.translate_chunks([chunk]))


def test_a_translator_is_not_pickled(translator: Translator) -> None:
    with pytest.raises(TypeError, match="cannot be pickled or copied: load the model in each process"):
        pickle.dumps(translator)


def test_a_model_is_not_given_in_bytes() -> None:
    with pytest.raises(TypeError, match="model must be a path, the name of a bundled model, or a list of them, not by"):
        Translator(b"everyday-en-de")  # type: ignore[arg-type]


def test_any_iterable_of_strings_is_accepted(translator: Translator) -> None:
    expected = translator.translate(LINES)
    assert translator.translate(tuple(LINES)) == translator.translate(line for line in LINES) == expected
    assert translator.translate([]) == []


WRONG_TYPES: dict[str, dict[str, Any]] = {
    "beam_size must be an integer, not str": {"beam_size": "4"},
    "beam_size must be an integer, not bool": {"beam_size": True},
    "beam_size must be an integer, not float": {"beam_size": 2.0},
    "beam_size must be an integer, not list": {"sampling": True, "beam_size": [1]},
    "max_length must be an integer, not str": {"max_length": "9"},
    "min_length must be an integer, not None": {"min_length": None},
    "length_penalty must be a number, not str": {"length_penalty": "1"},
    "shortlist must be True or False, not int": {"shortlist": 1},
    "sampling must be True or False, not str": {"sampling": "yes"},
    "unknown search option 'beams'; known: beam_size, length_penalty, max_length": {"beams": 4},
    r"target_prefix\[0\] must be a string, not int": {"target_prefix": [1, 2]},
    "target_prefix must be a string or a list of strings, not int": {"target_prefix": 7},
    "suppressed_texts is one str": {"suppressed_texts": "text"},
    "suppressed_sequences must be a list": {"suppressed_sequences": "text"},
    "a sequence of suppressed_sequences is one str": {"suppressed_sequences": ["text"]},
    "seed must be an integer": {"sampling": True, "seed": "1"},
    "top_p must be a number": {"sampling": True, "top_p": None},
    "replace_unknowns must be True or False": {"replace_unknowns": 0},
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_options_of_wrong_types(translator: Translator, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        translator.translate(LINES, **WRONG_TYPES[message])


WRONG_VALUES: dict[str, dict[str, Any]] = {
    f"beam_size is {10**30}, it must be from 1 to 256": {"beam_size": 10**30},
    "beam_size is a number of 333 bits, it must be from 1 to 256": {"beam_size": 10**100},
    "max_length is a number of 16,610 bits, it must be from 1": {"max_length": 10**5000},
    "min_length is a number of 16,610 bits, it must be from 0": {"min_length": -(10**5000)},
    "seed is a number of 16,610 bits": {"sampling": True, "seed": 10**5000},
    "beam_size is 0, it must be from 1 to 256": {"beam_size": 0},
    "beam_size is 200, it must be 1 to 116": {"beam_size": 200},
    "max_length is 0, it must be from 1": {"max_length": 0},
    "min_length is -1, it must be from 0": {"min_length": -1},
    "min_length 6 is more than max_length 5: lower it": {"min_length": 6, "max_length": 5},
    "length_penalty must be a finite number": {"length_penalty": float("nan")},
    "length_penalty must be a finite": {"length_penalty": 10**400},
    "length_penalty is -400, it must be from -10 to 10": {"length_penalty": -400},
    "length_penalty is 10.5, it must be from -10 to 10": {"length_penalty": 10.5},
    "batch_size is 0, it must be from 1": {"batch_size": 0},
    "repetition_penalty must be from 0.01 to 100": {"repetition_penalty": 0},
    "no_repeat_ngram_size is -1": {"no_repeat_ngram_size": -1},
    "repeat_limit is 1, it must be from 2": {"repeat_limit": 1},
    "sampling does not search with a beam": {"sampling": True, "beam_size": 4},
    "top_k is an option of sampling: set sampling=True": {"top_k": 5},
    "seed is an option of sampling": {"seed": 5},
    "temperature must be a finite number greater than 0": {"sampling": True, "temperature": 0},
    "top_p must be greater than 0 and at most 1": {"sampling": True, "top_p": 1.1},
    "top_k is 0, it must be from 1": {"sampling": True, "top_k": 0},
    f"seed is {2**64}": {"sampling": True, "seed": 2**64},
    "the length of target_prefix is 1, the number of lines is 2: give": {"target_prefix": ["the"]},
    "target_prefix has '日', which no piece": {"target_prefix": "the 日"},
    "max_length is 2, it must be more than the": {"target_prefix": "the man rides", "max_length": 2},
    "suppressed_texts contains an empty text": {"suppressed_texts": ["  "]},
    "suppressed_texts has 'yx+, which is longer than 200 bytes: shorten": {"suppressed_texts": ["a", "y" + "x" * 300]},
    "suppressed_texts has 20,600 bytes, the limit is 20,000": {"suppressed_texts": ["x" * 100] * 200},
    "target_prefix has '\ufffd', which no piece": {"target_prefix": "the \ud800"},
    "the target term of 'dog' has .* pieces, the limit is 64": {"terms": {"dog": "the " * 70}},
    "the vocabulary has no piece 'nowhere'": {"suppressed_sequences": [["nowhere"]]},
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_options_out_of_range(translator: Translator, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        translator.translate(LINES, **WRONG_VALUES[message])


@pytest.mark.parametrize("n_best", [0, 5, 10**30])
def test_more_translations_than_hypotheses(translator: Translator, n_best: int) -> None:
    with pytest.raises(EngineError, match="n_best"):
        translator.translate_n_best(LINES, n_best)


def test_arguments_of_the_translator(shared_model: Path) -> None:
    wrong: dict[str, dict[str, Any]] = {
        "instruction_set must be a name or None, not int": {"instruction_set": 5},
        "workers must be an integer, not str": {"workers": "2"},
        "pin_workers must be True or False": {"pin_workers": 1},
        "longest_segment must be an integer": {"longest_segment": None},
    }
    for message, arguments in wrong.items():
        with pytest.raises(TypeError, match=message):
            Translator(shared_model, **arguments)
    with pytest.raises(EngineError, match="longest_segment is 0"):
        Translator(shared_model, longest_segment=0)


def test_a_name_that_is_too_long_is_no_model() -> None:
    with pytest.raises(ModelFileError, match="File name too long"):
        Translator("a" * 300)


@pytest.mark.parametrize(("source", "target"), [(None, [5]), ([5], [1.5]), (["the"], [5])])
def test_logits_need_ids(translator: Translator, source: Any, target: Any) -> None:
    for call in (translator.logits, translator.flat_logits):
        with pytest.raises(TypeError, match="source and target must be lists of piece ids"):
            call(source, target)


def test_iterators_are_read_once(translator: Translator) -> None:
    ids = translator.encode("the red house")
    assert translator.decode(iter(ids)) == "the red house"  # type: ignore[arg-type]
    assert translator.tokenizer.pieces(iter(ids)) == translator.tokenizer.pieces(ids)  # type: ignore[arg-type]
    options: dict[str, Any] = {"terms": {"bike": "book"}, "beam_size": 2}
    [_, before] = translator.translate(LINES, **options)
    lists: dict[str, Any] = {"suppressed_texts": [before[:3]], "suppressed_sequences": [["▁dog"], ["▁the"]]}
    after = translator.translate(LINES, **options, **lists)
    iterators: dict[str, Any] = {
        name: iter([iter(each) if isinstance(each, list) else each for each in lists[name]]) for name in lists
    }
    assert translator.translate(LINES, **options, **iterators) == after
    assert before != after[1]


def test_no_terms_are_no_terms(translator: Translator) -> None:
    assert translator.translate(LINES, terms={}, sampling=True, seed=3) == translator.translate(
        LINES, sampling=True, seed=3
    )


def test_elements_of_a_stream_are_counted_from_its_beginning(translator: Translator) -> None:
    lines: list[Any] = ["the man"] * 20 + [None]
    with pytest.raises(TypeError, match=r"lines\[20\] must be a string"):
        list(translator.translate_stream(lines, read_ahead=8))


def test_a_stream_has_one_prefix(translator: Translator) -> None:
    for call in (translator.translate_stream, lambda lines, **options: translator.translate_chunks([lines], **options)):
        assert len(list(call(LINES, target_prefix="the"))) > 0
        with pytest.raises(EngineError, match="target_prefix is a list, but the number of lines is not known"):
            call(LINES, target_prefix=["the", "a"])


@pytest.mark.parametrize(
    ("prefix", "message"),
    [(5, "must be a string or a list of strings, not int"), (["the", 5], r"target_prefix\[1\] must be a string")],
)
def test_prefixes_are_text(translator: Translator, prefix: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        translator.translate(LINES, target_prefix=prefix)


@pytest.mark.parametrize("sources", [["text"], [5], [[1.5]], [None], [["the"]]])
def test_sources_that_are_no_ids(translator: Translator, sources: Any) -> None:
    with pytest.raises(TypeError, match="list of lists of piece ids"):
        translator.translate_ids(sources)


@pytest.mark.parametrize("name", ["split", "protect", "check"])
def test_ids_have_no_options_of_text(translator: Translator, name: str) -> None:
    for value in (True, False):
        options: dict[str, Any] = {name: value}
        with pytest.raises(TypeError, match=f"unknown search option '{name}'; known: beam_size, [a-z_, ]+$"):
            translator.translate_ids([[5]], **options)


@pytest.mark.parametrize("wrong", [120, -1, 2**40])
def test_ids_out_of_range(translator: Translator, wrong: int) -> None:
    calls = (
        lambda: translator.translate_ids([[5], [5, wrong]]),
        lambda: translator.logits([wrong], [5]),
        lambda: translator.logits([5], [5, wrong]),
    )
    for call in calls:
        with pytest.raises(EngineError, match=f" id {wrong} is not in the vocabulary of 120 pieces"):
            call()


@pytest.mark.parametrize("ids", ["text", None, 5, [1.5], ["the"]])
def test_what_is_no_ids_has_no_text(translator: Translator, ids: Any) -> None:
    with pytest.raises(TypeError, match="ids must be a list of piece ids"):
        translator.decode(ids)


def test_lone_surrogates_are_unknown_characters(translator: Translator) -> None:
    assert translator.encode("the \ud800 man") == translator.encode("the \ufffd man")
    assert translator.tokenizer.encode_as_pieces("\ud800") == translator.tokenizer.encode_as_pieces("\ufffd")


def test_properties(translator: Translator) -> None:
    assert translator.languages == ("en", "de")
    assert (translator.source_language, translator.target_language) == ("en", "de")
    ids = translator.encode("The man,  rides 日")
    assert ids == translator.tokenizer.encode("The man,  rides 日")
    assert translator.decode(translator.encode("the red house")) == "the red house"
    pieces = translator.tokenizer.encode_as_pieces("the 日 dog")
    assert "".join(pieces) == "▁the▁日▁dog"
    known = translator.tokenizer.encode_as_pieces("the dog")
    assert translator.tokenizer.pieces(translator.tokenizer.ids(known)) == known
    assert len(translator.tokenizer) == 120
    for wrong in ([120], [-1], [2**40]):
        with pytest.raises(EngineError, match="not in the vocabulary"):
            translator.decode(wrong)
    with pytest.raises(TypeError, match="text must be a string"):
        translator.encode(None)  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="no piece '日'"):
        translator.tokenizer.ids(["日"])


def test_options_are_those_of_the_call(shared_model: Path) -> None:
    one_for_all = Translator(shared_model)
    suppressed = [LINES[1].split()[0]]
    calls: list[dict[str, Any]] = [{"beam_size": 1}, {}, {"max_length": 2}, {"beam_size": 1}, {"beam_size": 3}]
    calls += [{"beam_size": 1, "suppressed_texts": suppressed}]
    for options in calls:
        assert one_for_all.translate(LINES, **options) == Translator(shared_model).translate(LINES, **options)
    suppressed[0] = one_for_all.translate(LINES[1:], beam_size=1)[0].split()[0]
    changed = one_for_all.translate(LINES, **calls[-1])
    assert changed == Translator(shared_model).translate(LINES, **calls[-1])
    one_for_all.translate(LINES, beam_size=1)
    with pytest.raises(TypeError, match="beam_size must be an integer, not bool"):
        one_for_all.translate(LINES, beam_size=True)
