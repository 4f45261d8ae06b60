"""Memory and time of importing and compressing large models of other toolkits, beside the bounds that are promised.

    python -m benchmarks.large_models
    python -m benchmarks.large_models --shapes opus-mt --lines 4
    python -m benchmarks.large_models --imports
    python -m benchmarks.large_models --quick

Networks with random weights, written as Hugging Face's or CTranslate2's folders in float32, are imported, and quantized
to 4 bits with error compensation by `pocketmt compress --low-memory` from a few lines of plain source text. Random
weights never end a sentence, so that every line is translated to the longest that is allowed. The largest resident
memory is that of the process of each command. The bounds: of an import, 1.2 times the source's bytes and 200 MB; of
a compression, the bytes of the weights in fp32 and `MOST_WORKING_BYTES`. Compression of the largest takes an hour.
Writes benchmarks/records/large-models.json, or large-imports.json of imports alone.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.markdown import markdown_table
from benchmarks.peer.models import SHAPES
from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.record_files import write_record
from pocketmt.compression.matrix_by_matrix import MOST_WORKING_BYTES
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS
from pocketmt.model_file import Architecture, open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.contents import FLOAT32, ModelContents
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.packing.model_file import pack

RECORDS: Final = Path(__file__).parent / "records"
RECIPE: Final = "log4-compensated"
IMPORT_FACTOR, IMPORT_BYTES = 1.2, 200_000_000
WORDS: Final = 6  # of a line
# Runs a command from a small process: a process begins with the largest resident memory of the one that started it.
MEASURED: Final = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""
COLUMNS_OF_COMPRESSION: Final = (
    "compress_minutes:.1f=compression, min",
    "compress_peak_megabytes:,.0f=compression, peak MB",
    "compress_bound_megabytes:,.0f=bound ",
    "small_megabytes:,.0f=compressed, MB",
)
COLUMNS: Final = (
    "model",
    "source_megabytes:,.0f=source, MB",
    "import_seconds:.1f=import, s",
    "import_peak_megabytes:,.0f=import, peak MB",
    "import_bound_megabytes:,.0f=bound",
    *COLUMNS_OF_COMPRESSION,
)
IMPORTED: Final = "imported.pocketmt"


@dataclass(frozen=True)
class Process:
    """A command that has ended."""

    seconds: float
    peak_bytes: int  # largest resident memory


def main(arguments: Sequence[str]) -> int:
    """Measure every shape, and write the record after each; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--lines", type=int, default=8, help="lines of plain text (default: %(default)s)")
    parser.add_argument("--format", choices=["ctranslate2", "hugging-face"], default="ctranslate2")
    parser.add_argument("--folder", type=Path, help="for the models, up to 10 GB (default: a temporary folder)")
    parser.add_argument("--imports", action="store_true", help="import alone, without compression")
    parser.add_argument("--quick", action="store_true", help="a smoke test: a tiny network, no record")
    parser.add_argument("--output", type=Path, help="the record (default: in benchmarks/records)")
    options = parser.parse_args(arguments)
    output = options.output or RECORDS / ("large-imports.json" if options.imports else "large-models.json")
    origin = provenance(seed=1)
    shapes = {"tiny": preset("tiny", 200)} if options.quick else {name: SHAPES[name] for name in options.shapes}
    columns = [Column.parse(each) for each in COLUMNS if not (options.imports and each in COLUMNS_OF_COMPRESSION)]
    rows = []
    for name, architecture in shapes.items():
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            rows.append(measure_import(name, architecture, options.format, Path(folder)))
            if not options.imports:
                rows[-1] |= measure_compression(architecture, options.lines, Path(folder))
        print(markdown_table(rows, columns), file=sys.stderr)
        if not options.quick:
            write_record({"rows": rows, "lines": options.lines, "recipe": RECIPE, "provenance": origin}, output)
    print(markdown_table(rows, columns))
    return 0


def measure_import(name: str, architecture: Architecture, format: str, folder: Path) -> dict[str, Any]:
    """Write a random model into a folder, import it and return its row; ConfigurationError if a command fails."""
    source = folder / "source"
    subprocess.run([sys.executable, "-m", __spec__.name, "--write", name, format, source], check=True)
    source_bytes = sum(file.stat().st_size for file in source.iterdir())
    importing = run_command("import", source, "--output", folder / IMPORTED)
    return {
        "model": f"{name}, random weights",
        "format": format,
        "architecture": architecture.to_json(),
        "source_megabytes": source_bytes / 1e6,
        "import_seconds": importing.seconds,
        "import_peak_megabytes": importing.peak_bytes / 1e6,
        "import_bound_megabytes": (IMPORT_FACTOR * source_bytes + IMPORT_BYTES) / 1e6,
    }


def measure_compression(architecture: Architecture, lines: int, folder: Path) -> dict[str, Any]:
    """Compress the model that was imported into a folder; return the rest of its row, or raise ConfigurationError."""
    imported, text, small = folder / IMPORTED, folder / "text.en", folder / "small.pocketmt"
    text.write_text("".join(f"{_words(line, architecture.source_size)}\n" for line in range(lines)))
    float_bytes = imported.stat().st_size
    arguments = (imported, RECIPE, "--low-memory", "--text", text, "--output", small)
    compressing = run_command("compress", *arguments)
    return {
        "compress_minutes": compressing.seconds / 60,
        "compress_peak_megabytes": compressing.peak_bytes / 1e6,
        "compress_bound_megabytes": (float_bytes + MOST_WORKING_BYTES) / 1e6,
        "small_megabytes": small.stat().st_size / 1e6,
    }


def _words(line: int, pieces: int) -> str:
    return " ".join(f"word{(line * WORDS + word) * 7919 % (pieces - 4) + 4}" for word in range(WORDS))


def run_command(*arguments: str | Path) -> Process:
    """Run `pocketmt`; return its time and largest memory. ConfigurationError if it fails."""
    program = Path(sys.executable).with_name("pocketmt")
    start = time.monotonic()
    command = [sys.executable, "-S", "-c", MEASURED, program, *arguments]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if answer.returncode:
        raise ConfigurationError(f"pocketmt {arguments[0]}: ended with status {answer.returncode}")
    return Process(time.monotonic() - start, int(answer.stdout) * 1024)


def write_source(name: str, format: str, folder: Path) -> None:
    """Write a random network as a folder of another toolkit."""
    architecture = SHAPES[name] if name in SHAPES else preset(name, 200)
    vocabulary = made_up_vocabulary(architecture.vocabulary_size)
    metadata = ModelMetadata(source_language="en", target_language="de")
    packed = folder.with_suffix(".pocketmt")
    weights = make_network(architecture).state_dict()
    pack(packed, ModelContents(weights, architecture, vocabulary, FLOAT32, metadata))
    with open_model(packed) as file:
        write_folder(foreign_model_of(file), FORMATS[format], folder)
    packed.unlink()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write_source(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
        sys.exit(0)
    sys.exit(run(main))
