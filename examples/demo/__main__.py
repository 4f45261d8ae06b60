"""Trains, packs, scores, times and translates on the synthetic corpus, with the commands that a user types.

    python -m examples.demo

Trains a model, packs it in three schemes, scores and times each, and translates three sentences. Writes into
build/demo; a second run resumes where the first stopped.
"""

import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pocketmt.evaluation.tables import Column, look_up, plain_table

DEMO = Path(__file__).resolve().parent
ROOT = DEMO.parent.parent
FOLDER = Path("build") / "demo"
SCHEMES = ("float32", "uniform8", "logarithmic4")
SENTENCES = (
    "On the 3rd of October, we have to go to the park by tram.",
    "I have to work tomorrow because my colleague is ill.",
    "Excuse me, where is the train station?",
)


def main() -> int:
    """Run every step; exit with the status of the first that fails."""
    started = time.monotonic()
    corpus = ROOT / FOLDER / "corpus"
    corpus.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(DEMO / "demo.toml", ROOT / FOLDER / "demo.toml")
    print("Generating a synthetic corpus of everyday sentences.\n", flush=True)
    run("python", "-m", "examples.demo.corpus", str(FOLDER / "corpus"))
    run("pocketmt", "train", str(FOLDER / "demo.toml"), "--output", str(FOLDER / "run"))
    rows = [measure(scheme) for scheme in SCHEMES]
    for row in rows:
        row["smaller"] = f"{rows[0]['bytes'] / row['bytes']:.1f}x"
    columns = ("scheme", "bytes", "smaller", "bleu:.1f=BLEU", "chrf:.1f=chrF", "speed:.0f=sentences/s", "memory:.0f=MB")
    print("\n" + plain_table(rows, [Column.parse(column) for column in columns]))
    print("\nBLEU and chrF on 500 sentences that were not trained on; one core, one sentence at a time, beam 4.\n")
    model = str(FOLDER / "logarithmic4.pocketmt")
    outputs = run("pocketmt", "translate", "--model", model, text="".join(f"{line}\n" for line in SENTENCES))
    for source, target in zip(SENTENCES, outputs.split("\n"), strict=False):
        print(f"  {source}\n    {target}")
    print(f"\nDone in {(time.monotonic() - started) / 60:.1f} minutes. The models are in {FOLDER}.")
    return 0


def measure(scheme: str) -> dict[str, Any]:
    """Pack, score and time one scheme; return its row of the table."""
    model = str(FOLDER / f"{scheme}.pocketmt")
    source, reference = str(FOLDER / "corpus" / "test.en"), str(FOLDER / "corpus" / "test.de")
    run("pocketmt", "pack", str(FOLDER / "run"), "--scheme", scheme, "--output", model)
    quality = json.loads(
        run("pocketmt", "evaluate", "--model", model, "--source", source, "--reference", reference, "--json")
    )
    speed = json.loads(run("pocketmt", "benchmark", model, source, "--repeats", "3", "--json"))
    return {
        "scheme": scheme,
        "bytes": (ROOT / model).stat().st_size,
        "bleu": look_up(quality, "quality.bleu.value"),
        "chrf": look_up(quality, "quality.chrf.value"),
        "speed": look_up(speed, "timing.sentences_per_second"),
        "memory": look_up(speed, "peak_memory_bytes") / 1e6,
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
