"""Compares the decoder for GPUs with the reference search, on the processor: lines that have the same translation.

    python -m benchmarks.device_parity
    python -m benchmarks.device_parity --quick

Bundled models translate the test text of their corpus, greedy and with beam 4, in every precision, and in float32
also with decoded weights. Two of them together are an ensemble. Networks of other architectures translate Multi30k's
test text of 2016: their random weights end sentences early now and then. Lines of several sentences, joined, have
translations so long that their places in memory grow. The reference is `pocketmt.models.search` on
the same networks, with batches in the order of the text. In float32, trained models are also compared with the native
engine on the same file. Networks that round their activations have sums in double precision on the processor, so that
lines differ by faults alone. The native engine adds in float32: a line may differ from its one where two pieces are
nearly equal. How many lines differ for the reference itself, with batches of another size, is in another column. Writes
benchmarks/records/device-parity.json and prints its rows.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.command import run
from benchmarks.data import ROOT, corpus
from benchmarks.record_files import write_record
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.models.search import beam_search, default_maximum_length, greedy_search
from pocketmt.packing.contents import contents_of
from pocketmt.packing.decoded import read_model
from pocketmt.packing.device.precision import PRECISIONS, in_precision, load_network
from pocketmt.packing.model_file import pack

RECORD: Final = ROOT / "benchmarks" / "records" / "device-parity.json"
SEED: Final = 1
CAPTIONS: Final = ("multi30k", "test_2016_flickr.en")
TRAINED: Final = {  # The corpus of a model and its file of lines to translate.
    "captions-en-de": CAPTIONS,
    "everyday-en-de": ("tatoeba", "test.en"),
    "everyday-de-en": ("tatoeba", "test.de0"),
}
JOINED: Final = {"captions-en-de, four lines in one": "captions-en-de"}
JOINED_LINES: Final = 4
ENSEMBLES: Final = {"ensemble of captions-en-de in 4 and in 8 bits": ("captions-en-de", "captions-en-de-8bit")}
DECODED: Final = " with decoded weights"
RANDOM: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "self-attention, norms before": ("tiny", {"norm": "pre"}),
    "self-attention, other inputs and outputs": (
        "tiny",
        {
            "positions": "concatenated",
            "first_decoder_input": "zero",
            "output_projection": "untied",
            "output_bias": True,
        },
    ),
    "SSRU": ("6-1.nano", {}),
    "SSRU, tied layers": ("6-2.tied.tiny", {}),
    "average attention": ("tiny", {"decoder_autoregression": "average_attention"}),
    "LSTM": ("lstm.tiny", {}),
}
VOCABULARY: Final = 4000
TOGETHER: Final = 20  # Sentences of the reference search, in the order of the text.
LONGEST: Final = 30  # Pieces of a translation by random weights.
BEAMS: Final = (1, 4)
COLUMNS: Final = (
    *("model", "precision", "beam", "lines:,", "same:,=as the reference", "engine:,=as the engine"),
    "alone:,=the reference alone",
)
CPU: Final = torch.device("cpu")
Ids = list[list[int]]


def main(arguments: Sequence[str]) -> int:
    """Compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, help="lines of each text (default: all)")
    names = [*TRAINED, *JOINED, *ENSEMBLES, *RANDOM]
    parser.add_argument("--models", nargs="+", default=names, choices=names, metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="a smoke test: three lines, no record")
    options = parser.parse_args(arguments)
    count = 3 if options.quick else options.lines
    torch.set_num_threads(1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            for row in _rows_of(name, _lines(name, count), Path(folder)):
                rows.append(row)
                print(*row.values(), file=sys.stderr, flush=True)
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    if not options.quick:
        write_record({"rows": rows, "provenance": provenance(seed=SEED)}, RECORD)
    return 0


def _lines(name: str, count: int | None) -> list[str]:
    folder, file = TRAINED.get(name, CAPTIONS)
    lines = (corpus(folder) / file).read_text(encoding="utf-8").splitlines()
    if name in JOINED:
        lines = [" ".join(lines[start : start + JOINED_LINES]) for start in range(0, len(lines), JOINED_LINES)]
    return lines[:count]


def _rows_of(name: str, lines: Sequence[str], folder: Path) -> Iterator[dict[str, Any]]:
    if name in TRAINED:
        decoded = folder / f"{name}.pocketmt"
        pack(decoded, contents_of(read_model(name), "float32"))
        file = resolve_model(name)
        for precision in PRECISIONS:
            yield from _rows(name, precision, [load_network(str(file), precision, CPU)], lines, file)
        yield from _rows(f"{name}{DECODED}", "float32", [load_network(str(decoded), "float32", CPU)], lines, decoded)
        return
    for precision in PRECISIONS:
        if name in RANDOM:
            networks = [_random_network(name, precision)]
        else:
            members = ENSEMBLES.get(name) or (JOINED[name],)
            networks = [load_network(str(resolve_model(member)), precision, CPU) for member in members]
        yield from _rows(name, precision, networks, lines)


def _rows(
    name: str, precision: str, networks: Sequence[TranslationNetwork], lines: Sequence[str], file: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each beam; the file is that of a trained model."""
    translator = Translator("captions-en-de" if file is None else file, workers=1)
    limit = _short if name in RANDOM else default_maximum_length
    sources = [translator.encode(line) for line in lines]
    if name in RANDOM:
        sources = [[id % VOCABULARY for id in source] for source in sources]
    for beam in BEAMS:
        found = _found(networks, sources, beam, limit)
        expected = _reference(networks, sources, beam, limit, TOGETHER)
        row: dict[str, Any] = {"model": name, "precision": precision, "beam": beam, "lines": len(sources)}
        row |= {"same": _equal(found, expected), "engine": None, "alone": None}
        if file is not None and precision == "float32":
            row["engine"] = _equal(found, translator.translate_ids(sources, beam_size=beam))
        if beam == 1:
            row["alone"] = _equal(expected, _reference(networks, sources, beam, limit, 3 * TOGETHER))
        yield row


def _equal(found: Ids, expected: Ids) -> int:
    return sum(ours == theirs for ours, theirs in zip(found, expected, strict=True))


def _random_network(name: str, precision: str) -> TranslationNetwork:
    sizes, changes = RANDOM[name]
    torch.manual_seed(SEED)
    architecture = preset(sizes, VOCABULARY, **changes)
    network = make_network(architecture)
    with torch.no_grad():
        network.output_weight[architecture.eos_id].mul_(3.0)
    return in_precision(network, precision, CPU)


def _short(length: int) -> int:
    return min(LONGEST, length)


def _found(networks: Sequence[TranslationNetwork], sources: Ids, beam: int, limit: Callable[[int], int]) -> Ids:
    requests = [Request(source, limit(len(source))) for source in sources]
    found = Decoder(networks).translate(requests, SearchSettings(beam, scores=False))
    return [[*best[0].ids] for best in found]


def _reference(
    networks: Sequence[TranslationNetwork], sources: Ids, beam: int, limit: Callable[[int], int], together: int
) -> Ids:
    found: Ids = []
    for start in range(0, len(sources), together):
        some = sources[start : start + together]
        if beam == 1 and len(networks) == 1:
            found += greedy_search(networks[0], some, limit)
        else:
            found += [[*best[0].ids] for best in beam_search(networks, some, beam, maximum_length=limit)]
    return found


if __name__ == "__main__":
    sys.exit(run(main))
