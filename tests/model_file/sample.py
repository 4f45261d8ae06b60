"""A small model file of every layout, and ways to change one so that its digest fits again."""

import copy
import hashlib
import json
import math
import random
import struct
from collections.abc import Mapping
from pathlib import Path

from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.manifest import check_manifest
from pocketmt.model_file.writer import StoredTensor, write_model

VOCABULARY = b"any bytes will do here, since only the engine reads them as a SentencePiece model. " * 20
LEVELS = [127, 64, 32, 16, 8, 4, 2, 1, -127, -64, -32, -16, -8, -4, -2, -1]
ARCHITECTURE = TransformerArchitecture(
    encoder_layers=1,
    decoder_layers=1,
    model_dimension=6,
    feed_forward_dimension=7,
    attention_heads=2,
    attention_dimension=8,
    norm="pre",
    attention_bias=True,
    vocabulary_size=11,
)
MANIFEST: dict[str, object] = {
    "format_version": 1,
    "architecture": ARCHITECTURE.to_json(),
    "languages": {"source": "en", "target": "de"},
    "vocabulary": {"encoding": "xz", "bytes": len(VOCABULARY), "normalization": "nfkc"},
    "schemes": [
        {"name": "uniform", "bits": 8, "granularity": "row"},
        {"name": "logarithmic", "bits": 4, "granularity": "row", "levels": LEVELS},
        {"name": "logarithmic", "bits": 4, "granularity": "matrix", "levels": LEVELS},
    ],
    "matrices": {
        "embedding.weight": [[0, 4], [1, 5], [2, 2]],
        "encoder.layers.0.self_attention.query_key_value.weight": [[0, 24]],
        "encoder.layers.0.feed_forward.outer.weight": [[1, 6]],  # 7 columns: the last nibble is not used
        "decoder.layers.0.cross_attention.query.weight": [[2, 8]],
    },
    "recipe": {"steps": [{"name": "quantize", "rate": 0.5}]},
    "licence": "none",
    "producer": "a test",
    "training": {},
    "description": "a sample",
}
MATRIX = "encoder.layers.0.feed_forward.outer.weight"
PLAIN = "decoder.layers.0.feed_forward.inner.weight"
BIAS = "decoder.layers.0.feed_forward.inner.bias"


def manifest() -> dict[str, object]:
    """A copy to change."""
    return copy.deepcopy(MANIFEST)


def tensors(about: Mapping[str, object] = MANIFEST, seed: int = 0) -> dict[str, StoredTensor]:
    """Random values for every tensor that the manifest asks for."""
    draw = random.Random(seed)
    stored = {}
    for name, (dtype, shape) in check_manifest(dict(about)).tensors.items():
        count = math.prod(shape)
        if dtype == "F32":
            data = struct.pack(f"<{count}f", *(draw.uniform(0, 2) for _ in range(count)))
        elif dtype == "BF16":
            data = struct.pack(f"<{count}H", *(draw.randrange(0x3F80) for _ in range(count)))
        elif dtype == "I8":
            data = struct.pack(f"{count}b", *(draw.randint(-127, 127) for _ in range(count)))
        else:
            data = draw.randbytes(count)
        stored[name] = StoredTensor(dtype, shape, data)
    return stored


def write_sample(path: Path) -> bytes:
    """Write the sample and return its bytes."""
    write_model(path, MANIFEST, tensors(), VOCABULARY)
    return path.read_bytes()


def split(file: bytes) -> tuple[dict[str, object], bytes]:
    """A file -> header and data."""
    length = int.from_bytes(file[:8], "little")
    return json.loads(file[8 : 8 + length]), file[8 + length :]


def manifest_of(header: dict[str, object]) -> dict[str, object]:
    """The manifest in a header."""
    metadata = header["__metadata__"]
    assert isinstance(metadata, dict)
    parsed: dict[str, object] = json.loads(metadata["pocketmt"])
    return parsed


def with_manifest(header: dict[str, object], about: object) -> dict[str, object]:
    """A header with another manifest."""
    text = about if isinstance(about, str) else json.dumps(about)
    return {**header, "__metadata__": {"pocketmt": text, "digest": "0" * 64}}


def join(header: Mapping[str, object] | str, data: bytes) -> bytes:
    """Header and data -> a file, padded; its digest is right if the header has a place for it."""
    raw = (header if isinstance(header, str) else json.dumps(header)).encode("utf-8", "surrogatepass")
    raw += b" " * (-(8 + len(raw)) % 64)
    return sealed(len(raw).to_bytes(8, "little") + raw + data)


def sealed(file: bytes) -> bytes:
    """The file with the digest that fits it, where the header holds one as text."""
    try:
        digest = split(file)[0]["__metadata__"]["digest"].encode()  # type: ignore[index]
        start = file.index(digest)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return file
    if len(digest) != 64:
        return file
    blank = file[:start] + b"0" * 64 + file[start + 64 :]
    return blank[:start] + hashlib.sha256(blank).hexdigest().encode() + blank[start + 64 :]
