"""Model files of random weights in a given form."""

import math
import random
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.schemes.activations import SeenActivations, see_activations
from benchmarks.schemes.forms import Form
from pocketmt.model_file import Architecture
from pocketmt.models.networks import make_network
from pocketmt.quantization import Scheme
from pocketmt.recipes.packing.model_file import FLOAT32, About, pack
from pocketmt.recipes.retraining.outcome import decoded_weights
from pocketmt.recipes.row_groups import QuantizedGroup, RowGroup

# Rows that are drawn and quantized; larger matrices repeat them, which no product is faster by, and fitting is.
DRAWN_ROWS = 1024


class FileMaker:
    """Writes files of one network of random weights."""

    def __init__(self, architecture: Architecture, seed: int) -> None:
        self._architecture = architecture
        self._seed = seed
        torch.manual_seed(seed)
        self._state = make_network(architecture).state_dict()
        # As words lie in a vocabulary: frequent ones anywhere.
        self._counts = random.Random(seed).sample(range(architecture.vocabulary_size), architecture.vocabulary_size)
        self._drawn: dict[tuple[str, int, int], QuantizedGroup] = {}
        self._vocabulary = made_up_vocabulary(architecture.vocabulary_size)

    def write(self, form: Form, path: Path) -> None:
        """Write a file of this form."""
        shapes = self._architecture.parameter_shapes()
        groups = {name: division.groups(self._counts) for name, division in form.matrices.items()}
        # Stacks of vectors, which are few, `pack` quantizes.
        matrices = {name: each for name, each in groups.items() if name in shapes}
        quantized = {name: [self._group(group, shapes[name]) for group in each] for name, each in matrices.items()}
        seen = SeenActivations()
        if form.activations is not None or form.products is not None:
            weights = decoded_weights(self._state, quantized, matrices)
            seen = see_activations(form, self._architecture, weights, list(matrices), self._seed)
        schemes: dict[str, Any] = {**groups, "*": FLOAT32}
        pack(
            path,
            self._state,
            self._architecture,
            self._vocabulary,
            schemes,
            About(source_language="en", target_language="de", description="for benchmarks/schemes"),
            quantized,
            products=seen.products,
            entropy_coding=form.entropy_coding,
            activations=seen.activations,
        )

    def _group(self, group: RowGroup, shape: tuple[int, ...]) -> QuantizedGroup:
        rows, columns = shape[0] if group.rows is None else len(group.rows), shape[1]
        drawn = self._draw(group.scheme, min(rows, DRAWN_ROWS), columns)
        by_row = group.scheme.granularity == "row"
        parameters = {name: _repeat(each, rows) if by_row else each for name, each in drawn.parameters.items()}
        return QuantizedGroup(_repeat(drawn.codes, rows), parameters)

    def _draw(self, scheme: Scheme, rows: int, columns: int) -> QuantizedGroup:
        """Return random weights, quantized; the same each time."""
        key = (repr(scheme), rows, columns)
        if key not in self._drawn:
            generator = torch.Generator().manual_seed(self._seed)
            weight = torch.randn(rows, columns, generator=generator) / math.sqrt(columns)
            parameters = scheme.fit(weight)
            self._drawn[key] = QuantizedGroup(scheme.assign(weight, parameters), parameters)
        return self._drawn[key]


def _repeat(tensor: Tensor, rows: int) -> Tensor:
    """Return `rows` rows of a tensor, from the first again after its last."""
    return tensor[torch.arange(rows) % len(tensor)]
