"""Compares imported Marian models with Marian: greedy translations and those of beam 4, and their scores.

    make marian
    pocketmt train benchmarks/four_engines/student.toml --output runs/student
    python -m benchmarks.marian_models --run runs/student --sentences 1000

The run is exported to Marian's format, which Marian and `pocketmt import` read. The other models have random weights,
the vocabulary of the run, and networks that only Marian has. Sentences are those of Multi30k. Writes
benchmarks/records/marian-models.json.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.exports.run_marian import TARGET_PIECES
from benchmarks.exports.runtimes import marian_lines
from benchmarks.record_files import write_record
from pocketmt.engine import Hypothesis, Translator
from pocketmt.evaluation.records import provenance
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import of_array
from pocketmt.interop.formats import FORMATS
from pocketmt.interop.importing import import_model
from pocketmt.model_file import TransformerArchitecture, open_model
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.packing.run import pack_run

RECORD: Final = Path(__file__).resolve().parent / "records" / "marian-models.json"
BEAM_SIZES: Final = (1, 4)
SIZES: Final[Mapping[str, Any]] = {
    "model_dimension": 64,
    "attention_dimension": 64,
    "feed_forward_dimension": 128,
    "attention_heads": 4,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "decoder_autoregression": "self_attention",
}
NETWORKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "self-attention": {},
    "self-attention, pre-norm": {"norm": "pre"},
    "self-attention, swish": {"activation": "swish"},
    "self-attention, gelu": {"activation": "gelu"},
    "SSRU": {"decoder_autoregression": "ssru"},
    "SSRU, pre-norm": {"decoder_autoregression": "ssru", "norm": "pre"},
    "SSRU, tied layers": {"decoder_autoregression": "ssru", "tied_decoder_layers": True},
    "average attention": {"decoder_autoregression": "average_attention", "average_attention_dimension": 128},
    "average attention, pre-norm": {
        "decoder_autoregression": "average_attention",
        "average_attention_dimension": 128,
        "norm": "pre",
    },
    "average attention, no gate": {
        "decoder_autoregression": "average_attention",
        "average_attention_dimension": 128,
        "average_attention_gate": False,
    },
}
EOS_BIAS: Final = 2.0  # so that translations by random weights end


def main(arguments: Sequence[str]) -> int:
    """Compare, and write the record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="a run of a network that Marian has")
    parser.add_argument("--sentences", type=int, default=1000, help="default: %(default)s")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance(seed=1)
    lines = (corpus("multi30k") / "train.en").read_text(encoding="utf-8").splitlines()[: options.sentences]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        packed = Path(name) / "trained.pocketmt"
        pack_run(options.run, "float32", packed)
        with open_model(packed) as file:
            trained = foreign_model_of(file)
            rows += _compare("trained student", trained, lines, Path(name) / "trained")
            for index, (network, changes) in enumerate(NETWORKS.items()):
                random = _random(trained, {**SIZES, **changes})
                rows += _compare(f"{network}, random weights", random, lines, Path(name) / str(index))
    write_record({"rows": rows, "provenance": origin}, options.output)
    return 0


def _random(trained: ForeignModel, fields: Mapping[str, Any]) -> ForeignModel:
    architecture = trained.architecture
    assert isinstance(architecture, TransformerArchitecture)
    architecture = replace(architecture, **fields)
    random = np.random.default_rng(1)
    tensors = {
        name: np.float32(1.0 / shape[-1] ** 0.5 if len(shape) == 2 else 0.3)
        * random.standard_normal(shape, dtype=np.float32)
        + np.float32(name.endswith("norm.weight"))
        for name, shape in architecture.parameter_shapes().items()
    }
    tensors["output.bias"][architecture.eos_id] += EOS_BIAS
    return replace(
        trained, architecture=architecture, tensors={name: of_array(values) for name, values in tensors.items()}
    )


def _compare(name: str, model: ForeignModel, lines: Sequence[str], folder: Path) -> Iterable[dict[str, Any]]:
    write_folder(model, FORMATS["marian"], folder)
    again = folder.with_suffix(".pocketmt")
    import_model(folder, again)
    translator = Translator(again, workers=1)
    for beam_size in BEAM_SIZES:
        theirs = marian_lines(folder, lines, beam_size)
        ours = _translate(translator, lines, beam_size)
        same = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.text == b["text"]]
        row = {
            "model": name,
            "beam_size": beam_size,
            "sentences": len(lines),
            "same": len(same),
            "mean_words": float(np.mean([len(each["text"].split()) for each in theirs])),
            "largest_difference_of_scores": max((abs(a.score - b["score"]) for a, b in same), default=None),
        }
        print(row, flush=True)
        yield row


def _translate(translator: Translator, lines: Sequence[str], beam_size: int) -> list[Hypothesis]:
    """Translate with Marian's limit on the length."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        by_length[len(translator.tokenizer.encode(line)) + 1].append(place)
    found: dict[int, Hypothesis] = {}
    for length, places in by_length.items():
        results = translator.translate_n_best(
            [lines[place] for place in places],
            beam_size=beam_size,
            n_best=1,
            max_length=TARGET_PIECES * length,
            split=False,
            check=False,
        )
        found |= {place: best for place, [best] in zip(places, results, strict=True)}
    return [found[place] for place in range(len(lines))]


if __name__ == "__main__":
    sys.exit(run(main))
