"""Compares the decoder for GPUs with the reference search: lines that have the same translation.

    python -m benchmarks.device_parity
    python -m benchmarks.device_parity --quick
    python -m benchmarks.device_parity --device cuda
    python -m benchmarks.device_parity --device torch-cpu --quick

The decoder runs on the processor, or with `--device cuda` on a GPU.

Bundled models translate the test text of their corpus, greedy and with beam 4, in every precision, and in float32
also with decoded weights. Two of them together are an ensemble. Networks of other architectures translate Multi30k's
test text of 2016: their random weights end sentences early now and then. Lines of several sentences, joined, have
translations so long that their places in memory grow. The reference is `pocketmt.models.search` on
the same networks, with batches in the order of the text. In float32, trained models are also compared with the native
engine on the same file. Networks that round their activations have sums in double precision on the processor, so that
lines differ by faults alone. The native engine adds in float32: a line may differ from its one where two pieces are
nearly equal. How many lines differ for the reference itself, with batches of another size, is in another column. Writes
benchmarks/records/device-parity.json and prints its rows.

With `--device cuda` there are fewer rows and lines, and the reference search runs on the GPU, too, on the same
networks. Where nothing is rounded (decoded weights and random weights, in float32), lines are also compared with the
reference on the processor. Three more cases are for GPUs:

- one decoder is called with different numbers of sentences, so that it uses its places again;
- two models translate at the same time in two threads, each compared with itself alone;
- networks with random weights have translations much longer than their sources, so that places move to longer tensors.
  A GPU begins with about as many positions as the longest source of a batch has, at least 32.

The GPU adds in float32 or 16 bits, in an order that depends on the shapes, so some lines may differ; compare with the
column "the reference alone". Writes benchmarks/records/device-parity-gpu.json after each row; "complete" in the record
says whether all were measured. `--device torch-cpu` runs these cases on the processor, without a record.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from threading import Barrier
from typing import Any, Final

import torch

from benchmarks.command import run
from benchmarks.data import ROOT, corpus
from benchmarks.gpu_record import about_gpu
from benchmarks.record_files import GrowingRecord
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings, Translation
from pocketmt.decoding.slots import Slots, SlotShape
from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.models.search import beam_search, default_maximum_length, greedy_search
from pocketmt.packing.contents import contents_of
from pocketmt.packing.decoded import read_model
from pocketmt.packing.device.model import torch_device
from pocketmt.packing.device.precision import PRECISIONS, in_precision, load_network
from pocketmt.packing.model_file import pack

RECORD: Final = ROOT / "benchmarks" / "records" / "device-parity.json"
GPU_RECORD: Final = ROOT / "benchmarks" / "records" / "device-parity-gpu.json"
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
CALLS: Final = {"captions-en-de, calls of different sizes": "captions-en-de"}
CALL_SIZES: Final = (100, 1, 20, 100, 5, 64, 2, 100)  # Sentences of each call of one decoder.
BESIDE: Final = {"two threads": ("captions-en-de", "everyday-en-de")}
LONG: Final = {f"{name}, long translations": name for name in ("self-attention, norms before", "SSRU")}
# What is translated on a GPU: the number of lines, and the precisions.
FOR_GPUS: Final[dict[str, tuple[int, tuple[str, ...]]]] = {
    "captions-en-de": (
        300,
        ("float32", "float16", "bfloat16", "packed_float16", "packed_bfloat16", "int8_float16"),
    ),
    "everyday-en-de": (300, ("float32", "float16", "packed_bfloat16")),
    "captions-en-de-8bit": (300, ("float32", "packed_float16")),
    **dict.fromkeys(JOINED, (60, ("float32", "float16"))),
    **dict.fromkeys(CALLS, (150, ("float32", "float16"))),
    **dict.fromkeys(BESIDE, (300, ("float32", "float16"))),
    **dict.fromkeys(ENSEMBLES, (300, ("float32", "float16"))),
    **dict.fromkeys(LONG, (100, ("float32", "bfloat16"))),
    **dict.fromkeys(RANDOM, (100, ("float32", "bfloat16", "int8_float16"))),
}
VOCABULARY: Final = 4000
# Sentences of a batch of the reference search, in the order of the text, and of the batches of another size.
TOGETHER: Final = (20, 60)
TOGETHER_ON_GPU: Final = (300, 20)
LONGEST: Final = 30  # Pieces of a translation by random weights.
BEAMS: Final = (1, 4)
COLUMNS: Final = (
    *("model", "precision", "beam", "lines:,", "same:,=as the reference", "engine:,=as the engine"),
    "alone:,=the reference alone",
)
GPU_COLUMNS: Final = (
    *COLUMNS,
    *("processor:,=as the reference on the processor", "itself:,=as itself alone", "longest=longest in pieces"),
    "moves=moves to longer tensors",
)
CPU: Final = torch.device("cpu")
Ids = list[list[int]]
Limit = Callable[[int], int]


@dataclass(frozen=True)
class Case:
    """What is translated.

    Attributes:
        name: of the networks.
        precision: of the networks.
        device: of the networks.
        for_gpus: whether it is one of the cases for GPUs, which may also run on the processor.
        folder: of files with decoded weights.
        lines: of the text.
    """

    name: str
    precision: str
    device: torch.device
    for_gpus: bool
    folder: Path
    lines: Sequence[str]


def main(arguments: Sequence[str]) -> int:
    """Compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, help="lines of each text (default: all, fewer with --device)")
    names = [*TRAINED, *JOINED, *ENSEMBLES, *RANDOM]
    all_names = [*dict.fromkeys([*names, *FOR_GPUS])]
    parser.add_argument("--models", nargs="+", choices=all_names, metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="a smoke test: three lines, no record")
    parser.add_argument("--output", type=Path, help="the record (default: in benchmarks/records)")
    parser.add_argument("--device", choices=("cuda", "torch-cpu"), help="run the cases for GPUs on a GPU or here")
    options = parser.parse_args(arguments)
    for_gpus = options.device is not None
    device = torch_device(options.device) if for_gpus else CPU
    chosen = options.models or (list(FOR_GPUS) if for_gpus else names)
    unknown = [name for name in chosen if name not in (FOR_GPUS if for_gpus else names)]
    if unknown:
        parser.error(f"--models: {unknown[0]!r} is {'not' if for_gpus else 'only'} compared with --device")
    torch.set_num_threads(1)
    whole = options.models is None and options.lines is None
    path = options.output or (GPU_RECORD if device.type == "cuda" else None if for_gpus else RECORD)
    record = GrowingRecord(None if options.quick else path, about_gpu("benchmarks.device_parity", device, SEED))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in _cases(chosen, device, for_gpus, 3 if options.quick else options.lines, Path(folder)):
            for row in _rows_beside(case) if case.name in BESIDE else _rows(case):
                rows.append(row)
                print(*row.values(), file=sys.stderr, flush=True)
                record.write({"rows": rows})
    record.write({"rows": rows}, complete=whole)
    print(plain_table(rows, [Column.parse(each) for each in (GPU_COLUMNS if for_gpus else COLUMNS)]))
    return 0


def _cases(
    names: Sequence[str], device: torch.device, for_gpus: bool, count: int | None, folder: Path
) -> Iterator[Case]:
    """Yield the cases of some names, with a number of lines of each text; None: as many as usual."""
    for name in names:
        usual, precisions = FOR_GPUS[name] if for_gpus else (None, PRECISIONS)
        lines = _lines(name, usual if count is None else count)
        for precision in precisions:
            yield Case(name, precision, device, for_gpus, folder, lines)
        if name in TRAINED:
            yield Case(f"{name}{DECODED}", "float32", device, for_gpus, folder, lines)


def _lines(name: str, count: int | None) -> list[str]:
    folder, file = TRAINED.get(name, CAPTIONS)
    lines = (corpus(folder) / file).read_text(encoding="utf-8").splitlines()
    if name in JOINED:
        lines = [" ".join(lines[start : start + JOINED_LINES]) for start in range(0, len(lines), JOINED_LINES)]
    return lines[:count]


def _rows(case: Case) -> Iterator[dict[str, Any]]:
    """Yield a row for each beam."""
    name = case.name
    networks = _networks(case, case.device)
    limit = _short if name in RANDOM else default_maximum_length
    translator, sources = _sources(case)
    processor = _networks(case, CPU) if case.for_gpus and _rounds_nothing(case) else None
    together, other = TOGETHER_ON_GPU if case.for_gpus else TOGETHER
    sizes = CALL_SIZES if name in CALLS else (len(sources),)

    def reference(models: Sequence[TranslationNetwork], beam: int, together: int) -> Ids:
        expected = _reference(models, sources, beam, limit, together)
        return [each for part in _parts(expected, sizes) for each in part]

    for beam in BEAMS:
        decoder = CountingDecoder(networks)
        found = [each for part in _parts(sources, sizes) for each in _found(decoder, part, beam, limit)]
        expected = reference(networks, beam, together)
        row = _row(name, case.precision, beam, len(found))
        row["same"] = _equal(found, expected)
        if _has_engine(case):
            row["engine"] = _equal(found, translator.translate_ids(sources, beam_size=beam))
        if beam == 1:
            row["alone"] = _equal(expected, reference(networks, beam, other))
        if case.for_gpus:
            row |= {"processor": None, "itself": None, "longest": max(map(len, found)), "moves": decoder.moves}
        if processor is not None:
            row["processor"] = _equal(found, reference(processor, beam, together))
        yield row


def _rows_beside(case: Case) -> Iterator[dict[str, Any]]:
    """Yield rows of two models that translate at the same time in two threads, each compared with itself alone."""
    names = BESIDE[case.name]
    cases = [replace(case, name=name, lines=_lines(name, len(case.lines))) for name in names]
    networks = [_networks(each, each.device) for each in cases]
    sources = [_sources(each)[1] for each in cases]
    barrier = Barrier(len(cases))

    def found(number: int, beam: int) -> Ids:
        return _found(Decoder(networks[number]), sources[number], beam, default_maximum_length)

    def found_beside(number: int, beam: int) -> Ids:
        barrier.wait()
        return found(number, beam)

    for beam in BEAMS:
        alone = [found(number, beam) for number in range(len(cases))]
        with ThreadPoolExecutor(len(cases)) as threads:
            futures = [threads.submit(found_beside, number, beam) for number in range(len(cases))]
            beside = [future.result() for future in futures]
        for name, ours, expected in zip(names, beside, alone, strict=True):
            row = _row(f"{name}, {case.name}", case.precision, beam, len(ours))
            row |= {"processor": None, "itself": _equal(ours, expected), "longest": max(map(len, ours)), "moves": None}
            yield row


def _row(name: str, precision: str, beam: int, lines: int) -> dict[str, Any]:
    row = {"model": name, "precision": precision, "beam": beam, "lines": lines}
    return row | dict.fromkeys(("same", "engine", "alone"))


def _has_engine(case: Case) -> bool:
    """Return whether lines are compared with the native engine, on the same model file."""
    if case.precision != "float32" or _is_random(case) or case.name in ENSEMBLES or case.name in CALLS:
        return False
    return case.for_gpus or case.name not in JOINED


def _rounds_nothing(case: Case) -> bool:
    return case.precision == "float32" and (_is_random(case) or case.name.endswith(DECODED))


def _is_random(case: Case) -> bool:
    return case.name in RANDOM or case.name in LONG


def _networks(case: Case, device: torch.device) -> list[TranslationNetwork]:
    if _is_random(case):
        return [_random_network(LONG.get(case.name, case.name), case.precision, device)]
    members = ENSEMBLES.get(case.name) or (case.name,)
    return [load_network(str(_file(name, case.folder)), case.precision, device) for name in members]


def _file(name: str, folder: Path) -> Path:
    """Return a model file; one with decoded weights is written to the folder."""
    if not name.endswith(DECODED):
        return resolve_model((JOINED | CALLS).get(name, name))
    file = folder / f"{name}.pocketmt"
    if not file.exists():
        pack(file, contents_of(read_model(name.removesuffix(DECODED)), "float32"))
    return file


def _sources(case: Case) -> tuple[Translator, Ids]:
    """Return the native engine, and the ids of each line."""
    bundled = _is_random(case) or case.name in ENSEMBLES
    translator = Translator("captions-en-de" if bundled else _file(case.name, case.folder), workers=1)
    sources = [translator.encode(line) for line in case.lines]
    if _is_random(case):
        sources = [[id % VOCABULARY for id in source] for source in sources]
    return translator, sources


def _equal(found: Ids, expected: Ids) -> int:
    return sum(ours == theirs for ours, theirs in zip(found, expected, strict=True))


def _random_network(name: str, precision: str, device: torch.device) -> TranslationNetwork:
    sizes, changes = RANDOM[name]
    torch.manual_seed(SEED)
    architecture = preset(sizes, VOCABULARY, **changes)
    network = make_network(architecture)
    with torch.no_grad():
        network.output_weight[architecture.eos_id].mul_(3.0)
    return in_precision(network, precision, device)


def _short(length: int) -> int:
    return min(LONGEST, length)


class CountingDecoder(Decoder):
    """A decoder that counts the moves of places to longer tensors.

    Attributes:
        moves: their number.
    """

    def __init__(self, networks: Sequence[TranslationNetwork]) -> None:
        super().__init__(networks)
        self.moves = 0
        self._shapes: list[SlotShape] = []

    def translate(
        self, requests: Sequence[Request], settings: SearchSettings, stopped: Callable[[], bool] = lambda: False
    ) -> list[list[Translation]]:
        """Translate as `Decoder` does."""
        self._shapes = []
        found = super().translate(requests, settings, stopped)
        # A new batch has shorter sources, and does not begin with longer tensors.
        self.moves += sum(before.target < after.target for before, after in pairwise(self._shapes))
        return found

    def slots(self, settings: SearchSettings, shape: SlotShape) -> Slots:
        """Return places without sentences."""
        self._shapes.append(shape)
        return super().slots(settings, shape)


def _found(decoder: Decoder, sources: Ids, beam: int, limit: Limit) -> Ids:
    requests = [Request(source, limit(len(source))) for source in sources]
    return [[*best[0].ids] for best in decoder.translate(requests, SearchSettings(beam, scores=False))]


def _parts(ids: Ids, sizes: Sequence[int]) -> list[Ids]:
    """Return parts of these sizes, in turn from the beginning and from the end, so that places get other sentences."""
    return [ids[:size] if number % 2 == 0 else ids[-size:] for number, size in enumerate(sizes)]


def _reference(networks: Sequence[TranslationNetwork], sources: Ids, beam: int, limit: Limit, together: int) -> Ids:
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
