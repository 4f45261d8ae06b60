"""Times `make demo` and `make test` from a fresh clone, with PyTorch and its libraries held to AVX2.

    python -m benchmarks.fresh_clone

Clones the commit of this checkout, creates the virtual environment and builds the engine without a compiler cache, and
runs the two. Set-up is counted in the time of each. The engine is held to AVX2 in the demo only: the tests run the
kernels of every instruction set that the processor has. Pin it to as many cores as the measurement is for:
`taskset --cpu-list 0,1`. Writes benchmarks/records/fresh-clone.json. About 15 minutes on two cores.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.instruction_sets import HELD
from benchmarks.record_files import write_record
from pocketmt.errors import PocketMTError
from pocketmt.evaluation.records import provenance

RECORD: Final = ROOT / "benchmarks" / "records" / "fresh-clone.json"
SET_UP: Final = "engine"
GOAL_MINUTES: Final = {"demo": 6, "test": 10}
# Variables that hold PyTorch, oneDNN, MKL and CTranslate2 to AVX2.
LIBRARIES: Final = {
    **HELD["avx2"]["CTranslate2"],
    "ATEN_CPU_CAPABILITY": "avx2",
    "CT2_FORCE_CPU_ISA": "AVX2",
}
ENVIRONMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    SET_UP: {},
    "demo": {**LIBRARIES, "POCKETMT_INSTRUCTION_SET": "avx2"},
    "test": LIBRARIES,
}
SHOWN_LINES: Final = 20


def main(arguments: Sequence[str]) -> int:
    """Time both, write the record, print its rows; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance()
    with tempfile.TemporaryDirectory(prefix="fresh-clone-") as folder:
        clone = Path(folder) / "pocketmt"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        seconds = {target: seconds_of(target, clone) for target in (SET_UP, *GOAL_MINUTES)}
    rows: list[dict[str, Any]] = [
        {
            "command": f"make {target}",
            "goal_minutes": goal,
            "minutes": (seconds[SET_UP] + seconds[target]) / 60,
            "set_up_minutes": seconds[SET_UP] / 60,
        }
        for target, goal in GOAL_MINUTES.items()
    ]
    write_record({"rows": rows, "environments": ENVIRONMENTS, "provenance": origin}, options.output)
    for row in rows:
        print(f"{row['command']}: {row['minutes']:.1f} minutes, of which set-up {row['set_up_minutes']:.1f}")
    return 0


def seconds_of(target: str, clone: Path) -> float:
    """Make a target of a clone, and return the wall time; PocketMTError with the end of its output if it fails."""
    print(f"make {target} ...", flush=True)
    kept = {name: value for name, value in os.environ.items() if name != "CMAKE_CXX_COMPILER_LAUNCHER"}
    environment = {**kept, **ENVIRONMENTS[target], "CCACHE_DISABLE": "1"}
    start = time.monotonic()
    done = subprocess.run(
        ["make", target],
        check=False,
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        end = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
        raise PocketMTError(f"`make {target}` failed in a fresh clone:\n{end}")
    return time.monotonic() - start


if __name__ == "__main__":
    sys.exit(run(main))
