"""Model files with random weights in a given form."""

import math
import random
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.schemes.activations import EstimatedActivations, estimate_activations
from benchmarks.schemes.forms import Form
from pocketmt.compression.plan import row_groups
from pocketmt.model_file import Architecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.networks import make_network
from pocketmt.packing.contents import FLOAT32, ModelContents, PackingOptions
from pocketmt.packing.model_file import pack
from pocketmt.quantization import Scheme
from pocketmt.quantization.row_groups import QuantizedGroup, RowGroup, decoded_weights

# Rows that are sampled and quantized; larger matrices repeat them, which speeds up fitting but not products.
DRAWN_ROWS = 1024


class FileMaker:
    """Writes files of one network with random weights."""

    def __init__(self, architecture: Architecture, seed: int) -> None:
        self._architecture = architecture
        self._seed = seed
        torch.manual_seed(seed)
        self._state = make_network(architecture).state_dict()
        # In a vocabulary, frequent words are in no particular order.
        self._counts = random.Random(seed).sample(range(architecture.vocabulary_size), architecture.vocabulary_size)
        self._drawn: dict[tuple[str, int, int], QuantizedGroup] = {}
        self._vocabulary = made_up_vocabulary(architecture.vocabulary_size)

    def write(self, form: Form, path: Path) -> None:
        """Write a file of this form."""
        shapes = self._architecture.parameter_shapes()
        groups = row_groups(form.assignments, self._state, {"embedding.weight": self._counts})
        # `pack` quantizes vector groups, which are small.
        matrices = {name: each for name, each in groups.items() if name in shapes}
        quantized = {name: [self._group(group, shapes[name]) for group in each] for name, each in matrices.items()}
        estimated = EstimatedActivations()
        if form.activations is not None or form.input_quantization is not None:
            weights = decoded_weights(self._state, quantized, matrices)
            estimated = estimate_activations(form, self._architecture, weights, list(matrices), self._seed)
        schemes: dict[str, Any] = {**groups, "*": FLOAT32}
        contents = ModelContents(
            self._state,
            self._architecture,
            self._vocabulary,
            schemes,
            ModelMetadata(source_language="en", target_language="de", description="for benchmarks/schemes"),
            quantized,
            estimated.input_quantization,
            estimated.activations,
        )
        pack(path, contents, PackingOptions(entropy_coding=form.entropy_coding))

    def _group(self, group: RowGroup, shape: tuple[int, ...]) -> QuantizedGroup:
        rows, columns = shape[0] if group.rows is None else len(group.rows), shape[1]
        drawn = self._draw(group.scheme, min(rows, DRAWN_ROWS), columns)
        by_row = group.scheme.granularity == "row"
        parameters = {name: _repeat(each, rows) if by_row else each for name, each in drawn.parameters.items()}
        return QuantizedGroup(_repeat(drawn.codes, rows), parameters)

    def _draw(self, scheme: Scheme, rows: int, columns: int) -> QuantizedGroup:
        """Return quantized random weights, equal for equal arguments."""
        key = (repr(scheme), rows, columns)
        if key not in self._drawn:
            generator = torch.Generator().manual_seed(self._seed)
            weight = torch.randn(rows, columns, generator=generator) / math.sqrt(columns)
            parameters = scheme.fit(weight)
            self._drawn[key] = QuantizedGroup(scheme.assign(weight, parameters), parameters)
        return self._drawn[key]


def _repeat(tensor: Tensor, rows: int) -> Tensor:
    """Return `rows` rows by repeating those of a tensor."""
    return tensor[torch.arange(rows) % len(tensor)]
