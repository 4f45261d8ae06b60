"""Text in the npm package: the pieces of SentencePiece, and the sentences of pocketmt.sentences."""

import io
import random
from pathlib import Path
from typing import Any, Literal

import pytest
import sentencepiece

from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.line_parts import without_added_mark
from pocketmt.engine.segmentation import encode_line
from pocketmt.engine.translator import LONGEST_SEGMENT
from pocketmt.engine.unknown_words import UnknownWords
from pocketmt.model_file import open_model
from pocketmt.sentences import (
    NumberFormats,
    kept_decimals,
    lost_parts,
    number_formats,
    translation_spans,
    with_parts,
    with_stand_ins,
)
from pocketmt.text.normalization import normalize
from pocketmt.text.stored_vocabulary import StoredVocabulary
from pocketmt.text.vocabulary import Vocabulary
from tests.web.node import missing, run_jobs

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

LETTERS = [
    *(chr(code) for code in range(32, 592)),
    *"   \u2581\u3000\u00a0\u200b\ufeff\U0001f600",
    *"\u00ad\u061c\u200c\u200e\u200f\u202a\u202e\u2060\u2066\u2069",
    *"\U0001f468\u200d\u0301\ufb01\u212b\uff21\u2460\u0e33\uac00\u1100\t\n\r\f\x1c\x1f\x85\0",
]
WORDS = [
    "the",
    "dog",
    "man",
    "foo",
    "bar",
    "under",
    "und",
    "3.",
    "Dr.",
    "Mr.",
    "e.g.",
    "U.S.",
    "He",
    "It",
    "is",
    "Yes!",
    "No?",
    "“Well.”",
    "(So.)",
    "。",
    "」",
    "John's",
    "3.5",
    "IV.",
    "etc.",
    "...",
    "<b>",
    "<Please",
    "name>",
    '<x id="1"',
    "a=b",
    "open",
    "/>",
    *(
        "-",
        "•",
        "1.",
        "(a)",
        "3)",
        "#",
        ">",
        "[x]",
        "(",
        ")",
        "[a]",
        "**b**",
        "*",
        "|",
        "a\tb",
        "\t",
        ":-)",
        "“c”",
        "Mai",
        "Augen",
        "Teil",
    ),
]


def made_lines(count: int) -> list[str]:
    """Random lines, of characters of many kinds and of words."""
    draw = random.Random(1)
    lines = ["".join(draw.choices(LETTERS, k=draw.randrange(40))) for _ in range(count)]
    return [
        *lines,
        *(" ".join(draw.choices(WORDS, k=draw.randrange(20))) for _ in range(count)),
        "",
        " ",
        "\u2581",
        " a  b ",
    ]


def trained(kind: str, **options: Any) -> bytes:
    """Train a small SentencePiece model."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(made_lines(1000)), model_writer=model, model_type=kind, minloglevel=2, **options
    )
    return model.getvalue()


def models() -> dict[str, bytes]:
    """Return SentencePiece models of all supported kinds."""
    with open_model(resolve_model("captions-en-de")) as file:
        bundled = file.vocabulary()
    symbols: dict[str, Any] = {
        "user_defined_symbols": ["<x>", "foo bar", "und"],
        "byte_fallback": True,
        "vocab_size": 900,
    }
    return {
        "bundled": bundled,
        "bpe": trained("bpe", **symbols),
        "unigram": trained("unigram", **symbols),
        "own normalization": trained(
            "unigram",
            vocab_size=620,
            normalization_rule_name="nmt_nfkc_cf",
            remove_extra_whitespaces=False,
            add_dummy_prefix=False,
        ),
    }


def test_pieces_are_those_of_sentencepiece(tmp_path: Path) -> None:
    lines, expected, jobs = made_lines(300), {}, []
    for name, model in models().items():
        (tmp_path / name).write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        ids = [processor.EncodeAsIds(line) for line in lines]
        texts = [processor.DecodeIds(each) for each in ids]
        expected[name] = list(map(list, zip(ids, map(processor.EncodeAsPieces, lines), texts, strict=True)))
        jobs.append({"kind": "pieces", "path": str(tmp_path / name), "lines": lines})
    for name, found in zip(expected, run_jobs(jobs), strict=True):
        differing = [line for line, a, b in zip(lines, found["result"], expected[name], strict=True) if a != b]
        assert not differing, name


@pytest.mark.parametrize("protect", [False, True])
@pytest.mark.parametrize("language", ["en", "de", "ja"])
def test_sentences_are_those_of_python(language: str, protect: bool) -> None:
    draw = random.Random(3)
    parts = [
        "{}",
        "$1",
        "%s",
        "(x),",
        "😀",
        "👩‍👧!",
        "→",
        "±",
        "≈",
        "公園",
        "._",
        "http://a.b/c?d",
        "me@a.b",
        "{name}",
        "🄰",
        *("ªb", "ⅳ", "Ⅳ", "ⓐ", "ǅ"),
        *WORDS,
    ]
    lines = [*made_lines(400), *("".join(draw.choices([*parts, " "], k=draw.randrange(12))) for _ in range(400))]
    # Many characters that are no text, among white space that programs seldom know.
    lines += ["".join(draw.choices("aa.\f\x1c\x1f\x01\ufffd ", k=draw.randrange(50))) for _ in range(400)]
    lines += [space.join(("a" * 600, "b" * 600, "c" * 1100, "dog")) for space in "\f\x1c\x1f\x85 公"]
    [found] = run_jobs([{"kind": "spans", "lines": lines, "language": language, "protect": protect}])
    for line, spans in zip(lines, found["result"], strict=True):
        expected = translation_spans(line, language, split=True, longest=50_000, protect=protect)
        assert spans == [[line[each.start : each.end], each.reason is None] for each in expected], repr(line)


def test_normalized_lines_are_those_of_python(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(trained("unigram", vocab_size=700, pad_id=0, bos_id=1, eos_id=2, unk_id=3))
    lines = [*made_lines(400), *(chr(code) for code in range(0xA0, 0x3000)), "u\u00ad\u0308ber", "\ufeff\u200b"]
    [found] = run_jobs([{"kind": "normalized", "path": str(tmp_path / "model"), "lines": lines}])
    differing = [line for line, each in zip(lines, found["result"], strict=True) if each != normalize(line)]
    assert not differing


@pytest.mark.parametrize("normalization", ["nfkc", "none"])
def test_segments_are_those_of_python(tmp_path: Path, normalization: Literal["nfkc", "none"]) -> None:
    model = trained("unigram", vocab_size=700, pad_id=0, bos_id=1, eos_id=2, unk_id=3)
    (tmp_path / "model").write_bytes(model)
    vocabulary = Vocabulary(StoredVocabulary(model, normalization=normalization))
    draw = random.Random(2)
    unspaced = [
        "今天",
        "公園",
        "。",
        "！",
        "？",
        "．",
        "｡",
        "?",
        ".」",
        "）",
        " ",
        "the",
        "…",
        "「",
        "》",
        "３．１",
        "U.S.",
        "พ.ศ.",
    ]
    spaced = [f"{word} " for word in [*WORDS, "है।", "ነው።", "هنا؟", "ձեզ։\u3000", "\u00b4"]]
    lines = ["".join(draw.choices(words, k=600)) for words in (unspaced, spaced, unspaced + spaced) for _ in range(30)]
    lines += ["today" * 99, "dog." + " man" * 300 + ". " + "公園" * 300 + "。"]
    job = {"kind": "segments", "path": str(tmp_path / "model"), "nfkc": normalization == "nfkc", "lines": lines}
    [found] = run_jobs([job])
    assert found["result"] == [encode_line(vocabulary, line, LONGEST_SEGMENT) for line in lines]
    assert min(map(len, found["result"])) > 1


def test_added_marks_are_those_of_python() -> None:
    parts = [f"dog{before}{mark}" for before in ["", *" \f\x1c\x1f\x85\u3000\ufeff"] for mark in ["", "?", "。！"]]
    [found] = run_jobs([{"kind": "added marks", "parts": parts, "translation": "Hund\x1f. Hund."}])
    assert found["result"] == [without_added_mark(part, "Hund\x1f. Hund.") for part in parts]
    assert len(set(found["result"])) == 2


PARTS = [
    *("Łukasz", "NASA", "São", "Paulo", "R&D", "C++", "C#", "[Save]", "`ls`", "&", "VERY", "STOP", "5", "PM", "II"),
    *("1+1", "WHO", "50", "€", "naïve", "Ōsaka", "{NASA}", "http://a.b/VERY", "<BR/>", "Tom", "I", "ÉTÉ"),
    *("中文", "です"),
    *("*Tom*", "**very", "good**", "_I_", "~~am~~", "*", "**NASA**", "*{x}*"),
]


@pytest.mark.parametrize("language", ["en", "tr"])
def test_unknown_words_are_those_of_python(tmp_path: Path, language: str) -> None:
    with open_model(resolve_model("everyday-en-de")) as file:
        model = file.vocabulary()
    (tmp_path / "model").write_bytes(model)
    draw = random.Random(2)
    texts = [" ".join(draw.choices(PARTS + WORDS, k=draw.randrange(12))) for _ in range(600)]
    texts += ["".join(draw.choices([*PARTS, *"é-. 😀"], k=draw.randrange(8))) for _ in range(600)]
    lines = [*texts, *made_lines(200)]
    words = UnknownWords(Vocabulary(StoredVocabulary(model, normalization="nfkc")))
    expected = [
        [
            [[part.start, part.text] for part in words.find(line, language)],
            words.respelled(line, language),
            [part.text for part in words.lost(line, lines[(index + 1) % len(lines)], language)],
        ]
        for index, line in enumerate(lines)
    ]
    job = {"kind": "unknown words", "path": str(tmp_path / "model"), "lines": lines, "language": language}
    [found] = run_jobs([job])
    assert found["result"] == expected
    assert sum(bool(parts) for parts, _, _ in expected) > 300
    assert sum(bool(lost) for _, _, lost in expected) > 100
    assert sum(text != line for line, (_, text, _) in zip(lines, expected, strict=True)) > 100


NUMBERS = [
    *("1,250", "1.250", "1250", "1,250.50", "1.250,50", "12 345,6", "12\u00a0345", "1'000'000", "10,000", "10.000"),
    *("0.75", "0,75", "2.50", "2,5", "25", "2.13.0", "1.2.2024", "8.30", "8:30", "8,30", "at", "am", "p.m.", "o'clock"),
    *("8:30 p.m.", "20:30", "7.15 pm", "19:15", "16"),
    *("€5", "5 €"),
    *("€1,250.00", "1.250 €", "euros", "2019", "007", "7", "300", "$5", "{name}", "%d", "%1.2f", "dogs."),
    *(
        "７",
        "１２",
        "１３",
        "１5",
        "٣٤",
        "१२",
        "१०",
        "𝟏𝟐",
        "¹²",
        "５ €",
        "192.168.1.1",
        "1９２.1６８.1.1",
        "3００.1.1.1",
    ),
    *("(3.14)", "-5", "a5", "Uhr", "Firefox", "to", "km", "km", "GB", "Euro", "%"),
]


def with_decimals(source: str, translation: str, formats: NumberFormats | None) -> str:
    """Return a translation with decimals as its language writes them."""
    found = with_parts(translation, kept_decimals(source, translation, formats))
    return translation if found is None else found


@pytest.mark.parametrize(("source", "target"), [("en", "de"), ("de", "en"), ("fr", "ja"), ("pl", "pt"), ("en", "hi")])
def test_numbers_are_those_of_python(source: str, target: str) -> None:
    draw = random.Random(3)
    lines = [" ".join(draw.choices(NUMBERS, k=draw.randrange(7))) for _ in range(1800)]
    lines += ["".join(draw.choices("0123456789.,:' \u00a0€a-", k=draw.randrange(14))) for _ in range(1500)]
    # After each line the same one with other separators, so that numbers are often kept.
    lines = [each for line in lines for each in (line, line.replace(".", "_").replace(",", ".").replace("_", ","))]
    formats = number_formats(source, target)
    expected: list[list[Any]] = []
    for index, line in enumerate(lines):
        other = lines[(index + 1) % len(lines)]
        text, stand_ins = with_stand_ins(line, formats=formats)
        expected.append(
            [
                bool(lost_parts(line, other, numbers="exact", formats=formats)),
                bool(lost_parts(line, other, numbers="none", formats=formats)),
                text,
                [[stand_in.word, stand_in.part] for stand_in in stand_ins],
                [with_decimals(line, translation, formats) for translation in (other, line)],
            ]
        )
    [found] = run_jobs([{"kind": "numbers", "lines": lines, "source": source, "target": target}])
    assert found["result"] == expected
    assert 500 < sum(lost for lost, *_ in expected) < 5000
    assert sum(bool(stand_ins) for *_, stand_ins, _ in expected) > 1000
    changed = sum(decimals[1] != line for line, (*_, decimals) in zip(lines, expected, strict=True))
    assert changed > 100 or target in ("hi", "ja", "pt")  # whose format is unknown or has the same sign
