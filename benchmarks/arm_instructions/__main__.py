"""Instructions that AArch64 executes for products and translations, counted under emulation.

    python -m benchmarks.arm_instructions
    python -m benchmarks.arm_instructions --models captions-en-de-8bit --rows 1

Counts are no times: an instruction can take a cycle or many, and waiting for memory does not count. They depend on the
compiler, and not on the machine or its load. Products are those of one matrix and of rows of activations, per thousand
multiply-adds, beside the least that the instruction set needs for the multiply-adds alone. Binary codes are counted as
the multiply-adds that they replace. Sentences are translated one by one by bundled models; the multiply-adds are those
of their matrices. Needs Debian's packages g++-aarch64-linux-gnu and qemu-user. Writes
benchmarks/records/arm-instructions.json and prints its rows.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.arm_instructions.counting import InstructionCounter, tools
from benchmarks.command import run
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column
from pocketmt.model_file import ModelFile, open_model
from pocketmt.text.vocabulary import Vocabulary

RECORD: Final = Path(__file__).resolve().parents[1] / "records" / "arm-instructions.json"
# Instruction set -> the multiply-adds of bytes, and those of floats, that one instruction does at best. Portable code
# has the baseline's: smull, smlal and sadalp do 16 of bytes, fmul and fadd 4 of floats, which it does not fuse.
BEST: Final = {"portable": (16 / 3, 2.0), "neon_dot_product": (16.0, 4.0), "neon_i8mm": (32.0, 4.0)}
# Bits of binary codes: 16 outputs of 16 inputs need 8 look-ups, 6 additions of bytes and 4 to 16 bits.
BEST_BINARY: Final = 16 * 16 / 18
# Name in the record -> family and bits. 7 bits have the products of 8.
FORMS: Final = {
    "float32": ("float32", 32),
    "8 bits": ("integer", 8),
    "6 bits": ("six_bit", 6),
    "4 bits, one table": ("lookup_table", 4),
    "4 bits, a table a row": ("row_lookup_table", 4),
    "2 bits, binary codes": ("binary_code", 2),
    "1 bit, binary codes": ("binary_code", 1),
}
ROWS: Final = (1, 4, 64)
MODELS: Final = ("everyday-en-de", "captions-en-de-8bit")
BEAM_SIZES: Final = (1, 4)
SENTENCES: Final = (
    "A man rides a bike.",
    "Two dogs are running through the snow.",
    "A woman in a red coat is reading a book.",
    "Could you please tell me where the station is?",
)
PRODUCT_COLUMNS: Final = (
    "form=weights",
    "rows",
    *(
        column
        for name in BEST
        for column in (f"per_thousand.{name}:.0f={name}", f"least_per_thousand.{name}:.1f=at least")
    ),
)
SENTENCE_COLUMNS: Final = (
    "model",
    "beam_size=beam",
    *(f"million_instructions.{name}:.1f={name}" for name in BEST),
    "million_multiply_adds:.1f=million multiply-adds",
)


def main(arguments: Sequence[str]) -> int:
    """Count, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=int, default=512, help="of the matrix (default: %(default)s)")
    parser.add_argument("--inputs", type=int, default=512, help="of the matrix (default: %(default)s)")
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS, help="rows of activations (default: %(default)s)")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS, help="of weights (default: all)")
    parser.add_argument("--models", nargs="*", default=MODELS, help="names or files (default: %(default)s)")
    parser.add_argument("--build", choices=("Release", "Quick"), default="Release", help="Quick: for a test")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance(seed=1)
    with tempfile.TemporaryDirectory() as folder:
        counter = InstructionCounter(Path(folder), options.build)
        shape = options.outputs, options.inputs
        products = [row for form in options.forms for row in product_rows(counter, form, shape, options.rows)]
        sentences = [row for name in options.models for row in sentence_rows(counter, name)]
    print(markdown_table(products, [Column.parse(column) for column in PRODUCT_COLUMNS]) + "\n")
    print(markdown_table(sentences, [Column.parse(column) for column in SENTENCE_COLUMNS]))
    record = {"products": products, "sentences": sentences, "tools": tools(), "provenance": origin}
    write_record(record, options.output)
    return 0


def product_rows(
    counter: InstructionCounter, form: str, shape: tuple[int, int], counts: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each number of rows of activations."""
    family, bits = FORMS[form]
    for rows in counts:
        thousands = math.prod(shape) * rows / 1000
        instructions = {name: counter.product(name, family, bits, *shape, rows) for name in BEST}
        per_thousand = {name: count / thousands for name, count in instructions.items()}
        least = {name: least_per_thousand(name, form, rows) for name in BEST}
        yield {
            "form": form,
            "shape": f"{shape[0]} x {shape[1]}",
            "rows": rows,
            "instructions": instructions,
            "per_thousand": per_thousand,
            "least_per_thousand": least,
            "times_least": {name: per_thousand[name] / least[name] for name in BEST},
        }


def least_per_thousand(instruction_set: str, form: str, rows: int) -> float:
    """Return the fewest instructions that do a thousand multiply-adds of a product, without loads and stores."""
    family, bits = FORMS[form]
    bytes_at_once, floats_at_once = BEST[instruction_set]
    if family == "float32":
        return 1000 / floats_at_once
    if family == "binary_code":
        return 1000 * bits / BEST_BINARY
    if instruction_set == "neon_i8mm":  # Two rows at once: an odd one has half of an instruction.
        return 1000 / bytes_at_once * 2 * math.ceil(rows / 2) / rows
    return 1000 / bytes_at_once


def sentence_rows(counter: InstructionCounter, name: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each beam size; ConfigurationError if instruction sets translate differently."""
    with open_model(resolve_model(name)) as file:
        vocabulary = Vocabulary(file.vocabulary())
        sources = [vocabulary.encode(line) for line in SENTENCES]
        for beam_size in BEAM_SIZES:
            counted = {each: counter.translation(each, file, sources, beam_size) for each in BEST}
            first, *others = (translations for _, translations in counted.values())
            if any(other != first for other in others):
                raise ConfigurationError(f"{name}: instruction sets translate differently")
            pieces = [(len(source), len(target)) for source, target in zip(sources, first, strict=True)]
            instructions = {each: count for each, (count, _) in counted.items()}
            # A beam has a number of hypotheses that changes from step to step.
            greedy = sum(matrix_multiply_adds(file, *each) for each in pieces) if beam_size == 1 else None
            yield {
                "model": name,
                "beam_size": beam_size,
                "pieces": pieces,
                "instructions": instructions,
                "million_instructions": {each: 1e-6 * n / len(sources) for each, n in instructions.items()},
                "million_multiply_adds": None if greedy is None else 1e-6 * greedy / len(sources),
            }


def matrix_multiply_adds(file: ModelFile, source_pieces: int, target_pieces: int) -> int:
    """Return the multiply-adds of the matrices in a greedy translation, of a model of one vocabulary.

    The encoder's matrices, and those of its keys and values in the decoder, multiply each source piece and its end; the
    decoder's and the output's multiply each target piece and its end.
    """
    source = target = 0
    for name, shape in file.architecture.parameter_shapes().items():
        if len(shape) == 2:
            if name.startswith("encoder.") or name.endswith("cross_attention.key_value.weight"):
                source += math.prod(shape)
            else:
                target += math.prod(shape)
    return source * (source_pieces + 1) + target * (target_pieces + 1)


if __name__ == "__main__":
    sys.exit(run(main))
