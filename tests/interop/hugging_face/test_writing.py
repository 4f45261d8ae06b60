"""Written folders hold the same model: for transformers, and when they are read again."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from pocketmt.errors import InteropError
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS, read_foreign
from pocketmt.interop.importing import write_foreign
from pocketmt.packing.reference.network import load_reference
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary_training import train_vocabulary
from tests.interop.models import marian_architecture, marian_vocabularies, random_model, same
from tests.interop.toy_text import SOURCE_LINES

from .folders import tokenizer_of, write_marian
from .test_marian import VARIANTS


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_folder_comes_back_bit_for_bit(tmp_path: Path, variant: str) -> None:
    write_marian(tmp_path / "given", **VARIANTS[variant])
    given = read_foreign(tmp_path / "given")
    write_folder(given, FORMATS["hugging-face"], tmp_path / "written")
    assert same(given, read_foreign(tmp_path / "written"))
    assert transformers.MarianMTModel.from_pretrained(tmp_path / "written") is not None


OURS: dict[str, dict[str, Any]] = {
    "as trained": {},
    "swish": {"activation": "swish", "output_bias": True},
    "tied layers": {"tied_decoder_layers": True, "attention_bias": False},
    "zeros first": {"first_decoder_input": "zero", "pad_id": None, "bos_id": None},
    "zeros first, with padding": {"first_decoder_input": "zero"},
}


@pytest.mark.parametrize("variant", OURS)
def test_transformers_computes_what_our_network_does(tmp_path: Path, variant: str) -> None:
    changes = {"first_decoder_input": "bos", "pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "output_bias": False}
    if variant == "zeros first":
        vocabularies = marian_vocabularies()
        changes |= {"eos_id": 0, "unk_id": 1}
    else:
        model = train_vocabulary(SOURCE_LINES, 60).model
        vocabularies = StoredVocabularies(StoredVocabulary(model))
    fields = {"positions": "interleaved", "normalization_epsilon": 1e-5} | changes | OURS[variant]
    model_file = tmp_path / "model.pocketmt"
    ours = random_model(marian_architecture(vocabularies, **fields), vocabularies)
    write_foreign(ours, model_file)
    write_folder(ours, FORMATS["hugging-face"], tmp_path / "folder")
    network = load_reference(model_file)
    theirs: Any = transformers.MarianMTModel.from_pretrained(tmp_path / "folder")
    architecture = ours.architecture
    line = "the man rides a bike"
    ids = tokenizer_of(tmp_path / "folder")(line).input_ids
    first = architecture.first_input_id
    target = [[4, 9, 7, 5, 11]]
    our_target = torch.tensor([[-2 if first is None else first, *target[0]]])
    their_target = torch.tensor([[theirs.config.decoder_start_token_id, *target[0]]])
    with torch.no_grad():
        expected = theirs.eval()(input_ids=torch.tensor([ids]), decoder_input_ids=their_target).logits
        found = network.logits(network(torch.tensor([ids]), our_target))
    # The output for padding, which is never generated, is that of the zeros where they are the first input.
    kept = [id for id in range(architecture.vocabulary_size) if first is not None or id != architecture.pad_id]
    assert float((expected[..., kept] - found[..., kept]).abs().max()) < 1e-4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"norm": "pre"}, "norm is 'pre'"),
        ({"decoder_autoregression": "ssru"}, "decoder_autoregression is 'ssru'"),
        ({}, "positions is 'concatenated_inclusive'"),
        ({"positions": "concatenated"}, "normalization_epsilon is 1e-06"),
    ],
)
def test_what_the_format_lacks_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    vocabularies = marian_vocabularies()
    with pytest.raises(InteropError, match=message):
        write_folder(
            random_model(marian_architecture(vocabularies, **changes), vocabularies),
            FORMATS["hugging-face"],
            tmp_path / "folder",
        )
    assert not list(tmp_path.iterdir())


def test_zeros_first_are_refused_if_padding_is_generated(tmp_path: Path) -> None:
    vocabularies = StoredVocabularies(StoredVocabulary(train_vocabulary(SOURCE_LINES, 60).model))
    fields = {"positions": "concatenated", "normalization_epsilon": 1e-5, "pad_id": 0, "eos_id": 2, "unk_id": 3}
    architecture = marian_architecture(vocabularies, **fields, ban_special_pieces=False)
    with pytest.raises(InteropError, match=r"the piece for padding, 0, .* but the model may generate this piece"):
        write_folder(random_model(architecture, vocabularies), FORMATS["hugging-face"], tmp_path / "folder")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("reverse", [False, True])
def test_two_sizes_without_one_id_of_padding_are_refused(tmp_path: Path, reverse: bool) -> None:
    sides = marian_vocabularies(separate=True).sides[:: -1 if reverse else 1]
    vocabularies = StoredVocabularies(*sides)
    architecture = marian_architecture(vocabularies, positions="concatenated", normalization_epsilon=1e-5)
    sizes = f"{architecture.source_size} and {architecture.vocabulary_size}"
    with pytest.raises(InteropError, match=f"two vocabularies of {sizes} pieces"):
        write_folder(random_model(architecture, vocabularies), FORMATS["hugging-face"], tmp_path / "folder")
    assert not list(tmp_path.iterdir())
