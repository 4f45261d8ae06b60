"""Every scheme through a model file: the weights that are read equal those that the scheme decodes."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.matrices.stored_forms import form_from_json
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.encoding import encode_matrix
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import (
    Affine,
    BinaryCode,
    Codebook,
    FixedBinarization,
    FixedPoint,
    FlexibleBinarization,
    Logarithmic,
    Scheme,
    Uniform,
)
from pocketmt.quantization.frequency_clusters import frequency_clusters
from pocketmt.quantization.row_groups import QuantizedGroup, RowGroup, decode, quantize
from tests.small_network import PIECES, architecture, random_transformer

METADATA = ModelMetadata(source_language="en", target_language="de")
EMBEDDING = "embedding.weight"
SCHEMES: list[Scheme] = [
    Uniform(),
    *(Affine(bits, each) for bits in (4, 6, 8) for each in ("row", "matrix")),
    *(Logarithmic(each, bits) for bits in (1, 2, 3, 4) for each in ("row", "matrix")),
    *(Codebook(bits) for bits in (1, 2, 3, 4, 8)),
    FixedPoint(),
    FixedBinarization(),
    FlexibleBinarization(),
    *(BinaryCode(bits) for bits in (1, 2, 3, 4)),
]


@pytest.fixture(scope="module")
def state() -> dict[str, Tensor]:
    return random_transformer(architecture()).state_dict()


def packed(
    folder: Path,
    state: dict[str, Tensor],
    vocabulary: bytes,
    groups: Mapping[str, tuple[RowGroup, ...]],
    quantized: dict[str, list[QuantizedGroup]] | None = None,
) -> Path:
    path = folder / "model.pocketmt"
    pack(path, ModelContents(state, architecture(), vocabulary, {**groups, "*": "float32"}, METADATA, quantized or {}))
    return path


def test_every_scheme_comes_back_from_the_file(tmp_path: Path, state: dict[str, Tensor], vocabulary: bytes) -> None:
    """Three at a time: one a matrix of 14 or 21 columns, of which every width but 8 bits leaves bits over."""
    names = [EMBEDDING, "encoder.layers.0.feed_forward.outer.weight", "decoder.layers.0.feed_forward.inner.weight"]
    for start in range(0, len(SCHEMES), 3):
        chosen = {name: (RowGroup(scheme),) for name, scheme in zip(names, SCHEMES[start:], strict=False)}
        weights = load_reference(packed(tmp_path, state, vocabulary, chosen))
        for name, groups in chosen.items():
            expected = decode(groups, quantize(groups, state[name]))
            module = weights.get_submodule(name.removesuffix(".weight"))
            weight = module.weight if name == EMBEDDING else module.weight()  # type: ignore[operator]
            assert torch.equal(weight, expected), groups[0].scheme  # type: ignore[arg-type]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_schemes_parameters_are_the_tensors_of_its_stored_form(scheme: Scheme) -> None:
    weight = torch.randn(3, 10)
    forms = form_from_json(scheme.stored_form(), "here").tensors(3, 10)
    assert forms.keys() - {"codes", "planes"} == scheme.fit(weight).keys()
    encoded = encode_matrix("X", weight, [RowGroup(scheme)])
    assert {name: (tensor.dtype, tensor.shape) for name, tensor in encoded.tensors.items()} == {
        f"X.0.{suffix}": form for suffix, form in forms.items()
    }


@pytest.mark.parametrize("groups", [2, 3, 4, 5, 16])
def test_rows_of_a_group_may_be_anywhere(
    tmp_path: Path, state: dict[str, Tensor], vocabulary: bytes, groups: int
) -> None:
    order = torch.randperm(PIECES, generator=torch.Generator().manual_seed(groups)).tolist()
    sizes = itertools.cycle(SCHEMES[::2])
    divided = tuple(RowGroup(next(sizes), tuple(sorted(order[index::groups]))) for index in range(groups))
    path = packed(tmp_path, state, vocabulary, {EMBEDDING: divided})
    reference = load_reference(path)
    with open_model(path) as file:
        indices = file.group_of_row(EMBEDDING)
        assert indices is not None
        assert [row for row, index in enumerate(indices) if index == 1] == list(divided[1].rows or ())
    assert torch.equal(reference.embedding.weight, decode(divided, quantize(divided, state[EMBEDDING])))
    x = torch.randn(5, 14)
    together = reference.logits(x)
    for index, group in enumerate(divided):
        assert group.rows is not None
        alone = {EMBEDDING: (RowGroup(group.scheme, group.rows), RowGroup(Uniform(), _others(group.rows)))}
        other = load_reference(packed(tmp_path, state, vocabulary, alone))
        assert torch.equal(other.logits(x)[:, list(group.rows)], together[:, list(group.rows)]), index


def _others(rows: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(row for row in range(PIECES) if row not in rows)


def test_runs_of_rows_need_no_tensor_that_says_so(tmp_path: Path, state: dict[str, Tensor], vocabulary: bytes) -> None:
    runs = tuple(RowGroup(BinaryCode(2), tuple(range(first, first + 3))) for first in range(0, PIECES, 3))
    assert len(runs) > 16
    path = packed(tmp_path, state, vocabulary, {EMBEDDING: runs})
    with open_model(path) as file:
        assert file.group_of_row(EMBEDDING) is None
    assert torch.equal(load_reference(path).embedding.weight, decode(runs, quantize(runs, state[EMBEDDING])))


def test_an_embedding_by_word_frequency(tmp_path: Path, state: dict[str, Tensor], vocabulary: bytes) -> None:
    """Chung et al. 2020, Algorithm 1, from counts to file: bytes follow the bits."""
    clusters = frequency_clusters([row * 7 % PIECES for row in range(PIECES)], 4, 2)
    groups = tuple(RowGroup(BinaryCode(cluster.bits), cluster.rows) for cluster in clusters)  # type: ignore[arg-type]
    with open_model(packed(tmp_path, state, vocabulary, {EMBEDDING: groups})) as file:
        found = [(group.form.bits, group.rows) for group in file.matrices[EMBEDDING]]
        assert found == [(4, 4), (3, 8), (2, 16), (1, 32)]
        planes = sum(file.tensors[f"{EMBEDDING}.{index}.planes"].size for index in range(4))
        assert planes == 2 * (4 * 4 + 8 * 3 + 16 * 2 + 32 * 1)


def test_what_training_used_is_stored_as_it_is(tmp_path: Path, state: dict[str, Tensor], vocabulary: bytes) -> None:
    """Codes and parameters that no fit would choose for these weights."""
    rows = (tuple(range(0, PIECES, 2)), tuple(range(1, PIECES, 2)))
    groups = (RowGroup(Codebook(2), rows[0]), RowGroup(BinaryCode(2), rows[1]))
    generator = torch.Generator().manual_seed(0)
    quantized = [
        QuantizedGroup(
            torch.randint(0, 4, (30, 14), generator=generator, dtype=torch.uint8),
            {"levels": torch.tensor([5.0, -127.0, 5.0, 0.0]), "scale": torch.tensor([0.3])},
        ),
        QuantizedGroup(
            torch.randint(0, 2, (30, 2, 14), generator=generator, dtype=torch.uint8),
            {"alphas": torch.randn(30, 2, generator=generator).to(torch.bfloat16).float().requires_grad_()},
        ),
    ]
    path = packed(tmp_path, state, vocabulary, {EMBEDDING: groups}, {EMBEDDING: quantized})
    assert torch.equal(load_reference(path).embedding.weight, decode(groups, quantized))


@pytest.mark.parametrize(
    ("scheme", "parameters", "reason"),
    [
        (BinaryCode(1), {"alphas": torch.full((4, 1), 0.3)}, "X.0.alphas holds values that BF16 does not have"),
        (Codebook(1), {"levels": torch.tensor([0.5, 1]), "scale": torch.ones(1)}, "X.0.levels holds values that I8"),
        (Codebook(1), {"levels": torch.tensor([-128.0, 1]), "scale": torch.ones(1)}, "X.0.levels holds values that I8"),
        (BinaryCode(1), {"alphas": torch.ones(3, 1)}, r"X.0.alphas has shape \[3, 1\] in the file, expected \[4, 1\]"),
    ],
)
def test_what_the_file_cannot_hold_is_refused(scheme: Scheme, parameters: dict[str, Tensor], reason: str) -> None:
    weight = torch.randn(4, 10)
    codes = scheme.assign(weight, scheme.fit(weight))
    with pytest.raises(ModelFileError, match=reason):
        encode_matrix("X", weight, [RowGroup(scheme)], [QuantizedGroup(codes, parameters)])


def test_codes_of_other_shapes_are_refused() -> None:
    weight, scheme = torch.randn(4, 10), Codebook(4)
    codes = scheme.assign(weight, scheme.fit(weight))[:, :-2]
    with pytest.raises(ModelFileError, match=r"X.0.codes has shape \[4, 4\] in the file, expected \[4, 5\]"):
        encode_matrix("X", weight, [RowGroup(scheme)], [QuantizedGroup(codes, scheme.fit(weight))])
