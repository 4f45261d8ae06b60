"""Makes the everyday models by the whole pipeline; a second call resumes where the first stopped.

python -m examples.everyday examples/everyday/everyday.toml --output runs/everyday
"""

import argparse
import sys
import time
from pathlib import Path

from examples.everyday.scheduler import run_steps
from examples.everyday.settings import read_settings
from examples.everyday.step import StepError
from examples.everyday.steps import steps_of


def main() -> int:
    """Run all steps; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configuration", type=Path)
    parser.add_argument("--output", "-o", type=Path, required=True, help="folder of all results")
    parser.add_argument("--side-by-side", type=int, default=1, help="steps at one time (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of the steps to run, such as '*.teacher*'")
    options = parser.parse_args()
    folder = options.output.absolute()
    started = time.monotonic()

    def report(line: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {line}", flush=True)

    try:
        steps = steps_of(read_settings(options.configuration), folder)
        run_steps(steps, folder, options.side_by_side, report, options.only)
    except StepError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
