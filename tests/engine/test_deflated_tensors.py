"""Codes that the engine itself inflates: any sound stream is read, any other one is refused by name."""

import random
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from pocketmt.engine import _native
from pocketmt.errors import ModelFileError
from pocketmt.model_file import ModelFile, open_model
from tests.engine.conftest import search_options, sentences

TENSOR: Final = "embedding.weight.0.codes"


def deflate(content: bytes, level: int = 9, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    compressor = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, 9, strategy)
    return compressor.compress(content) + compressor.flush()


def model(file: ModelFile, codes: bytes, deflated: Sequence[str] = (TENSOR,)) -> _native.Model:
    """The network of a file with other bytes for the codes of one matrix."""
    return model_of(file, {TENSOR: codes}, deflated)


def model_of(file: ModelFile, changed: Mapping[str, bytes], deflated: Sequence[str]) -> _native.Model:
    """The network of a file with other bytes for some tensors."""
    buffer = bytes(file.buffer)
    tensors = {name: (each.dtype, each.shape, each.offset, each.size) for name, each in file.tensors.items()}
    for name, content in changed.items():
        buffer += bytes(-len(buffer) % 64)
        tensors[name] = (*tensors[name][:2], len(buffer), len(content))
        buffer += content
    return _native.Model(
        buffer=buffer,
        architecture=file.architecture.fields(),
        tensors=tensors,
        matrices={name: [group.for_engine() for group in groups] for name, groups in file.matrices.items()},
        release=None,
        instruction_set=None,
        workers=1,
        deflated=deflated,
    )


def all_codes(file: ModelFile) -> dict[str, bytes]:
    """The codes of every matrix, of several sizes."""
    return {name: bytes(file.data(name)) for name in file.tensors if name.endswith(".codes")}


def code_count(file: ModelFile) -> int:
    rows, columns = file.tensors[TENSOR].shape
    return rows * columns


def code_bytes(count: int, kind: str) -> bytes:
    chance = random.Random(3)
    match kind:
        case "uniform":  # Nothing to compress: blocks that are stored, or codes of about eight bits.
            return bytes(chance.choice((*range(128), *range(129, 256))) for _ in range(count))
        case "skewed":  # The rare ones have codes of more than ten bits.
            return bytes(min(127, int(chance.expovariate(0.4))) for _ in range(count))
        case "repeated":
            return (bytes(range(100)) * count)[:count]
        case _:
            return bytes(count)


@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED])
@pytest.mark.parametrize("kind", ["uniform", "skewed", "repeated", "constant"])
def test_streams_of_all_kinds(shared_model: Path, kind: str, strategy: int) -> None:
    with open_model(shared_model) as file:
        codes = code_bytes(code_count(file), kind)
        stream = deflate(codes, strategy=strategy)
        if len(codes) > 32 * len(stream):
            stream = deflate(codes, level=0)  # Of stored blocks; the other one expands too much.
        models = [model(file, codes, deflated=()), model(file, stream)]
    options = search_options(beam_size=2, n_best=2)
    assert models[0].translate(sentences(10), options) == models[1].translate(sentences(10), options)
    source, target = sentences(2, longest=30)
    assert models[0].logits(source, target) == models[1].logits(source, target)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("one code fewer", "holds fewer bytes than it should"),
        ("one code more", "holds more bytes than it should"),
        ("cut off", "is cut off"),
        ("bytes after it", "bytes after its end"),
        ("no deflate", "a block of an unknown kind"),
        ("expands too much", "more than 32 times as many"),
        ("the lowest code", "-128"),
    ],
)
def test_a_damaged_stream_is_named(shared_model: Path, damage: str, reason: str) -> None:
    with open_model(shared_model) as file:
        codes = code_bytes(code_count(file), "uniform")
        stream = {
            "one code fewer": deflate(codes[1:]),
            "one code more": deflate(codes + b"\1"),
            "cut off": deflate(codes)[:-9],
            "bytes after it": deflate(codes) + b"\0",
            "no deflate": b"\xff" * 1000,
            "expands too much": deflate(bytes(len(codes))),
            "the lowest code": deflate(codes[:-1] + b"\x80"),
        }[damage]
        with pytest.raises(ModelFileError, match=rf"{TENSOR}.*{reason}"):
            model(file, stream)


@pytest.mark.parametrize("order", ["of use", "reverse", "random"])
@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY])
def test_many_streams_are_decompressed_together(shared_model: Path, strategy: int, order: str) -> None:
    with open_model(shared_model) as file:
        codes = all_codes(file)
        assert len(codes) > 8
        names = list(codes)
        if order != "of use":
            names = names[::-1] if order == "reverse" else random.Random(2).sample(names, len(names))
        streams = {name: deflate(content, strategy=strategy) for name, content in codes.items()}
        models = [model_of(file, codes, ()), model_of(file, streams, names)]
    source, target = sentences(2, longest=30)
    assert models[0].logits(source, target) == models[1].logits(source, target)


def test_the_damaged_one_of_many_streams_is_named(shared_model: Path) -> None:
    with open_model(shared_model) as file:
        codes = all_codes(file)
        for damaged in codes:
            streams = {name: deflate(content) for name, content in codes.items()}
            streams[damaged] = streams[damaged][:-9]
            with pytest.raises(ModelFileError, match=rf"tensor {damaged}: .*is cut off"):
                model_of(file, streams, list(codes))


def test_shapes_that_do_not_fit_their_streams_are_refused(shared_model: Path) -> None:
    with open_model(shared_model) as file:
        streams = {name: deflate(content) for name, content in all_codes(file).items()}
        last = list(streams)[-1]
        streams[last] = deflate(bytes(40_000), level=0)
        with pytest.raises(ModelFileError, match=rf"tensor {last}: .*holds more bytes than it should"):
            model_of(file, streams, list(streams))


def test_random_damage_is_refused_or_read(shared_model: Path) -> None:
    chance = random.Random(5)
    refused = 0
    with open_model(shared_model) as file:
        streams = [deflate(code_bytes(code_count(file), kind)) for kind in ("skewed", "repeated")]
        for _ in range(400):
            damaged = bytearray(chance.choice(streams))
            for _ in range(chance.randint(1, 3)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            try:
                model(file, bytes(damaged))
            except ModelFileError as error:
                assert TENSOR in str(error)  # Not each one is refused.
                refused += 1
    assert refused > 200


def test_a_deflated_tensor_must_exist(shared_model: Path) -> None:
    with open_model(shared_model) as file, pytest.raises(ModelFileError, match=r"other.*is missing"):
        model(file, b"", deflated=["other"])
