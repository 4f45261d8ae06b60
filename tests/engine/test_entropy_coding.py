"""Files with entropy-coded codes: the same translations, and errors that name the fault."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.packing.contents import ModelContents, PackingOptions
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import architecture, random_network
from tests.engine.test_schemes import GROUPS, METADATA, SCHEMES, SHAPES, Groups, load

MATRIX = "embedding.weight"
ROWS, COLUMNS = 120, 32


def write_both(folder: Path, vocabulary: Vocabulary, embedding: Groups, others: Groups, shape: str) -> list[Path]:
    """The same random network, uncoded and coded."""
    model = random_network(architecture(**SHAPES[shape]))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.mul_(weight.abs() * 20)  # more small ones than large ones, as in a trained network
    paths = [folder / "plain.pocketmt", folder / "coded.pocketmt"]
    for path in paths:
        schemes = {"embedding.weight": embedding, "*": others}
        contents = ModelContents(model.state_dict(), model.architecture, vocabulary.model, schemes, METADATA)
        pack(path, contents, PackingOptions(entropy_coding=path == paths[1]))
    return paths


def assert_same_model(plain: Path, coded: Path) -> None:
    with open_model(coded) as file:
        assert file.coded
    models = [load(plain), load(coded)]
    options = search_options(beam_size=2, n_best=2)
    assert models[0].translate(sentences(10), options) == models[1].translate(sentences(10), options)
    source, target = sentences(2, longest=30)
    assert models[0].logits(source, target) == models[1].logits(source, target)
    states = [load_reference(path).state_dict() for path in (plain, coded)]
    assert all(bool((states[0][name] == states[1][name]).all()) for name in states[0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scheme", ["uniform", "affine 6 row", "logarithmic 3 row", "codebook 4", "binary 4"])
def test_the_same_translations(tmp_path: Path, vocabulary: Vocabulary, scheme: str, shape: str) -> None:
    groups = (RowGroup(SCHEMES[scheme]),)
    plain, coded = write_both(tmp_path, vocabulary, groups, groups, shape)
    assert_same_model(plain, coded)


def test_rows_of_a_group_anywhere(tmp_path: Path, vocabulary: Vocabulary) -> None:
    others = (RowGroup(SCHEMES["logarithmic 4 row"]),)
    assert_same_model(*write_both(tmp_path, vocabulary, GROUPS["nine"], others, "odd"))


def damaged(name: str) -> bytes:
    raise ModelFileError(f"tensor {name!r} is damaged")


LIARS: dict[str, tuple[Callable[[str], bytes | None], type[Exception], str]] = {
    "too few bytes": (lambda _: b"", ModelFileError, f"{MATRIX}.0.codes.*decodes to 0 bytes"),
    "too many bytes": (lambda _: bytes(1 << 20), ModelFileError, f"decodes to {1 << 20} bytes"),
    "an error": (damaged, ModelFileError, "is damaged"),
    "no bytes": (lambda _: None, TypeError, "bytes-like"),
}


@pytest.mark.parametrize("liar", LIARS)
def test_wrong_output_of_a_decoder_is_refused(
    tmp_path: Path, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch, liar: str
) -> None:
    lie, error, reason = LIARS[liar]
    groups = (RowGroup(SCHEMES["affine 6 row"]),)
    _, coded = write_both(tmp_path, vocabulary, groups, groups, "even")
    with open_model(coded) as file:
        assert file.layout(f"{MATRIX}.0.codes") == ("U8", (ROWS, COLUMNS * 6 // 8))
        data = file.data
        monkeypatch.setattr(file, "data", lambda name: (lie if MATRIX in name else data)(name))
        with pytest.raises(error, match=reason):
            native_model(file)


def test_only_codes_and_matrices_may_be_coded(model_path: Path) -> None:
    coded = r"encoder\.layers\.0.*is coded, which only codes and matrices may be"
    with open_model(model_path) as file, pytest.raises(ModelFileError, match=coded):
        _native.Model(
            buffer=file.buffer,
            architecture=file.architecture.fields(),
            tensors={name: (each.dtype, each.shape, each.offset, each.size) for name, each in file.tensors.items()},
            matrices={name: [group.for_engine() for group in groups] for name, groups in file.matrices.items()},
            release=None,
            instruction_set=None,
            workers=1,
            decoders={name: lambda: b"" for name in file.tensors if name.endswith("norm.bias")},
        )
