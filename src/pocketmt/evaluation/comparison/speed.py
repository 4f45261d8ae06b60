"""Speed and memory of two models, each measured in processes that do nothing else, in turn.

`python -m pocketmt.evaluation.comparison.speed` is such a process: it writes the record of one measurement.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pocketmt.engine import TranslationOptions
from pocketmt.errors import EngineError
from pocketmt.evaluation.comparison.record import Speed
from pocketmt.evaluation.model_file import measure_speed
from pocketmt.evaluation.records import to_json
from pocketmt.evaluation.speed import Mode
from pocketmt.progress import Progress, no_progress

MOST_LINES: Final = 200
ROUNDS: Final = 3
_MODES: Final[tuple[Mode, ...]] = ("latency", "throughput")


def compare_speed(
    models: Sequence[Path],
    lines: Sequence[str],
    *,
    search: TranslationOptions,
    workers: int,
    progress: Progress = no_progress,
) -> list[Speed]:
    """Measure each model on up to 200 lines with text, in every round one after the other.

    Raises EngineError if a process fails.
    """
    chosen = [line for line in lines if line.strip()][:MOST_LINES]
    records: dict[tuple[int, Mode], list[dict[str, Any]]] = {}
    done, total = 0, ROUNDS * len(models) * len(_MODES)
    with tempfile.TemporaryDirectory(prefix="pocketmt-") as folder:
        text = Path(folder) / "text"
        text.write_text("".join(f"{line}\n" for line in chosen), encoding="utf-8")
        for _ in range(ROUNDS):
            for number, model in enumerate(models):
                for mode in _MODES:
                    record = _measure(model, text, mode, search, workers)
                    records.setdefault((number, mode), []).append(record)
                    done += 1
                    progress(done, total)
    return [
        _summarize(records[number, "latency"], records[number, "throughput"], len(chosen), workers)
        for number in range(len(models))
    ]


def _measure(model: Path, text: Path, mode: Mode, search: TranslationOptions, workers: int) -> dict[str, Any]:
    languages = search.get("source_language") or "", search.get("target_language") or ""
    arguments = [str(model.absolute()), str(text), mode, str(search["beam_size"]), str(workers), *languages]
    # -P: a folder named pocketmt in the working directory must not be taken for this package.
    command = [sys.executable, "-P", "-m", "pocketmt.evaluation.comparison.speed", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if answer.returncode != 0:
        raise EngineError(
            f"measuring the speed of {model} failed: {answer.stderr.strip()[-500:]}. Leave it out by --no-speed"
        )
    record: dict[str, Any] = json.loads(answer.stdout)
    return record


def _summarize(
    latency: Sequence[dict[str, Any]], throughput: Sequence[dict[str, Any]], lines: int, workers: int
) -> Speed:
    return Speed(
        words_per_second=tuple(each["timing"]["words_per_second"] for each in throughput),
        milliseconds_per_line=tuple(each["timing"]["latency"]["median_milliseconds"] for each in latency),
        load_seconds=statistics.median(each["load_seconds"] for each in latency),
        peak_memory_bytes=max(each["peak_memory_bytes"] for each in throughput),
        lines=lines,
        workers=workers,
        instruction_set=throughput[0]["instruction_set"],
    )


def main(model: str, text: str, mode: Mode, beam_size: str, workers: str, source: str, target: str) -> None:
    """Measure once, and print the record."""
    record = measure_speed(
        Path(model),
        Path(text),
        mode=mode,
        beam_size=int(beam_size),
        repeats=1,
        workers=int(workers),
        languages=(source or None, target or None),
    )
    print(to_json(record))


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]  # `_measure` gives them.
