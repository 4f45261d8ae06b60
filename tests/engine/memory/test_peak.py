"""The engine's memory: one copy of the model, and little more."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from pocketmt.model_file import Architecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.models.presets import preset
from pocketmt.packing.contents import FLOAT32, ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.quantization import Uniform
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.memory.peak import TRANSLATIONS, constant_vector, needs_proc, peak_of
from tests.engine.reference import manifest, random_network


@needs_proc
def test_peak_memory_of_base_in_8_bit(tmp_path: Path, vocabulary: Vocabulary) -> None:
    path = tmp_path / "base.pocketmt"
    shape = preset("base", 32000)
    draw = np.random.default_rng(1)
    stored, matrices = {}, {}
    for name, sizes in shape.parameter_shapes().items():
        if len(sizes) == 2:
            codes = draw.integers(-127, 128, sizes, dtype=np.int8)
            scale = np.full(sizes[0], 0x3A00, dtype="<u2")  # 2^-11 as bfloat16
            stored[f"{name}.0.codes"] = StoredTensor("I8", sizes, codes.tobytes())
            stored[f"{name}.0.scale"] = StoredTensor("BF16", sizes[:1], scale.tobytes())
            matrices[name] = [[0, sizes[0]]]
        else:
            stored[name] = constant_vector(name, sizes)
    write_model(path, manifest(shape, vocabulary, [Uniform().stored_form()], matrices), stored, vocabulary.model)
    assert peak_of(TRANSLATIONS, path, "20") <= path.stat().st_size + 60_000_000


LONG_PROGRAM = """
import sys
from pocketmt.engine.loading import native_model
from pocketmt.engine import _native
from pocketmt.model_file import open_model

with open_model(sys.argv[1]) as file:
    model = native_model(file)
def translate(length):
    options = _native.SearchOptions(
        beam_size=4, n_best=1, length_penalty=1.0, max_length=length, min_length=length, scores=True
    )
    model.translate([[5, 6, 7]], options)
translate(10)
before = peak()
translate(6000)
print(peak() - before)
"""


@needs_proc
@pytest.mark.parametrize(
    "architecture",
    [
        preset("lstm.tiny", 64, recurrent_dimension=256),
        preset("6-1.nano", 64, model_dimension=256, encoder_layers=1, decoder_layers=4, feed_forward_dimension=8),
    ],
    ids=["lstm", "ssru"],
)
def test_a_recurrent_decoder_keeps_only_the_last_positions(
    tmp_path: Path, vocabulary: Vocabulary, architecture: Architecture
) -> None:
    path = tmp_path / "model.pocketmt"
    architecture = dataclasses.replace(architecture, vocabulary_size=len(vocabulary))
    network = random_network(architecture)
    metadata = ModelMetadata(source_language="en", target_language="de")
    pack(path, ModelContents(network.state_dict(), architecture, vocabulary.model, {"*": FLOAT32}, metadata))
    # The states of all 4 x 6,000 positions would take 48 MB and more; a table of 6,000 sinusoids takes 6.
    assert peak_of(LONG_PROGRAM, path) < 20_000_000
