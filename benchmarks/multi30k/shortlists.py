"""Recall, quality and speed of shortlists of several lengths, on a model trained on Multi30k.

    python -m benchmarks.multi30k.shortlists build/multi30k/seed2
    python -m benchmarks.multi30k.shortlists build/multi30k/seed2 --taught build/distilled.en build/distilled.de

The argument is a folder written by `pocketmt train`; the model is packed in 8 bits. Lists are estimated from its
training text, and from that with its own translations (`pocketmt distill`), and measured on `val`: quality with beam 4,
speed on one thread by greedy search, one line at a time, in turn with the whole vocabulary. Writes
benchmarks/records/multi30k/shortlists.json.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.data import VALIDATION, folder, lines
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import compare
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.shortlist import measure_recall
from pocketmt.evaluation.speed import measure_latency
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.packing.run import pack_run
from pocketmt.packing.shortlist import add_shortlist, learn_shortlist

LENGTHS = ((50, 50), (100, 100), (255, 300), (255, 1500))  # targets of each source piece, frequent pieces
BEAM = 4
TIMED_LINES = 200
COLUMNS = (
    "learnt_from=learnt from",
    "top_k=top-k",
    "frequent",
    "recall.output:.2%=of the model's pieces",
    "recall.reference:.2%=of the reference's",
    "recall.mean_pieces:.0f=pieces in a list",
    "added_bytes:,=bytes",
    "bleu:.2f=BLEU",
    "gain:+.2f",
    "p_value:.3f=p",
    "times_as_fast:.2f=times as fast",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a folder written by `pocketmt train`")
    parser.add_argument(
        "--taught",
        type=Path,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="source text and the model's translations of it",
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of timing (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "records" / "multi30k" / "shortlists.json")
    options = parser.parse_args(arguments)
    origin = provenance()
    data = folder()
    texts = {"training text": (data / "train.en", data / "train.de")}
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        if options.taught is not None:
            both = work / "both.en", work / "both.de"
            for output, real, taught in zip(both, texts["training text"], options.taught, strict=True):
                output.write_bytes(real.read_bytes() + taught.read_bytes())
            texts["training text, and its translations by the model"] = both
        model = work / "model.pocketmt"
        pack_run(options.run, "uniform8", model)
        for name, text in texts.items():
            for lengths in LENGTHS:
                rows.append({"learnt_from": name, **_row(model, text, lengths, work, options.rounds)})
    write_record({"rows": rows, "provenance": origin}, options.output)
    print(plain_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def _row(model: Path, text: tuple[Path, Path], lengths: tuple[int, int], work: Path, rounds: int) -> dict[str, Any]:
    top_k, frequent = lengths
    found = learn_shortlist(model, *text, top_k=top_k, frequent=frequent)
    listed = work / "listed.pocketmt"
    size = add_shortlist(model, found, listed)
    data = folder()
    recall = measure_recall(model, found, data / f"{VALIDATION}.en", data / f"{VALIDATION}.de", BEAM)
    sources, references = lines(VALIDATION, "en"), lines(VALIDATION, "de")
    translator = Translator(listed)
    whole, short = (
        translator.translate(sources, beam_size=BEAM, shortlist=use, split=False, check=False) for use in (False, True)
    )
    (difference,) = (each for each in compare(whole, short, references) if each.name == "BLEU")
    return {
        "top_k": top_k,
        "frequent": frequent,
        "recall": asdict(recall),
        "added_bytes": size - model.stat().st_size,
        "bleu": difference.system,
        "gain": difference.gain,
        "p_value": difference.p_value,
        **_times_as_fast(translator, sources[:TIMED_LINES], rounds),
    }


def _times_as_fast(translator: Translator, sources: Sequence[str], rounds: int) -> dict[str, Any]:
    """Return the median ratio of times over rounds, whole vocabulary to shortlist, one line at a time, greedy."""
    ratios = []
    for _ in range(rounds):
        seconds = []
        for shortlist in (False, True):
            translate = partial(translator.translate, beam_size=1, shortlist=shortlist)
            seconds.append(measure_latency(translate, sources, repeats=1).median_seconds)
        ratios.append(seconds[0] / seconds[1])
    return {"times_as_fast": statistics.median(ratios), "lowest": min(ratios), "highest": max(ratios)}


if __name__ == "__main__":
    sys.exit(run(main))
