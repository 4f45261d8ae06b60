"""PocketMT's decoder and CTranslate2 behind one function: translate sentences with a beam, some of them at a time."""

import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.gpu_decoding.workload import Workload
from pocketmt.decoding.batch import next_power_of_two
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.interop.ctranslate2.exporting import export
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.networks import make_network
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.device.precision import in_precision, load_network
from pocketmt.packing.model_file import pack
from pocketmt.text.vocabulary import Vocabulary

FOUR_BITS: Final = "logarithmic4"  # A model file in this form, as a GPU stores it.
COMPILED: Final = ", compiled"
# Translates sentences with a beam size, and a number of sentences that are decoded together.
Translate = Callable[[list[list[int]], int, int], object]


def ours(work: Workload, device: torch.device, precision: str) -> Translate:
    """Return our decoder in a precision of `in_precision`, whose layers may be compiled, or of a file of 4 bits."""
    if precision == FOUR_BITS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.pocketmt"
            about = ModelMetadata(source_language="en", target_language="de")
            pack(path, ModelContents(dict(work.weights), work.architecture, work.vocabulary, precision, about))
            network = load_network(str(path), "float32", device)
    else:
        network = make_network(work.architecture)
        network.load_state_dict(work.weights)
        network = in_precision(network, precision.removesuffix(COMPILED), device)
    if precision.endswith(COMPILED):
        for layer in network.layers_to_compile():
            layer.compile(dynamic=False)
    decoder = Decoder([network])
    longest = max(len(source) + 1 for source in work.sources)
    room = next_power_of_two(longest) if decoder.on_gpu else longest
    least = work.target_length or 0

    def translate(sources: list[list[int]], beam: int, together: int) -> object:
        decoder.batch_tokens = together * room * beam
        settings = SearchSettings(beam, min_length=least, scores=False, n_best=1)
        return decoder.translate([Request(source, work.limit(source)) for source in sources], settings)

    return translate


def ctranslate2(work: Workload, device: torch.device, precision: str) -> Translate:
    """Return CTranslate2 with the same weights; raises ConfigurationError if it has no such network."""
    # Imported by name, because this dependency of benchmarks is not installed when types are checked.
    package: Any = importlib.import_module("ctranslate2")
    with tempfile.TemporaryDirectory() as folder:
        export(work.weights, work.architecture, work.vocabulary, Path(folder))
        place = "cpu" if device.type == "cpu" else "cuda"
        translator = package.Translator(folder, device=place, compute_type=precision, intra_threads=1)
    pieces = Vocabulary(work.vocabulary).pieces(range(work.architecture.vocabulary_size))

    def translate(sources: list[list[int]], beam: int, together: int) -> object:
        return translator.translate_batch(
            [[pieces[id] for id in source] for source in sources],
            beam_size=beam,
            max_batch_size=together,
            batch_type="examples",
            min_decoding_length=work.target_length or 1,
            max_decoding_length=max(map(work.limit, sources)),
        )

    return translate
