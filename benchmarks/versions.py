"""Compare the speed, load time and memory of two installed versions of PocketMT, in turn on one core.

    python -m benchmarks.versions ../earlier/.venv/bin/pocketmt $POCKETMT_DATA/multi30k/val.en --core 1

Each round runs `pocketmt benchmark` of both versions with every bundled model and instruction set, and starts with the
other version than the round before. A ratio is the value of this version divided by the earlier one's, of one round.
The record is written to benchmarks/records/versions.json and its rows as a table to stdout.
"""

import argparse
import json
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.markdown import columns_of, markdown_table
from benchmarks.record_files import write_record
from pocketmt.engine import _native
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import look_up

RECORD = Path(__file__).parent / "records" / "versions.json"
MODELS = ("captions-en-de", "captions-en-de-8bit")
VALUES = {
    "time": "timing.median_seconds",
    "load": "load_seconds",
    "memory": "peak_memory_bytes",
}


def measure(program: Path, model: str, text: Path, instruction_set: str, core: int, lines: int) -> dict[str, float]:
    """Return the values of one run of `pocketmt benchmark`."""
    command = [str(program), "benchmark", model, str(text), "--beam-size", "1", "--lines", str(lines), "--repeats", "1"]
    command += ["--instruction-set", instruction_set, "--json"]
    answer = subprocess.run(["taskset", "-c", str(core), *command], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        last = (answer.stderr.strip() or "no message").splitlines()[-1]
        raise ConfigurationError(f"{shlex.join(command)}: ended with status {answer.returncode} ({last})")
    record: dict[str, Any] = json.loads(answer.stdout)
    return {name: look_up(record, key) for name, key in VALUES.items()}


def compare(programs: tuple[Path, Path], setting: tuple[str, str], options: argparse.Namespace) -> dict[str, Any]:
    """Return a row with the ratios of one model and instruction set; `programs`: the earlier version and this one."""
    model, instruction_set = setting
    ratios: dict[str, list[float]] = {name: [] for name in VALUES}
    for round_number in range(options.rounds):
        found = {}
        for program in programs if round_number % 2 == 0 else programs[::-1]:
            found[program] = measure(program, model, options.text, instruction_set, options.core, options.lines)
        for name, values in ratios.items():
            values.append(found[programs[1]][name] / found[programs[0]][name])
    row: dict[str, Any] = {"model": model, "instruction_set": instruction_set}
    for name, values in ratios.items():
        row |= {name: statistics.median(values), f"{name}_least": min(values), f"{name}_most": max(values)}
    return row


def main(arguments: Sequence[str]) -> int:
    """Measure every setting and write the record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("earlier", type=Path, help="the command `pocketmt` of the earlier version")
    parser.add_argument("text", type=Path, help="English text, a sentence a line")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--lines", type=int, default=500, help="lines translated in each run (default: %(default)s)")
    parser.add_argument("--core", type=int, default=0, help="core of all runs (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args(arguments)
    origin = provenance()
    programs = (options.earlier.absolute(), Path(sys.executable).with_name("pocketmt"))
    for program in (*programs, "taskset"):
        if shutil.which(program) is None:
            raise ConfigurationError(f"{program}: there is no such program")
    sets = [name for name in _native.instruction_sets() if name != "portable"]
    rows = [compare(programs, (model, name), options) for model in MODELS for name in sets]
    record = {"rows": rows, "rounds": options.rounds, "lines": options.lines, "provenance": origin}
    write_record(record, options.output)
    print(markdown_table(rows, columns_of(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
