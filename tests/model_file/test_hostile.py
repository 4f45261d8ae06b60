"""Hostile files made by hand: each is refused with a ModelFileError that says where and why."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from tests.model_file import sample
from tests.model_file.attack import DATA, HEADER, SAMPLE, refused

Json = dict[str, Any]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "hostile.pocketmt"


def entry(header: Json, name: str) -> Json:
    found: Json = header[name]
    return found


def shift(header: Json, name: str, begin: int, end: int) -> None:
    offsets = entry(header, name)["data_offsets"]
    entry(header, name)["data_offsets"] = [offsets[0] + begin, offsets[1] + end]


CODES = f"{sample.MATRIX}.0.codes"
HEADER_ATTACKS: dict[str, tuple[Callable[[Json], Any], str]] = {
    "overlap": (lambda h: shift(h, sample.PLAIN, -64, -64), "overlaps"),
    "hole": (lambda h: h.pop(sample.PLAIN), "leaves a hole"),
    "out of range": (lambda h: shift(h, sample.PLAIN, 1 << 20, 1 << 20), "data_offsets"),
    "negative offset": (lambda h: entry(h, CODES).update(data_offsets=[-64, -40]), "data_offsets"),
    "reversed offsets": (lambda h: entry(h, CODES)["data_offsets"].reverse(), "data_offsets"),
    "offsets of 64 bits": (lambda h: entry(h, CODES).update(data_offsets=[2**64 - 64, 2**64]), "data_offsets"),
    "offset of another type": (lambda h: entry(h, CODES).update(data_offsets=[0.0, 24.0]), "data_offsets"),
    "shape that overflows": (
        lambda h: entry(h, CODES).update(shape=[2**32, 2**32]),
        "takes 18446744073709551616 bytes",
    ),
    "shape of 2^63": (lambda h: entry(h, CODES).update(shape=[2**63]), "shape"),
    "negative shape": (lambda h: entry(h, CODES).update(shape=[-6, -4]), "shape"),
    "empty shape": (lambda h: entry(h, CODES).update(shape=[]), "shape"),
    "boolean shape": (lambda h: entry(h, CODES).update(shape=[True, 24]), "shape"),
    "transposed": (lambda h: entry(h, CODES)["shape"].reverse(), r"expected U8 of \[6, 4\]"),
    "wrong dtype": (lambda h: entry(h, CODES).update(dtype="I8"), r"is I8 of shape \[6, 4\], expected U8"),
    "unknown dtype": (lambda h: entry(h, CODES).update(dtype="F64"), "dtype is 'F64'"),
    "missing tensor": (lambda h: h.update({"padding.99": h.pop(BIG)}), "padding is fewer than 64 bytes"),
    "renamed tensor": (lambda h: h.update({"other": h.pop(sample.PLAIN)}), f"'{sample.PLAIN}' is missing"),
    "missing vocabulary": (lambda h: h.update({"other": h.pop("vocabulary")}), "'vocabulary' is missing"),
    "extra member": (lambda h: entry(h, CODES).update(note=1), "exactly dtype, shape and data_offsets"),
    "no metadata": (lambda h: h.pop("__metadata__"), "no __metadata__"),
    "metadata not strings": (lambda h: entry(h, "__metadata__").update(pocketmt={}), "no __metadata__"),
    "no digest": (lambda h: entry(h, "__metadata__").pop("digest"), "exactly 'pocketmt' and 'digest'"),
    "short digest": (lambda h: entry(h, "__metadata__").update(digest="0"), "digest is not 64"),
}
BIG = "encoder.layers.0.self_attention.query_key_value.weight.0.codes"


@pytest.mark.parametrize("attack", HEADER_ATTACKS)
def test_hostile_headers(path: Path, attack: str) -> None:
    change, reason = HEADER_ATTACKS[attack]
    header = json.loads(json.dumps(HEADER))
    entry(header, "__metadata__")["digest"] = "0" * 64
    change(header)
    refused(path, sample.join(header, DATA), reason)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("padding.90", "padding.90: padding is fewer"), ("other", "'embedding.*not a multiple")],
)
def test_a_tensor_off_its_boundary(path: Path, name: str, reason: str) -> None:
    """All tensors 32 bytes further, behind one that fills the room."""
    header = json.loads(json.dumps(HEADER))
    tensors = [value for key, value in header.items() if key != "__metadata__"]
    for tensor in tensors:
        tensor["data_offsets"] = [offset + 32 for offset in tensor["data_offsets"]]
    header[name] = {"dtype": "U8", "shape": [32], "data_offsets": [0, 32]}
    refused(path, sample.join(header, bytes(32) + DATA), reason)


def test_a_digest_that_stands_twice(path: Path) -> None:
    header = json.loads(json.dumps(HEADER))
    header[header["__metadata__"]["digest"]] = header.pop(sample.PLAIN)
    raw = sample.join(header, DATA)
    refused(path, raw.replace(split_digest(raw), split_digest(SAMPLE)), "stand once")


def split_digest(file: bytes) -> bytes:
    digest: str = sample.split(file)[0]["__metadata__"]["digest"]  # type: ignore[index]
    return digest.encode()


def test_a_tensor_twice(path: Path) -> None:
    text = json.dumps(HEADER)
    member = f'"{CODES}": {json.dumps(HEADER[CODES])}'
    assert member in text
    refused(path, sample.join(text.replace(member, f"{member}, {member}"), DATA), "stands twice")


def test_an_extra_tensor(path: Path) -> None:
    header = json.loads(json.dumps(HEADER))
    end = len(DATA)
    padding = -end % 64
    header["padding.98"] = {"dtype": "U8", "shape": [padding], "data_offsets": [end, end + padding]}
    header["surprise\x1b[2J"] = {"dtype": "U8", "shape": [1], "data_offsets": [end + padding, end + padding + 1]}
    refused(path, sample.join(header, DATA + bytes(padding + 1)), r"'surprise\\x1b\[2J' is not part")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"PK", "only 2 bytes long"),
        (b"\xff" * 1000, "not a model file: its header would have 18446744073709551615 bytes"),
        ((1 << 20).to_bytes(8, "little") + bytes(1000), "cut off"),
        ((55).to_bytes(8, "little") + bytes(1000), "64-byte boundary"),
        (sample.join("[" * 100_000, b""), "nested"),
        (sample.join('{"a":' * 100_000, b""), "nested"),
        (sample.join('{"a":' + "[" * 40 + "]" * 40 + "}", b""), "nested more than 32"),
        (sample.join('{"a": NaN}', b""), "NaN is not a JSON number"),
        (sample.join('{"a": -Infinity}', b""), "-Infinity is not a JSON number"),
        (sample.join('{"a": 1e999}', b""), "out of range"),
        (sample.join('{"a": ' + "9" * 10_000 + "}", b""), "not valid JSON"),
        (sample.join('{"a": "\\ud800"}', b""), "not valid JSON"),
        (sample.join("[1, 2]", b""), "not a JSON object"),
        (sample.join("", b""), "not valid JSON"),
        ((56).to_bytes(8, "little") + b"\xff" * 56, "not valid JSON"),
    ],
)
def test_what_is_no_header(path: Path, content: bytes, reason: str) -> None:
    refused(path, content, reason)


def alter(name: str, value: object) -> Callable[[Json], Json]:
    return lambda about: {**about, name: value}


def with_table(table: object, **members: object) -> Callable[[Json], Json]:
    vocabulary = {"encoding": "xz", "bytes": 1, "normalization": "none", "table": table, **members}
    return alter("vocabulary", vocabulary)


def language_pieces(target: object, **members: object) -> Callable[[Json], Json]:
    return alter("language_pieces", {"target": target, "target_place": "source", **members})


def without_table(**members: object) -> Callable[[Json], Json]:
    return alter("vocabulary", {"encoding": "xz", "bytes": 1, "normalization": "none", **members})


def alter_architecture(**changes: object) -> Callable[[Json], Json]:
    return lambda about: {**about, "architecture": {**about["architecture"], **changes}}


def scheme(**changes: object) -> Callable[[Json], Json]:
    return lambda about: {
        **about,
        "schemes": [about["schemes"][0], {**about["schemes"][1], **changes}, *about["schemes"][2:]],
    }


def groups(value: object, matrix: str = sample.MATRIX) -> Callable[[Json], Json]:
    return lambda about: {**about, "matrices": {**about["matrices"], matrix: value}}


MANIFEST_ATTACKS: list[tuple[Callable[[Json], Json], str]] = [
    (alter("format_version", 2), "format version 2.*Install a newer PocketMT"),
    (alter("format_version", 0), "format_version is 0"),
    (alter("format_version", "1"), "format_version is '1'"),
    (alter("format_version", True), "format_version is True"),
    (alter("surprise", 1), "unknown member 'surprise'"),
    (lambda about: {name: about[name] for name in about if name != "licence"}, "licence is missing"),
    (alter("recipe", "none"), "recipe is not an object"),
    (alter("languages", {"source": "en"}), "languages: target is missing"),
    (alter("languages", {"source": "en", "target": 1}), "languages: source and target are not strings"),
    (alter("vocabulary", {"encoding": "gzip", "bytes": 1, "normalization": "nfkc"}), "encoding is 'gzip'"),
    (alter("vocabulary", {"encoding": "xz", "bytes": 2**40, "normalization": "nfkc"}), "bytes is 1099511627776"),
    (alter("vocabulary", {"encoding": "xz", "bytes": -1, "normalization": "nfkc"}), "bytes is -1"),
    (alter("vocabulary", {"encoding": "xz", "bytes": 1, "normalization": "nfd"}), "normalization is 'nfd'"),
    (alter("vocabulary", {"encoding": "xz", "bytes": 1, "normalization": ["nfkc"]}), "normalization is"),
    (
        alter("vocabulary", {"encoding": "xz", "bytes": 1, "normalization": "nfkc", "order": 1}),
        "unknown member 'order'",
    ),
    (
        alter("vocabulary", {"encoding": "xz", "bytes": 1, "normalization": "nfkc", "table": "source"}),
        "exactly encoding",
    ),
    (with_table({"encoding": "zip", "bytes": 1}), "table: encoding is 'zip'"),
    (with_table({"encoding": "xz", "bytes": 2**40}), "table: bytes is 1099511627776"),
    (with_table({"encoding": "xz", "bytes": 1}), "tensor 'vocabulary.table' is missing"),
    (with_table({"encoding": "xz", "bytes": 1}, verbatim="</s>"), "verbatim is not a list"),
    (with_table({"encoding": "xz", "bytes": 1}, verbatim=[]), "verbatim is not a list"),
    (with_table({"encoding": "xz", "bytes": 1}, verbatim=["a" * 300]), "strings of 1 to 256"),
    (with_table({"encoding": "xz", "bytes": 1}, language_codes=1), "language_codes is 1"),
    (without_table(language_codes=True), "need a table"),
    (without_table(verbatim=["</s>"]), "need a table"),
    (alter("language_pieces", {"target": {"de": "a"}}), "language_pieces: expected exactly target and target_place"),
    (language_pieces({"de": "a"}, target_place="decoder"), "target_place is 'decoder'"),
    (language_pieces({"de": "a"}, target_place=["source"]), "target_place is"),
    (language_pieces({}), "target: expected an object of 1 to 4096 languages"),
    (language_pieces(["de"]), "target: expected an object"),
    (language_pieces({"de": 1}), "'de' has the piece 1, expected strings"),
    (language_pieces({"": "a"}), "expected strings of 1 to 256"),
    (language_pieces({"de": "a" * 300}), "expected strings of 1 to 256"),
    (language_pieces({"de": "a"}, source={"en": ""}), "source: 'en' has the piece ''"),
    (alter("target_vocabulary", {"encoding": "xz", "bytes": 1, "normalization": "nfkc"}), "target_vocabulary is there"),
    (alter_architecture(type="gru"), "type is 'gru'"),
    (alter_architecture(encoder_layers=10**9), "encoder_layers is 1000000000"),
    (alter_architecture(encoder_layers=0), "encoder_layers is 0"),
    (alter_architecture(model_dimension=7), "model_dimension is 7, expected an even number"),
    (alter_architecture(attention_heads=3), "attention_dimension is 8, expected a multiple of"),
    (alter_architecture(attention_heads=True), "attention_heads is True"),
    (alter_architecture(norm="both"), "norm is 'both'"),
    (alter_architecture(attention_bias=1), "attention_bias is 1"),
    (alter_architecture(vocabulary_size=2**40), "vocabulary_size is 1099511627776"),
    (alter_architecture(surprise=1), "unknown field 'surprise'"),
    (alter_architecture(encoder_layers=2), "'encoder.layers.1.self_attention.query_key_value.weight' is missing"),
    (
        alter_architecture(vocabulary_size=12),
        "'embedding.weight': its row groups have 11 rows",
    ),
    (alter_architecture(norm="post"), "'encoder.norm.weight' is not part"),
    (scheme(bits=5), "'logarithmic' of 5 bits per 'row' is unknown here.*Install a newer PocketMT"),
    (scheme(name="codebook"), "'codebook' of 4 bits.*Install a newer PocketMT"),
    (scheme(name=["uniform"]), "is unknown here"),
    (scheme(levels=[0] * 15), "levels are not 16"),
    (scheme(levels=[0] * 15 + [-128]), "levels are not 16"),
    (scheme(levels=[0.5] * 16), "levels are not 16"),
    (scheme(surprise=1), r"schemes\[1\]: expected an object"),
    (
        alter("schemes", [{"name": "uniform", "bits": 8, "granularity": "row", "levels": [0] * 16}]),
        "uniform has no levels",
    ),
    (groups([[1, 7]]), "its row groups have 7 rows together, the matrix has 6"),
    (groups([[3, 6]]), "there is no scheme 3"),
    (groups([[-1, 6]]), "there is no scheme -1"),
    (groups([[1, -6], [1, 12]]), "a row group has -6 rows"),
    (groups([[1, 0], [1, 6]]), "a row group has 0 rows"),
    (groups([]), "a list of 1 to 256 row groups"),
    (groups([[1]]), "a row group is"),
    (groups([[1, 6.0]]), "a row group is"),
    (groups([[0, 6]]), "expected I8"),
    (groups([[1, 6]], "surprise"), "'surprise' is not a matrix"),
    (groups([[1, 7]], sample.BIAS), "is not a matrix"),
]


@pytest.mark.parametrize(("change", "reason"), MANIFEST_ATTACKS)
def test_hostile_manifests(path: Path, change: Callable[[Json], Json], reason: str) -> None:
    refused(path, sample.join(sample.with_manifest(HEADER, change(sample.manifest())), DATA), reason)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": NaN}', '{"a": 1, "a": 1}', "[" * 1000])
def test_a_manifest_that_is_no_json_object(path: Path, text: str) -> None:
    refused(path, sample.join(sample.with_manifest(HEADER, text), DATA), "the manifest is")


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, reason in [
        (fifo, "not a regular file"),
        (tmp_path, "not a regular file"),
        (Path("/dev/null"), "not a regular file"),
        (tmp_path / "absent", "No such file"),
        (tmp_path / ("x" * 5000), "File name too long"),
    ]:
        with pytest.raises(ModelFileError, match=f"^{re.escape(str(path))}: .*{reason}"):
            open_model(path)
    with pytest.raises(ModelFileError, match="null byte"):
        open_model("a\0b")
