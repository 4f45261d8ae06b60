"""No scheme is unpacked in memory, which has the file's size and little more, for every scheme."""

import math
from pathlib import Path

import numpy as np
import pytest

from pocketmt.model_file.matrices.stored_forms import AffineForm, BinaryForm, LogarithmicForm
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.models.presets import preset
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.memory.peak import TRANSLATIONS, constant_vector, needs_proc, peak_of
from tests.engine.reference import manifest

EMBEDDING = "embedding.weight"
SCHEMES = {
    "bit planes": BinaryForm(2, "row"),
    "two levels": LogarithmicForm(1, "row", (1, -1)),
    "widened to nibbles": LogarithmicForm(3, "row", (8, 4, 2, 1, -8, -4, -2, -1)),
    "six bits": AffineForm(6, "row"),
    "four levels": LogarithmicForm(2, "row", (2, 1, -2, -1)),
}


@needs_proc
@pytest.mark.parametrize(("name", "plain"), [*((name, None) for name in SCHEMES), ("two levels", EMBEDDING)])
def test_peak_memory_of_base(tmp_path: Path, vocabulary: Vocabulary, name: str, plain: str | None) -> None:
    """Every matrix but one, which is in float32, has the scheme."""
    path, scheme = tmp_path / "base.pocketmt", SCHEMES[name]
    shape = preset("base", 32000)
    draw = np.random.default_rng(1)
    stored, matrices = {}, {}
    for matrix, sizes in shape.parameter_shapes().items():
        if matrix == plain:
            stored[matrix] = StoredTensor("F32", sizes, draw.normal(0, 0.05, sizes).astype("<f4").tobytes())
        elif len(sizes) == 2:
            for suffix, (dtype, form) in scheme.tensors(*sizes).items():
                half = np.full(form, 0x3A00, dtype="<u2")  # 2^-11 as bfloat16
                data = draw.bytes(math.prod(form)) if dtype == "U8" else half.tobytes()
                stored[f"{matrix}.0.{suffix}"] = StoredTensor(dtype, form, data)
            matrices[matrix] = [[0, sizes[0]]]
        else:
            stored[matrix] = constant_vector(matrix, sizes)
    write_model(path, manifest(shape, vocabulary, [scheme.to_json()], matrices), stored, vocabulary.model)
    assert peak_of(TRANSLATIONS, path, "2") <= path.stat().st_size + 60_000_000
