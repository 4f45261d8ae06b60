"""Writes a network in all forms for all engines: our model files, CTranslate2's folders, Marian's folder."""

import json
import os
import random
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy
from torch import Tensor

from benchmarks.peer.child_process import ROOT, child_environment
from benchmarks.peer.marian_weights import write_marian_model
from benchmarks.peer.shortlists import marian_table
from benchmarks.peer.sides import marian_conversions
from benchmarks.recipe_files import find_recipe
from pocketmt.compression.planning import make_plan
from pocketmt.errors import ConfigurationError
from pocketmt.interop.ctranslate2.vocabulary_map import MAP, vocabulary_map
from pocketmt.model_file import Architecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.packing.contents import FLOAT32, ModelContents, Schemes
from pocketmt.packing.model_file import pack
from pocketmt.packing.scheme_choice import presets
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.quantization.affine import Affine
from pocketmt.text.vocabulary import Vocabulary

MIXED: Final = "mixed2.6"  # binary codes of 1 to 4 bits by sub-layer and word frequency (Chung et al. 2020)
MIXED_RECIPE: Final = "chung/mixed-2.6-bits"
AFFINE6: Final = "affine6"  # 6 bits with a minimum for each row (Prato et al. 2020)
FORMS: Final = (*presets(), MIXED)  # float32, uniform8, uniform7, logarithmic4, mixed2.6
PEER_FORMS: Final = ("float32", "int8")
CTRANSLATE2_REMEDY: Final = "pip install -r benchmarks/requirements.lock, or name another Python by --peer-python"
MARIAN_REMEDY: Final = "`make marian` creates an environment with Marian, for --marian-python"


@dataclass(frozen=True)
class Network:
    """A network that all engines run."""

    weights: Mapping[str, Tensor]
    architecture: Architecture
    vocabulary: bytes  # a serialized SentencePiece model
    shortlist: Shortlist | None  # None: only measured without

    def pieces(self) -> list[str]:
        """Return the pieces of the vocabulary in the order of ids."""
        loaded = Vocabulary(self.vocabulary)
        return loaded.pieces(range(len(loaded)))


def write_ours(network: Network, folder: Path, forms: Sequence[str] = FORMS) -> dict[str, Path]:
    """Write our model files without a shortlist; return form -> file."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {form: folder / f"{form}.pocketmt" for form in forms}
    metadata = ModelMetadata(source_language="en", target_language="de", description="for benchmarks/peer")
    for form, path in files.items():
        schemes = _schemes(form, network.architecture)
        pack(path, ModelContents(network.weights, network.architecture, network.vocabulary, schemes, metadata))
    return files


def _schemes(form: str, architecture: Architecture) -> Schemes:
    if form == MIXED:
        return _mixed(architecture)
    return {"*": Affine(bits=6)} if form == AFFINE6 else form


def _mixed(architecture: Architecture) -> Schemes:
    """Return the row groups of the mixed form, for a vocabulary in random order of frequency."""
    counts = random.Random(0).sample(range(architecture.vocabulary_size), architecture.vocabulary_size)
    matrices = make_plan(find_recipe(MIXED_RECIPE), architecture).stages[-1].matrices
    rest = {name: FLOAT32 for name, shape in architecture.parameter_shapes().items() if len(shape) == 2}
    return {**rest, **{name: each.row_groups(counts) for name, each in matrices.items()}}


def shortlisted_ours(files: Mapping[str, Path], shortlist: Shortlist) -> dict[str, Path]:
    """Write copies of the files with a shortlist."""
    found = {form: path.with_name(f"{form}-shortlist.pocketmt") for form, path in files.items()}
    for form, path in found.items():
        add_shortlist(files[form], shortlist, path)
    return found


def write_ctranslate2(network: Network, folder: Path, python: str) -> dict[str, Path]:
    """Export to CTranslate2 with the given Python; return form -> folder. ConfigurationError if that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: tensor.numpy() for name, tensor in network.weights.items()}
    exchange = folder / "weights.npz"
    numpy.savez(
        exchange,
        architecture=numpy.array(json.dumps(network.architecture.to_json())),
        vocabulary=numpy.frombuffer(network.vocabulary, dtype=numpy.uint8),
        **arrays,  # type: ignore[arg-type]
    )
    _run(
        [python, "-m", "benchmarks.peer.run_ctranslate2", "export", str(exchange), str(folder)],
        python,
        "export to CTranslate2",
        CTRANSLATE2_REMEDY,
    )
    exchange.unlink()
    return {form: folder / form for form in PEER_FORMS}


def shortlisted_ctranslate2(
    folders: Mapping[str, Path], shortlist: Shortlist, pieces: Sequence[str]
) -> dict[str, Path]:
    """Write copies of the folders with a shortlist."""
    found = {form: folder.with_name(f"{form}-shortlist") for form, folder in folders.items()}
    content = vocabulary_map(shortlist, pieces, pieces)
    for form, folder in found.items():
        shutil.copytree(folders[form], folder, copy_function=os.link)
        (folder / MAP).write_text(content, encoding="utf-8")
    return found


def write_marian(network: Network, folder: Path, python: str) -> tuple[int, int] | None:
    """Write Marian's folder, converted with the given Python; return the numbers of `marian_table`, if any.

    Raises ConfigurationError if Marian does not support the network or shortlist, or the conversion fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: tensor.numpy() for name, tensor in network.weights.items()}
    pieces = network.pieces()
    write_marian_model(arrays, network.architecture, pieces, folder)
    for form in marian_conversions():
        files = ["--from", str(folder / "model.npz"), "--to", str(folder / f"{form}.bin")]
        _run(
            [python, "-m", "pymarian", "convert", *files, "--gemm-type", form],
            python,
            "convert for Marian",
            MARIAN_REMEDY,
        )
    if network.shortlist is None:
        return None
    table, first, top_k = marian_table(network.shortlist, pieces)
    (folder / "shortlist.txt").write_text(table, encoding="utf-8")
    return first, top_k


def _run(command: Sequence[str], python: str, task: str, remedy: str) -> None:
    environment = child_environment({}, python)
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        last = (answer.stderr.strip() or f"exit status {answer.returncode}").splitlines()[-1]
        raise ConfigurationError(f"{python} could not {task} ({last}): {remedy}")
