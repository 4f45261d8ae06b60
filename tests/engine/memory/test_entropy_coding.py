"""Peak memory of a model file whose codes are entropy-coded, in a separate process."""

from pathlib import Path

import numpy as np

from pocketmt.model_file.manifest import check_manifest
from pocketmt.model_file.matrices.entropy_coding import CODING
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.models.presets import preset
from pocketmt.packing.entropy_coding import entropy_code
from pocketmt.quantization import Uniform
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.memory.peak import TRANSLATIONS, constant_vector, needs_proc, peak_of
from tests.engine.reference import manifest


@needs_proc
def test_peak_memory_of_base(tmp_path: Path, vocabulary: Vocabulary) -> None:
    """At most the size of the uncoded file plus 60 MB: codes are decoded matrix by matrix."""
    shape, path = preset("base", 32000), tmp_path / "base.pocketmt"
    drawn = np.clip(np.random.default_rng(1).normal(0, 30, 1 << 20), -127, 127).astype(np.int8)
    stored, matrices = {}, {}
    for name, sizes in shape.parameter_shapes().items():
        if len(sizes) == 2:
            codes = np.resize(drawn, sizes)  # repeated too far apart for deflate to notice
            scale = np.full(sizes[0], 0x3A00, dtype="<u2")  # 2^-11 as bfloat16
            stored[f"{name}.0.codes"] = StoredTensor("I8", sizes, codes.tobytes())
            stored[f"{name}.0.scale"] = StoredTensor("BF16", sizes[:1], scale.tobytes())
            matrices[name] = [[0, sizes[0]]]
        else:
            stored[name] = constant_vector(name, sizes)
    uncoded = sum(len(tensor.data) for tensor in stored.values())
    about = manifest(shape, vocabulary, [Uniform().stored_form()], matrices)
    groups = check_manifest(about).matrices
    coded = {}
    for name, tensor in stored.items():
        matrix, of_codes, _ = name.partition(".0.codes")
        held, each = entropy_code(name, tensor, groups[matrix][0]) if of_codes else (name, tensor)
        coded[held] = each
    write_model(path, {**about, "coding": CODING}, coded, vocabulary.model)
    assert path.stat().st_size < 0.95 * uncoded
    assert peak_of(TRANSLATIONS, path, "2") <= uncoded + 60_000_000
