"""An ensemble of three networks that translates many lines, and how busy the device is meanwhile."""

import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from typing import Any, Final

import torch

from benchmarks.gpu_decoding.workload import Workload
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.models.networks import make_network
from pocketmt.packing.device.model import LINES_AT_ONCE
from pocketmt.packing.device.precision import in_precision
from pocketmt.training.translations import LINES

CHUNK: Final = LINES_AT_ONCE // LINES * LINES  # Lines that are sorted by length together, as by `pocketmt distill`.
_QUERY: Final = ("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--loop-ms=500")


def time_ensemble(
    members: Sequence[Workload], lines: int, beam: int, precision: str, device: torch.device
) -> dict[str, Any]:
    """Translate lines, those of the first member again and again, with all members; returns a row of the record."""
    first = members[0]
    if device.type == "cuda":  # The peak of what was measured before would count.
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    networks = []
    for member in members:
        network = make_network(member.architecture)
        network.load_state_dict(member.weights)
        networks.append(in_precision(network, precision, device))
    decoder = Decoder(networks)
    settings = SearchSettings(beam, min_length=first.target_length or 0, scores=False, n_best=1)
    remaining = islice(cycle(first.sources), lines)
    began = time.perf_counter()
    pieces = 0
    with utilisation(device) as samples:
        while chunk := list(islice(remaining, CHUNK)):
            found = decoder.translate([Request(source, first.limit(source)) for source in chunk], settings)
            pieces += sum(len(best[0].ids) + 1 for best in found)
    seconds = time.perf_counter() - began
    return {
        "models": [member.model for member in members],
        "decoder": first.decoder,
        "precision": precision,
        "beam": beam,
        "lines": lines,
        "seconds": seconds,
        "lines_a_second": lines / seconds,
        "pieces_a_second": pieces / seconds,
        "utilisation_percent": statistics.fmean(samples) if samples else None,
        "peak_megabytes": torch.cuda.max_memory_allocated(device) / 1e6 if device.type == "cuda" else 0.0,
    }


@contextmanager
def utilisation(device: torch.device) -> Iterator[list[float]]:
    """Sample the share of time in percent in which the GPU computes, into the list; empty on the processor.

    The samples are there when the context has ended.
    """
    samples: list[float] = []
    if device.type != "cuda":
        yield samples
        return
    index = torch.cuda.current_device() if device.index is None else device.index
    process = subprocess.Popen([*_QUERY, f"--id={index}"], stdout=subprocess.PIPE, text=True)
    try:
        yield samples
    finally:
        process.terminate()
        output, _ = process.communicate()
        samples += [float(line) for line in output.splitlines() if line.strip().isdigit()]
