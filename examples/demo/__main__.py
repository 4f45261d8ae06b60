"""Makes a small model of a large one from plain text alone, with the commands that a user types.

    python -m examples.demo

The teacher translates generated English sentences. A small student learns from the translations, is compressed to 4
bits, and is compared with its teacher on sentence pairs that neither has seen. Writes into build/demo; a second run
resumes where the first stopped.
"""

import argparse
import json
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pocketmt.evaluation.tables import Column, plain_table

DEMO = Path(__file__).resolve().parent
ROOT = DEMO.parent.parent
FOLDER = Path("build") / "demo"
TEXTS = {"sentences.en": (20000, 1), "validation.en": (500, 2)}  # Numbers of sentences, and seeds.
SENTENCES = (
    "Where is the train station?",
    "My sister wants to buy a red bicycle.",
    "We didn't go to work because it was very cold.",
)
COLUMNS = ("model", "size:.2f=MB", "bleu:.1f=BLEU", "chrf:.1f=chrF", "speed:.0f=words/s", "memory:.0f=memory, MB")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every step; exit with the status of the first that fails."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)  # There are none but --help.
    started = time.monotonic()
    (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
    for name in ("teacher.pocketmt", "test.tsv", "pipeline.toml", "student.toml", "recipe.toml"):
        shutil.copy(DEMO / name, ROOT / FOLDER / name)
    for name, (lines, seed) in TEXTS.items():
        run("python", "-m", "examples.demo.sentences", f"--lines={lines}", f"--seed={seed}", str(FOLDER / name))
    run("pocketmt", "pipeline", str(FOLDER / "pipeline.toml"), "--output", str(FOLDER / "run"))
    teacher, small = str(FOLDER / "teacher.pocketmt"), str(FOLDER / "run" / "model.pocketmt")
    page, record = FOLDER / "comparison.html", FOLDER / "comparison.json"
    files = ("--text", str(FOLDER / "test.tsv"), "--output", str(page), "--json", str(record))
    run("pocketmt", "compare", teacher, small, *files)
    comparison = json.loads((ROOT / record).read_text(encoding="utf-8"))
    rows = [row(comparison, "original", "teacher"), row(comparison, "small", "student, 4 bits")]
    print("\n" + plain_table(rows, [Column.parse(column) for column in COLUMNS]))
    print(f"\n{comparison['lines']} sentences, written for this demo; one core, one sentence at a time, beam 4.")
    same = comparison["agreement"]["same"]
    print(f"After the same words, the student chooses its teacher's next piece in {same:.0%} of the cases.\n")
    for model in (teacher, small):
        print(run("pocketmt", "translate", "--model", model, text="".join(f"{line}\n" for line in SENTENCES)))
    print(f"Done in {(time.monotonic() - started) / 60:.1f} minutes. Open {page} in a browser to see what changed.")
    return 0


def row(comparison: dict[str, Any], side: str, name: str) -> dict[str, Any]:
    """Return the row of one model of a comparison."""
    found = comparison[side]
    return {
        "model": name,
        "size": found["sizes"]["file_bytes"] / 1e6,
        "bleu": found["quality"]["bleu"]["value"],
        "chrf": found["quality"]["chrf"]["value"],
        "speed": statistics.median(found["speed"]["words_per_second"]),
        "memory": found["speed"]["peak_memory_bytes"] / 1e6,
    }


def run(program: str, *arguments: str, text: str | None = None) -> str:
    """Print a command and run it; return its standard output, or exit with its status if it fails."""
    print("$ " + shlex.join([program, *arguments]), flush=True)
    executable = str(Path(sys.executable).with_name(program))
    finished = subprocess.run(
        [executable, *arguments], cwd=ROOT, input=text, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False
    )
    if finished.returncode:
        sys.exit(finished.returncode)
    return finished.stdout


if __name__ == "__main__":
    sys.exit(main())
