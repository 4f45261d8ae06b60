"""Imported Marian models compute what transformers computes, from the same text."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from pocketmt.engine import Translator
from pocketmt.errors import InteropError
from pocketmt.interop.formats import read_foreign
from pocketmt.interop.importing import import_model
from pocketmt.model_file import TransformerArchitecture, open_model
from pocketmt.packing.reference.network import load_reference

from .folders import tokenizer_of, write_marian, write_nllb

LINES = ["the man rides a bike", "two dogs want bread — the red one!", ">>deu<< a woman sees", "", "</s> bike <unk> x"]
VARIANTS: dict[str, dict[str, Any]] = {
    "swish": {},
    "relu": {"activation_function": "relu"},
    "gelu": {"activation_function": "gelu"},
    "gelu of tanh": {"activation_function": "gelu_new"},
    "unscaled embeddings": {"scale_embedding": False},
    "uneven sizes": {"decoder_layers": 1, "decoder_ffn_dim": 24},
    "two vocabularies": {"separate": True},
    "untied output": {"separate": True, "tie_word_embeddings": False},
}


def compare(folder: Path, path: Path, model: Any, lines: list[str]) -> float:
    """Return the largest difference of logits; ids of text must be equal."""
    network = load_reference(path)
    tokenizer = tokenizer_of(folder)
    with open_model(path) as file:
        vocabulary = file.vocabularies().source
    generator = torch.Generator().manual_seed(2)
    start = torch.tensor([[model.config.decoder_start_token_id]])
    largest = 0.0
    for line in lines:
        ids = tokenizer(line).input_ids
        assert [*vocabulary.encode(line), vocabulary.ids.eos] == ids
        target = torch.randint(0, model.config.decoder_vocab_size, (1, 9), generator=generator)
        given = torch.cat([start, target], dim=1)
        with torch.no_grad():
            expected = model(input_ids=torch.tensor([ids]), decoder_input_ids=given).logits
            found = network.logits(network(torch.tensor([ids]), given))
        largest = max(largest, float((expected - found).abs().max()))
    return largest


@pytest.mark.parametrize("variant", VARIANTS)
def test_ids_and_logits_are_those_of_transformers(tmp_path: Path, variant: str) -> None:
    model = write_marian(tmp_path / "folder", **VARIANTS[variant])
    path = tmp_path / "model.pocketmt"
    import_model(tmp_path / "folder", path)
    assert compare(tmp_path / "folder", path, model, LINES) < 1e-4


@pytest.mark.parametrize("group", ["mul", "gmw", "ROMANCE", "eng+fra"])
def test_a_group_of_languages_is_no_language(tmp_path: Path, group: str) -> None:
    write_marian(tmp_path / "folder")
    path = tmp_path / "folder" / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"source_lang": group}))
    import_model(tmp_path / "folder", tmp_path / "model.pocketmt")
    translator = Translator(tmp_path / "model.pocketmt")
    assert translator.source_language == ""
    options: dict[str, Any] = {"check": False, "split": False}
    expected = translator.translate(LINES[:2], **options)
    assert translator.translate(LINES[:2], source_language="fr", **options) == expected


def test_the_description_is_that_of_the_configuration(tmp_path: Path) -> None:
    model = write_marian(tmp_path / "folder")
    (tmp_path / "folder" / "README.md").write_text("---\nlanguage: en\nlicense: cc-by-4.0\n---\n# A model\n")
    import_model(tmp_path / "folder", tmp_path / "model.pocketmt", description="tiny")
    with open_model(tmp_path / "model.pocketmt") as file:
        found = file.architecture
        # The only code of its vocabulary is the target language.
        assert (file.source_language, file.target_language) == ("en", "deu")
        assert (file.manifest["licence"], file.manifest["description"]) == ("cc-by-4.0", "tiny")
    assert isinstance(found, TransformerArchitecture)
    assert (found.activation, found.positions, found.norm) == ("swish", "concatenated", "post")
    assert (found.eos_id, found.pad_id) == (model.config.eos_token_id, model.config.pad_token_id)
    assert found.never_generated_ids == (model.config.pad_token_id,)


def change_configuration(folder: Path, **changes: Any) -> None:
    change(folder / "config.json", **changes)


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_keys_of_transformers_3_that_change_nothing_are_taken(tmp_path: Path) -> None:
    write_marian(tmp_path)
    # As opus-mt-en-vi has the first one.
    old = {"extra_pos_embeddings": 53685, "force_bos_token_to_be_generated": False, "do_blenderbot_90_layernorm": False}
    change_configuration(tmp_path, **old)
    assert read_foreign(tmp_path).architecture.vocabulary_size > 0
    for key in ("force_bos_token_to_be_generated", "do_blenderbot_90_layernorm"):
        change_configuration(tmp_path, **old | {key: True})
        with pytest.raises(InteropError, match=f"{key} is True, but PocketMT only has False"):
            read_foreign(tmp_path)


@pytest.mark.parametrize("write", [write_marian, write_nllb])
def test_a_model_that_names_no_activation_has_that_of_transformers(tmp_path: Path, write: Any) -> None:
    folder = tmp_path / "folder"
    write(folder)
    configuration = json.loads((folder / "config.json").read_text())
    del configuration["activation_function"]
    (folder / "config.json").write_text(json.dumps(configuration))
    expected = transformers.AutoConfig.from_pretrained(folder).activation_function
    found = read_foreign(folder).architecture
    assert isinstance(found, TransformerArchitecture)
    assert found.activation == expected


@pytest.mark.parametrize("file", ["config.json", "generation_config.json"])
def test_a_shortest_length_is_refused(tmp_path: Path, file: str) -> None:
    write_marian(tmp_path)
    if file == "config.json":
        (tmp_path / "generation_config.json").unlink()
    change(tmp_path / file, min_length=0)
    read_foreign(tmp_path)
    change(tmp_path / file, min_length=12)
    with pytest.raises(InteropError, match=f"/{file}: min_length is 12, but PocketMT only has 0"):
        read_foreign(tmp_path)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_stored_positions_must_be_the_computed_ones(tmp_path: Path, stack: str, dtype: torch.dtype) -> None:
    model, path, name = write_marian(tmp_path), tmp_path / "model.safetensors", f"model.{stack}.embed_positions.weight"
    tensors = load_file(path)
    table = model.get_submodule(f"model.{stack}.embed_positions").weight.detach().clone()
    save_file(tensors | {name: table.to(dtype)}, path, {"format": "pt"})
    assert read_foreign(tmp_path).tensors.keys()
    table[40, 3] += 0.01
    save_file(tensors | {name: table.to(dtype)}, path, {"format": "pt"})
    with pytest.raises(InteropError, match=f"^{re.escape(str(tmp_path))}: tensor {name} holds other positions"):
        read_foreign(tmp_path)
    save_file(tensors | {name: table[:, :16].contiguous()}, path, {"format": "pt"})
    with pytest.raises(InteropError, match=f"{name} holds other positions"):
        read_foreign(tmp_path)


def test_keys_without_a_value_are_not_refused(tmp_path: Path) -> None:
    write_marian(tmp_path)
    change(tmp_path / "generation_config.json", guidance_scale=None, unheard_of=None)
    read_foreign(tmp_path)
    change(tmp_path / "generation_config.json", unheard_of=1)
    with pytest.raises(InteropError, match="the key 'unheard_of'"):
        read_foreign(tmp_path)


def test_notes_say_the_options_of_the_search(tmp_path: Path) -> None:
    write_marian(tmp_path)
    path = tmp_path / "generation_config.json"
    change(path, num_beams=4, length_penalty=1)
    assert read_foreign(tmp_path).notes == ()
    change(path, num_beams=6, length_penalty=0.6)
    beam, penalty = read_foreign(tmp_path).notes
    assert beam == "num_beams is 6: give --beam-size 6 to `pocketmt translate`"
    assert penalty.startswith("length_penalty is 0.6") and penalty.endswith("in Python, give length_penalty=0.6")
    change(path, num_beams=300, length_penalty=-12)
    beam, penalty = read_foreign(tmp_path).notes
    assert beam == "num_beams is 300: give --beam-size 256, the limit, to `pocketmt translate`"
    assert penalty.startswith("length_penalty is -12") and penalty.endswith("give length_penalty=-10, the limit")
    for key, value in (
        ("num_beams", 0),
        ("num_beams", 10**400),
        ("length_penalty", "long"),
        ("length_penalty", 10**400),
    ):
        write_marian(tmp_path)
        change(path, **{key: value})
        with pytest.raises(InteropError, match=f"{key} is .*, but PocketMT only has a "):
            read_foreign(tmp_path)


def test_settings_of_the_search_are_those_of_transformers(tmp_path: Path) -> None:
    def generation() -> Any:
        return transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path).generation_config

    write_marian(tmp_path)
    change_configuration(tmp_path, min_length=10, num_beams=6, length_penalty=0.6, repetition_penalty=2.0)
    # With a generation_config.json, these are not read, and without a beam, the search is greedy.
    assert (generation().min_length, generation().repetition_penalty, generation().length_penalty) == (None, None, None)
    assert generation().get_generation_mode() == "greedy_search"
    assert read_foreign(tmp_path).notes == ("num_beams is not given, so 1: give --beam-size 1 to `pocketmt translate`",)
    (tmp_path / "generation_config.json").unlink()
    assert (generation().min_length, generation().num_beams, generation().length_penalty) == (10, 6, 0.6)
    with pytest.raises(InteropError, match=r"/config\.json: (min_length is 10|repetition_penalty is 2)"):
        read_foreign(tmp_path)
    change_configuration(tmp_path, min_length=0, repetition_penalty=1.0)
    assert read_foreign(tmp_path).notes[0] == "num_beams is 6: give --beam-size 6 to `pocketmt translate`"


@pytest.mark.parametrize(
    ("write", "changes", "message"),
    [
        (write_marian, {"model_type": []}, r"model_type is \[\]"),
        (write_marian, {"model_type": {}}, "model_type is {}"),
        (write_marian, {"vocab_size": 1 << 62, "decoder_vocab_size": None}, "the configuration says 46116860"),
        (write_marian, {"vocab_size": 4 * 10**8, "decoder_vocab_size": 4 * 10**8}, "the configuration says 400000000"),
        (write_nllb, {"vocab_size": (1 << 63) - 1}, "the configuration says 92233720"),
        (write_nllb, {"encoder_layers": 10**11}, "encoder_layers is 100000000000, .* from 1 to 256"),
        (write_marian, {"decoder_layers": 10**11, "decoder_ffn_dim": 24}, "decoder_layers is 1000000000"),
    ],
)
def test_impossible_configurations_are_refused_before_anything_of_their_size_is_made(
    tmp_path: Path, write: Any, changes: dict[str, Any], message: str
) -> None:
    write(tmp_path / "folder")
    change_configuration(tmp_path / "folder", **changes)
    with pytest.raises(InteropError, match=message):
        read_foreign(tmp_path / "folder")
