"""Folders of CTranslate2 are read without its package, and compute what it computes."""

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctranslate2  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch
from ctranslate2.converters import MarianConverter  # type: ignore[import-untyped]

from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import InteropError
from pocketmt.interop.ctranslate2.model_bin import Variable, read_model_bin, variable, write_model_bin
from pocketmt.interop.ctranslate2.reading import read_model
from pocketmt.interop.ctranslate2.writing import write_model
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodesTensor, of_array
from pocketmt.interop.formats import read_foreign, recognize
from pocketmt.interop.importing import import_model, write_foreign
from pocketmt.interop.marian.description import MarianNetwork
from pocketmt.interop.marian.names import place
from pocketmt.interop.marian.settings import format_settings, settings_of
from pocketmt.model_file import open_model
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.models.networks import make_network
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.text.stored_vocabulary import StoredVocabularies
from tests.engine.reference import reference_logits
from tests.interop.bergamot.conftest import loaded
from tests.interop.bergamot.students import LINES, random_student, vocabulary
from tests.interop.hugging_face.folders import write_marian, write_nllb
from tests.resident_memory import SMAPS, resident_bytes

SELF_ATTENTION = {"decoder_autoregression": "self_attention", "activation": "swish", "normalization_epsilon": 1e-5}


@pytest.fixture(scope="module")
def model() -> ForeignModel:
    return random_student(11, **SELF_ATTENTION)


def converted(model: ForeignModel, folder: Path, quantization: str | None) -> Path:
    """The model as CTranslate2's own converter writes it, from Marian's weights."""
    arrays: dict[str, Any] = {}
    for name in model.tensors:
        where = place(name, MarianNetwork(model.architecture, (1, 2)))  # type: ignore[arg-type]
        for each, part in zip(where.names, np.split(model.tensors[name].read(), len(where.names)), strict=True):
            arrays[each] = part.T if where.form == "matrix" else part.reshape(1, -1) if part.ndim == 1 else part
    settings = settings_of(replace(model.architecture, normalization_epsilon=1e-6))
    arrays["special:model.yml"] = np.frombuffer(format_settings(settings), np.int8)
    np.savez(folder / "model.npz", **arrays)
    processor = loaded(model.vocabularies.source.model)
    pieces = [processor.IdToPiece(id) for id in range(processor.GetPieceSize())]
    table = folder / "vocabulary.yml"
    table.write_text("".join(f"{json.dumps(piece, ensure_ascii=False)}: {id}\n" for id, piece in enumerate(pieces)))
    converter = MarianConverter(str(folder / "model.npz"), [str(table), str(table)])
    converter.convert(str(folder / "out"), quantization=quantization)
    (folder / "out" / "sentencepiece.model").write_bytes(model.vocabularies.source.model)
    return folder / "out"


def scores(folder: Path, sources: list[list[str]], targets: list[list[str]]) -> list[list[float]]:
    translator = ctranslate2.Translator(str(folder), compute_type="float32", inter_threads=1, intra_threads=1)
    return [result.log_probs for result in translator.score_batch(sources, targets)]


def own_scores(model: ForeignModel, source: list[int], target: list[int]) -> torch.Tensor:
    """Log-probabilities of a target and its end by our network in full precision."""
    network = make_network(model.architecture).eval()
    network.load_state_dict({name: torch.from_numpy(tensor.read().copy()) for name, tensor in model.tensors.items()})
    eos = model.architecture.eos_id
    logits = torch.from_numpy(np.array(reference_logits(network, source, target)))
    table = torch.log_softmax(logits.double(), dim=-1)
    return table[torch.arange(len(target) + 1), torch.tensor([*target, eos])]


# In half precision, CTranslate2's table of positions is rounded, too.
@pytest.mark.parametrize(
    ("quantization", "tolerance"),
    [(None, 1e-4), ("int16", 1e-4), ("int8", 1e-4), ("float16", 5e-4), ("bfloat16", 3e-3)],
)
def test_probabilities_are_those_of_its_package(
    model: ForeignModel, tmp_path: Path, quantization: str | None, tolerance: float
) -> None:
    folder = converted(model, tmp_path, quantization)
    format = recognize(folder)
    assert format is not None and format.name == "ctranslate2"
    read = read_model(folder)
    assert read.architecture.positions == "concatenated"  # type: ignore[attr-defined]
    assert read.architecture.first_decoder_input == "zero"
    matrix = read.tensors["encoder.layers.0.feed_forward.inner.weight"]
    assert isinstance(matrix, CodesTensor) == (quantization == "int8")
    processor = loaded(model.vocabularies.source.model)
    ids = [processor.encode(line) for line in LINES]
    pieces = [processor.encode_as_pieces(line) for line in LINES]
    for source, target, found in zip(ids, ids[::-1], scores(folder, pieces, pieces[::-1]), strict=True):
        np.testing.assert_allclose(found, own_scores(read, source, target).numpy(), atol=tolerance, rtol=0)


@pytest.mark.parametrize("quantization", ["int8", "int16"])
def test_equal_codes_with_other_scales_are_not_tied(tmp_path: Path, quantization: str) -> None:
    untied = {**SELF_ATTENTION, "embeddings": "separate", "output_projection": "untied"}
    random = random_student(3, **untied)
    projection = of_array(random.tensors["embedding.weight"].read() / np.float32(4))
    model = replace(random, tensors={**random.tensors, "output.weight": projection})
    folder = converted(model, tmp_path, quantization)
    held = read_model_bin(folder / "model.bin").found
    assert held["decoder/projection/weight"].data == held["decoder/embeddings/weight"].data
    read = read_model(folder)
    assert read.architecture.output_projection == "untied"
    processor = loaded(model.vocabularies.source.model)
    ids, pieces = processor.encode(LINES[0]), processor.encode_as_pieces(LINES[0])
    (found,) = scores(folder, [pieces], [pieces])
    np.testing.assert_allclose(found, own_scores(read, ids, ids).numpy(), atol=1e-4, rtol=0)
    if quantization == "int8":
        (tmp_path / "written").mkdir()
        write_model(read, tmp_path / "written")
        assert read_model(tmp_path / "written").architecture == read.architecture


@pytest.mark.parametrize("quantization", [None, "int8"])
def test_a_round_trip_is_bit_for_bit(model: ForeignModel, tmp_path: Path, quantization: str | None) -> None:
    import_model(converted(model, tmp_path, quantization), tmp_path / "first.pocketmt")
    written = tmp_path / "written"
    written.mkdir()
    with open_model(tmp_path / "first.pocketmt") as file:
        write_model(foreign_model_of(file), written)
    import_model(written, tmp_path / "second.pocketmt")
    assert (tmp_path / "first.pocketmt").read_bytes() == (tmp_path / "second.pocketmt").read_bytes()


def test_a_bundled_model_comes_back_bit_for_bit(tmp_path: Path) -> None:
    written = tmp_path / "written"
    written.mkdir()
    with open_model(resolve_model("captions-en-de-8bit")) as file:
        original = foreign_model_of(file)
        write_model(original, written)
        read = read_model(written)
        assert read.architecture == file.architecture
        assert read.vocabularies == file.stored_vocabularies()
        assert read.metadata == original.metadata
        for name, tensor in original.tensors.items():
            other = read.tensors[name]
            assert isinstance(tensor, CodesTensor) == isinstance(other, CodesTensor)
            assert np.array_equal(tensor.read(), other.read())
        write_foreign(read, tmp_path / "again.pocketmt")
        with open_model(tmp_path / "again.pocketmt") as again:
            assert again.matrices == file.matrices
    ctranslate2.Translator(str(written), compute_type="float32")


def test_separate_and_untied_matrices(tmp_path: Path) -> None:
    changes = {**SELF_ATTENTION, "embeddings": "separate", "output_projection": "untied", "norm": "pre"}
    positions = {"positions": "interleaved", "first_decoder_input": "eos", "embedding_norm": True}
    model = random_student(2, **changes, **positions, ban_special_pieces=False)
    write_model(model, tmp_path)
    read = read_model(tmp_path)
    assert read.architecture == model.architecture
    processor = loaded(model.vocabularies.source.model)
    ids, pieces = processor.encode(LINES[0]), processor.encode_as_pieces(LINES[0])
    (found,) = scores(tmp_path, [pieces], [pieces])
    np.testing.assert_allclose(found, own_scores(read, ids, ids).numpy(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", ["one code", "no code", "NLLB"])
def test_models_of_hugging_face_are_written(tmp_path: Path, kind: str) -> None:
    if kind == "NLLB":
        write_nllb(tmp_path / "folder")
    else:
        write_marian(tmp_path / "folder", separate=kind == "no code")
    model = read_foreign(tmp_path / "folder")
    (tmp_path / "written").mkdir()
    notes = " ".join(write_model(model, tmp_path / "written"))
    assert "SentencePiece does not find special pieces" in notes
    assert ("the piece of the target language" in notes) == (kind != "no code")
    read = read_model(tmp_path / "written")
    assert (read.architecture, read.metadata) == (model.architecture, model.metadata)
    assert kind == "NLLB" or read.vocabularies == model.vocabularies  # NLLB's has ids without a piece.
    found, again = (
        load_checked(model.vocabularies, model.architecture),
        load_checked(read.vocabularies, read.architecture),
    )
    line = "the man rides a red bike </s>"
    assert again.source.encode(line) == found.source.encode(line)
    prefix = [id for code in (">>deu<<", "eng_Latn") if (id := found.source.id(code)) is not None]
    source, target = [*prefix, *found.source.encode("the man rides a bike")], [9, 15, 12, 8]
    (ours,) = scores(tmp_path / "written", [found.source.pieces(source)], [found.target.pieces(target)])
    np.testing.assert_allclose(ours, own_scores(model, source, target).numpy(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("value", [np.float32(np.inf), np.float32(np.nan), np.float32(2.5)])
@pytest.mark.parametrize(
    "names", [("encoder/num_heads", "decoder/num_heads"), ("encoder/pre_norm", "decoder/pre_norm")]
)
def test_numbers_that_are_not_whole_are_refused(
    model: ForeignModel, tmp_path: Path, names: tuple[str, ...], value: np.float32
) -> None:
    write_model(model, tmp_path)
    read = read_model_bin(tmp_path / "model.bin")
    changed = dict(read.found) | {name: variable(np.array(value)) for name in names}
    kept = sorted((name, each) for name, each in changed.items() if name not in read.aliases)
    with (tmp_path / "again").open("wb") as file:
        write_model_bin(file, kept, read.aliases)
    (tmp_path / "again").rename(tmp_path / "model.bin")
    with pytest.raises(InteropError, match=f"{names[0].partition('/')[2]} is .*expected a whole number|in the decoder"):
        read_model(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sides": "text"}, "lists of pieces"),
        ({"sides": []}, "lists of pieces"),
        ({"sides": [{"verbatim": [1]}]}, "lists of pieces"),
        ({"sides": [{"language_codes": 1}]}, "lists of pieces"),
        ({"metadata": {"language_pieces": {}}}, "language_pieces: expected"),
        ({"metadata": {"language_pieces": 0}}, "language_pieces: expected"),
    ],
)
def test_damaged_rules_of_text_are_refused(
    model: ForeignModel, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    write_model(model, tmp_path)
    own = json.loads((tmp_path / "pocketmt.json").read_text())
    (tmp_path / "pocketmt.json").write_text(json.dumps(own | changes))
    with pytest.raises(InteropError, match=message):
        read_model(tmp_path)


def as_older(folder: Path, version: int, **values: int | str) -> None:
    """Write a folder as an older version had it: without config.json and aliases, or with sizes instead of types."""
    read = read_model_bin(folder / "model.bin")
    said = {
        name: variable(np.array(value, np.int8) if isinstance(value, int) else np.frombuffer(value.encode(), np.int8))
        for name, value in values.items()
    }

    def text(value: str) -> bytes:
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    def packed(name: str, each: Variable) -> bytes:
        head = text(name) + struct.pack(f"<B{len(each.shape)}I", len(each.shape), *each.shape)
        size = each.array().dtype.itemsize
        types = ["float32", "int8", "int16", "int32", "float16"]
        kind = (types.index(each.type), len(each.data)) if version >= 4 else (size, len(each.data) // size)
        return head + struct.pack("<BI", *kind) + bytes(each.data)

    found = said | {name: each for name, each in read.found.items() if version < 3 or name not in read.aliases}
    data = struct.pack("<I", version) + text("TransformerSpec") + struct.pack("<II", 5, len(found))
    data += b"".join(packed(name, each) for name, each in found.items())
    if version >= 3:
        data += struct.pack("<I", len(read.aliases))
        data += b"".join(text(alias) + text(name) for alias, name in read.aliases.items())
    (folder / "model.bin").unlink()  # What was read from it stays mapped.
    (folder / "model.bin").write_bytes(data)
    pieces = json.loads((folder / "shared_vocabulary.json").read_text())
    (folder / "shared_vocabulary.txt").write_text("\n".join(pieces) + "\n")
    for name in ("config.json", "pocketmt.json", "shared_vocabulary.json"):
        (folder / name).unlink(missing_ok=True)


@pytest.mark.parametrize("version", [2, 3])
def test_older_versions_hold_the_same(model: ForeignModel, tmp_path: Path, version: int) -> None:
    folder = converted(model, tmp_path, "int8")
    expected = read_model(folder)
    as_older(folder, version, with_source_bos=0, with_source_eos=1, with_target_bos=1)
    read = read_model(folder)
    assert read.architecture == expected.architecture
    for name, tensor in expected.tensors.items():
        assert np.array_equal(read.tensors[name].read(), tensor.read())


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("begins", [0, 1])
def test_older_versions_say_special_pieces_in_variables(tmp_path: Path, version: int, begins: int) -> None:
    flags = {"with_source_bos": 0, "with_source_eos": 1, "with_target_bos": begins}
    named = {"unk": "<unk>", "bos": "<s>", "eos": "</s>"} if version < 5 else {"unk": "[U]", "bos": "[B]", "eos": "[E]"}
    values = flags | ({"user_decoder_start_tokens": 0} if version >= 5 else {})
    texts = {f"{role}_token": piece for role, piece in named.items()} if version >= 5 else {}
    ids = {"eos_id": 0, "unk_id": 1, "bos_id": 2}
    special: dict[str, Any] = {f"{role}_piece": piece for role, piece in named.items()}
    plain = random_student(2, **SELF_ATTENTION, **ids, first_decoder_input="bos" if begins else "eos")
    own = replace(plain.vocabularies.source, model=vocabulary(bos_id=2, **special))
    model = replace(plain, vocabularies=StoredVocabularies(own))
    write_model(model, tmp_path)
    as_older(tmp_path, version, **values, **texts)
    read = read_model(tmp_path)
    first = read.architecture.first_decoder_input
    assert (first, read.architecture.append_source_eos) == ("bos" if begins else "eos", True)
    processor = loaded(own.model)
    ours, pieces = processor.encode(LINES[0]), processor.encode_as_pieces(LINES[0])
    (found,) = scores(tmp_path, [pieces], [pieces])
    np.testing.assert_allclose(found, own_scores(read, ours, ours).numpy(), atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"user_decoder_start_tokens": 1}, "user_decoder_start_tokens is 1"),
        ({"with_source_bos": 1}, "add_source_bos is true"),
        ({"eos_token": 1}, "variable eos_token is int8 .*, expected a text"),
        ({"eos_token": "[E]"}, r"eos_token '\[E\]' is not in the vocabulary"),
    ],
)
def test_variables_of_older_versions_are_checked(
    model: ForeignModel, tmp_path: Path, values: dict[str, int | str], message: str
) -> None:
    write_model(model, tmp_path)
    as_older(tmp_path, 5, **values)
    with pytest.raises(InteropError, match=message):
        read_model(tmp_path)


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("WhisperSpec", 3, "model.bin: is a model of 'WhisperSpec', PocketMT reads TransformerSpec only"),
        ("TransformerSpec", 8, "model.bin: has revision 8 of TransformerSpec, PocketMT knows those up to 7"),
    ],
)
def test_other_specifications_are_refused(
    model: ForeignModel, tmp_path: Path, name: str, revision: int, message: str
) -> None:
    write_model(model, tmp_path)
    path = tmp_path / "model.bin"
    content, own = path.read_bytes(), b"TransformerSpec\0" + struct.pack("<I", 7)
    raw = name.encode() + b"\0"
    assert content[6:].startswith(own)
    path.write_bytes(content[:4] + struct.pack("<H", len(raw)) + raw + struct.pack("<I", revision) + content[26:])
    with pytest.raises(InteropError, match=message):
        read_model(tmp_path)


@pytest.mark.parametrize("piece", ["a\0b", "\ud800"])
def test_pieces_that_no_text_has_are_refused(model: ForeignModel, tmp_path: Path, piece: str) -> None:
    write_model(model, tmp_path)
    path = tmp_path / "shared_vocabulary.json"
    pieces = json.loads(path.read_text())
    path.write_text(json.dumps([*pieces[:9], piece, *pieces[10:]]))
    with pytest.raises(InteropError, match=r"shared_vocabulary\.json: piece 9 is .*, which no text has"):
        read_model(tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("decoder_autoregression", "ssru"), ("tied_decoder_layers", True), ("encoder_heads", (8, 8, 4))],
)
def test_what_it_does_not_have_is_refused_by_name(tmp_path: Path, field: str, value: object) -> None:
    model = random_student(1, **{**SELF_ATTENTION, field: value})
    with pytest.raises(InteropError, match=f"{field} is .*, CTranslate2 only has "):
        write_model(model, tmp_path)
    assert not any(tmp_path.iterdir())


def test_unknown_positions_are_refused(model: ForeignModel, tmp_path: Path) -> None:
    write_model(model, tmp_path)
    content = bytearray((tmp_path / "model.bin").read_bytes())
    place = content.index(b"encoder/position_encodings/encodings") + 60
    content[place + 4000 : place + 4400] = bytes(400)
    (tmp_path / "model.bin").write_bytes(content)
    with pytest.raises(InteropError, match="sinusoids"):
        read_model(tmp_path)


@pytest.mark.skipif(not SMAPS.exists(), reason="resident memory is read from /proc")
def test_blocks_that_were_read_leave_the_memory(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(20_000, 1000)).astype(np.float32)
    path = tmp_path / "model.bin"
    with path.open("wb") as file:
        write_model_bin(file, [("a/weight", variable(values))], {})
    read = read_model_bin(path).found["a/weight"]
    blocks, most = [], 0
    for block in read.blocks():
        blocks.append(block.copy())
        most = max(most, resident_bytes(path))
    assert len(blocks) > 2
    assert np.array_equal(np.concatenate(blocks), values)
    assert 0 < most < 0.6 * values.nbytes
    assert resident_bytes(path) < 0.1 * values.nbytes
