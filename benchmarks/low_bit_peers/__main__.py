"""Speed of a matrix of few bits times one vector, beside ggml, the library of llama.cpp, on one core.

    make ggml
    python -m benchmarks.low_bit_peers --core 1
    python -m benchmarks.low_bit_peers --instruction-set avx2 --output benchmarks/records/low-bit-peers-avx2.json

Both sides multiply the same shapes. A matrix is read from a cache, and from memory by using enough copies that 8-bit
weights exceed the caches. ggml's products include the quantization of the vector; each type runs with its weights as
they are stored and laid out for this processor, and the faster counts. Gigabytes are those of the weights as each side
holds them. Each side is also compared with its own 8 bits. With --instruction-set, ggml's libraries are those that are
compiled for it. Writes benchmarks/records/low-bit-peers.json.
"""

import argparse
import ctypes
import random
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.instruction_sets import add_instruction_set_option, our_instruction_set
from benchmarks.kernels.__main__ import STREAMED_BYTES
from benchmarks.low_bit_peers.ggml import TYPES, Ggml, Products
from benchmarks.markdown import markdown_table
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.record_files import write_record
from pocketmt.engine import _native_testing as native
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD: Final = ROOT / "benchmarks" / "records" / "low-bit-peers.json"
# Instruction set -> ggml's libraries that are compiled for it; None: those for this processor's best.
LIBRARIES: Final = {name: ROOT / "build" / "ggml" / (name or "build") / "src" for name in (None, "avx2")}
SEED: Final = 1
SHAPES: Final = ((2048, 512), (32000, 512), (4096, 4096))  # [outputs, inputs]; ggml's blocks have 256 inputs
# The first of each side is the one that its others are compared with.
OURS: Final = {
    "8 bits": ("integer", 8),
    "4 bits, one table": ("lookup_table", 4),
    "4 bits, a table a row": ("row_lookup_table", 4),
    "2 bits, binary codes": ("binary_code", 2),
    "1 bit, binary codes": ("binary_code", 1),
}
COLUMNS: Final = (
    "shape",
    "weights_in=read from",
    "side",
    "format",
    "bits:.2f=bits a weight",
    "microseconds:.1f",
    "gigabytes_per_second:.1f=GB/s",
    "times_8_bits:.2f=times its 8 bits",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_core_option(parser)
    add_instruction_set_option(parser)
    parser.add_argument("--ggml", type=Path, help="the folder of its libraries (default: those of `make ggml`)")
    parser.add_argument("--rounds", type=int, default=31, help="how often each product is timed (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: one small shape, no record")
    options = parser.parse_args(arguments)
    ggml = libraries(options.ggml, options.instruction_set)
    origin, core, ours = provenance(seed=SEED), OneCore(options.core), our_instruction_set(options.instruction_set)
    rows = []
    for shape in ((64, 256),) if options.quick else SHAPES:
        for place, copies in (("cache", 1), ("memory", -(-STREAMED_BYTES // (shape[0] * shape[1])))):
            if options.quick and copies > 1:
                continue
            rows += list(rows_of(ggml, ours, shape, place, copies, options.rounds))
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    if not options.quick or options.output != RECORD:
        about = {"versions": {"ggml": ggml.version}, "instruction_set": options.instruction_set, **core.about()}
        write_record({"rows": rows, **about, "provenance": origin}, options.output)
    return 0


def libraries(folder: Path | None, instruction_set: str | None) -> Ggml:
    """Load ggml for an instruction set; None: for this processor.

    Args:
        folder: the folder of its libraries; None: the one of `make ggml`.
        instruction_set: ConfigurationError if the libraries are compiled for another one.
    """
    folder = folder or LIBRARIES.get(instruction_set, LIBRARIES[None])
    ggml = Ggml(folder)
    if instruction_set not in (None, ggml.instruction_set):
        compiled = ggml.instruction_set or "none of them"
        raise ConfigurationError(f"{folder}: ggml is compiled for {compiled}, not for {instruction_set}")
    return ggml


def rows_of(
    ggml: Ggml, ours: str, shape: tuple[int, int], place: str, copies: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for each format of both sides; `ours`: the instruction set of our kernels."""
    outputs, inputs = shape
    about = {"shape": f"{outputs} x {inputs}", "weights_in": place}
    found = native.time_products(ours, [(*form, False) for form in OURS.values()], outputs, inputs, 1, copies, rounds)
    sizes = [native.packed_bytes(ours, *form, outputs, inputs) for form in OURS.values()]
    side = {**about, "side": "PocketMT", "instruction_set": ours}
    yield from _side(side, shape, zip(OURS, sizes, found, strict=True))
    draw = random.Random(SEED)
    weights = (ctypes.c_float * (outputs * inputs))(*(draw.gauss(0, 1) for _ in range(outputs * inputs)))
    formats = []
    for name in TYPES:
        type = ggml.type(name)
        size = outputs * ggml.row_bytes(type, inputs)
        formats.append((name, size, ggml_seconds(ggml, type, weights, shape, copies, rounds)))
    yield from _side({**about, "side": "ggml", "instruction_set": ggml.instruction_set}, shape, formats)


def ggml_seconds(
    ggml: Ggml, type: int, weights: "ctypes.Array[ctypes.c_float]", shape: tuple[int, int], copies: int, rounds: int
) -> list[float]:
    """Return the seconds of rounds, with weights as they are stored or laid out for the processor, the faster."""
    stored = ggml.quantized(type, weights, *shape)
    found = []
    for kind in (ggml.plain, ggml.repacked):
        if kind is not None:
            products = Products(ggml, type, shape, copies, kind)
            if products.supported():
                products.fill(stored)
                found.append(products.seconds(rounds))
            products.close()
    return min(found, key=statistics.median)


def _side(
    about: dict[str, Any], shape: tuple[int, int], formats: Iterable[tuple[str, int, list[float]]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a side; formats: name, bytes of the weights, seconds of rounds."""
    eight_bits = None
    for name, size, rounds in formats:
        seconds = statistics.median(rounds)
        eight_bits = eight_bits or seconds
        yield about | {
            "format": name,
            "bits": 8 * size / (shape[0] * shape[1]),
            "microseconds": 1e6 * seconds,
            "gigabytes_per_second": size / seconds / 1e9,
            "times_8_bits": eight_bits / seconds,
            "seconds": list(rounds),
        }


if __name__ == "__main__":
    sys.exit(run(main))
