"""Writing a CTranslate2 folder, without its package: weights as they are, 8-bit codes with a scale a row."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from pocketmt.errors import InteropError
from pocketmt.interop.ctranslate2.folder import CONFIGURATION, MODEL, pieces_of
from pocketmt.interop.ctranslate2.model_bin import Variable, variable, write_model_bin
from pocketmt.interop.ctranslate2.names import (
    ACTIVATIONS,
    DECODER_EMBEDDING,
    ENCODER_EMBEDDING,
    POSITIONS,
    PROJECTION,
    ctranslate2_name,
)
from pocketmt.interop.ctranslate2.text_rules import OWN
from pocketmt.interop.ctranslate2.vocabulary_map import MAP, vocabulary_map
from pocketmt.interop.field_values import check_fields
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodesTensor, Tensor
from pocketmt.interop.left_out import Part, notes_of_left_out
from pocketmt.interop.position_table import position_table
from pocketmt.interop.reciprocal import reciprocal
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary

_ONLY: Final[dict[str, tuple[object, ...]]] = {
    "decoder_autoregression": ("self_attention",),
    "encoder_heads": ((),),
    "decoder_heads": ((),),
    "decoder_cross_heads": ((),),
    "tied_decoder_layers": (False,),
}
_MOST_SHOWN: Final = 4  # pieces in a note
_HELD: Final[tuple[Part, ...]] = ("shortlist", "languages", "licence", "description", "unit of text")


def write_model(model: ForeignModel, folder: Path) -> tuple[str, ...]:
    """Write a model to a folder; returns notes on what is only near.

    Raises InteropError naming what CTranslate2 does not have.
    """
    architecture = _checked(model.architecture)
    variables = dict(_numbers(architecture))
    aliases = {}
    if architecture.embeddings == "shared":
        aliases[ENCODER_EMBEDDING] = DECODER_EMBEDDING
    if architecture.output_projection == "tied":
        aliases[PROJECTION] = DECODER_EMBEDDING
    names = {ctranslate2_name(name): tensor for name, tensor in model.tensors.items()}
    coded = {name for name, tensor in names.items() if isinstance(tensor, CodesTensor)}
    aliases |= {f"{alias}_scale": f"{name}_scale" for alias, name in aliases.items() if name in coded}
    variables |= {f"{name}_scale": _multipliers(names[name]) for name in coded}
    with (folder / MODEL).open("wb") as file:
        write_model_bin(file, _in_order(variables, names), aliases)
    _write_vocabularies(model.vocabularies, architecture, folder)
    _write_json(folder / OWN, _own(model))
    notes = []
    if model.shortlist is not None:
        notes.append(_write_shortlist(model.shortlist, model.vocabularies, folder))
    return (*notes, *_notes_on_pieces(model), *_notes_on_generation(model), *notes_of_left_out(model, _HELD))


def _notes_on_pieces(model: ForeignModel) -> Iterator[str]:
    """Yield notes on pieces that PocketMT adds to a text or finds in it, and that SentencePiece alone does not."""
    found = [piece for side in model.vocabularies.sides for piece in side.verbatim]
    if found:
        yield f"SentencePiece does not find special pieces in a text, such as {found[0]}, as PocketMT does"
    pieces = model.metadata.language_pieces
    if pieces is not None:
        place = "first in the source" if pieces.target_place == "source" else "as target_prefix"
        for side, codes, where in (("target", pieces.target, place), ("source", pieces.source, "first in the source")):
            example = next(iter(codes.values()), None)
            if example is not None:
                yield f"CTranslate2 takes the piece of the {side} language, such as {example}, {where}"


def _notes_on_generation(model: ForeignModel) -> Iterator[str]:
    """Yield a note on pieces that the model never generates: in CTranslate2, these are options of each translation."""
    architecture = model.architecture
    never = architecture.never_generated_ids
    options = ["disable_unk=True"] if architecture.unk_id in never else []
    if others := [id for id in never if id != architecture.unk_id]:
        pieces = _listed_pieces(model.vocabularies.sides[-1])
        shown = ", ".join(f"[{json.dumps(pieces[id], ensure_ascii=False)}]" for id in others[:_MOST_SHOWN])
        more = f", and {len(others) - _MOST_SHOWN} more" if len(others) > _MOST_SHOWN else ""
        options.append(f"suppress_sequences=[{shown}{more}]")
    if options:
        yield f"CTranslate2 may generate pieces that the model never does: prevent it with {' and '.join(options)}"


def _write_shortlist(shortlist: Shortlist, vocabularies: StoredVocabularies, folder: Path) -> str:
    """Write a shortlist, or nothing if the file cannot hold it; returns a note."""
    listed = [pieces_of(side) for side in vocabularies.sides]
    try:
        content = vocabulary_map(shortlist, listed[0], listed[-1])
    except InteropError as error:
        return f"the shortlist is left out: {error}"
    (folder / MAP).write_text(content, encoding="utf-8", newline="")
    return f"CTranslate2 applies the shortlist {MAP} with use_vmap=True only, and takes its union for a batch"


def _checked(architecture: Architecture) -> TransformerArchitecture:
    if not isinstance(architecture, TransformerArchitecture):
        raise InteropError(f"CTranslate2 has no network of type {architecture.type!r} as PocketMT has it")
    check_fields(architecture, _ONLY, "CTranslate2")
    return architecture


def _numbers(architecture: TransformerArchitecture) -> Iterator[tuple[str, Variable]]:
    positions = position_table(
        architecture.positions, architecture.position_offset, POSITIONS, architecture.model_dimension
    )
    for stack in ("encoder", "decoder"):
        yield f"{stack}/num_heads", variable(np.array(architecture.attention_heads, np.int16))
        yield f"{stack}/pre_norm", variable(np.array(architecture.pre_norm, np.int8))
        yield f"{stack}/activation", variable(np.array(ACTIVATIONS[architecture.activation], np.int8))
        yield f"{stack}/scale_embeddings", variable(np.array(architecture.scale_embeddings, np.int8))
        yield f"{stack}/position_encodings/encodings", variable(positions)
        layers = architecture.encoder_layers if stack == "encoder" else architecture.decoder_layers
        for layer in range(layers):
            for attention in ("self_attention", "attention")[: 1 + (stack == "decoder")]:
                yield (
                    f"{stack}/layer_{layer}/{attention}/head_dim",
                    variable(np.array(architecture.head_size, np.int32)),
                )
    yield "encoder/embeddings_merge", variable(np.array(0, np.int8))
    for name in ("alibi", "alibi_use_positive_positions", "scale_alibi"):
        yield f"decoder/{name}", variable(np.array(0, np.int8))
    yield "decoder/alignment_heads", variable(np.array(1, np.int16))
    yield "decoder/alignment_layer", variable(np.array(-1, np.int16))
    zero = architecture.first_decoder_input == "zero"
    yield "decoder/start_from_zero_embedding", variable(np.array(zero, np.int8))


def _in_order(variables: Mapping[str, Variable], tensors: Mapping[str, Tensor]) -> Iterator[tuple[str, Variable]]:
    """Return variables by name; those of tensors are read when they are taken."""
    for name in sorted({*variables, *tensors}):
        yield name, variables[name] if name in variables else _stored(tensors[name])


def _stored(tensor: Tensor) -> Variable:
    if isinstance(tensor, CodesTensor):
        return variable(np.concatenate([group.codes() for group in tensor.groups]))
    return variable(tensor.read())


def _multipliers(tensor: Tensor) -> Variable:
    assert isinstance(tensor, CodesTensor)
    scales = np.concatenate([np.broadcast_to(group.scales, group.rows) for group in tensor.groups])
    # Codes of a row of scale 0 stand for 0; a multiplier of 0 would divide by it.
    values = [reciprocal(scale) if scale > 0 else np.float32(np.finfo(np.float32).max) for scale in scales]
    return variable(np.array(values, np.float32))


def _write_vocabularies(vocabularies: StoredVocabularies, architecture: TransformerArchitecture, folder: Path) -> None:
    """Write pieces, SentencePiece models, and what the configuration says of special pieces."""
    shared = vocabularies.target is None
    lists = []
    for index, side in enumerate(vocabularies.sides):
        name = "shared" if shared else ("source", "target")[index]
        pieces = _listed_pieces(side)
        lists.append(pieces)
        _write_json(folder / f"{name}_vocabulary.json", list(pieces))
        (folder / ("sentencepiece.model" if shared else f"{name}.spm")).write_bytes(side.model)
    target = lists[-1]
    named = {"unk": architecture.unk_id, "bos": architecture.bos_id, "eos": architecture.eos_id}
    first = architecture.first_input_id
    configuration: dict[str, Any] = {
        **{f"{role}_token": target[id] for role, id in named.items() if id is not None},
        "add_source_bos": False,
        "add_source_eos": architecture.append_source_eos,
        "decoder_start_token": target[architecture.eos_id if first is None else first],
        "layer_norm_epsilon": architecture.normalization_epsilon,
        "multi_query_attention": False,
    }
    configuration.setdefault("bos_token", target[architecture.eos_id])
    if not shared:
        ids = architecture.source_special_ids
        for role, id in (("unk", ids.unk), ("eos", ids.eos)):
            if lists[0][id] != configuration[f"{role}_token"]:
                raise InteropError(f"CTranslate2 has one name of {role} for both vocabularies, here they are different")
    _write_json(folder / CONFIGURATION, configuration)


def _listed_pieces(side: StoredVocabulary) -> tuple[str, ...]:
    """Return the pieces of a side by id. Each is different: CTranslate2 would count one that is there twice once."""
    return tuple(piece or f"<no piece {id}>" for id, piece in enumerate(pieces_of(side)))


def _own(model: ForeignModel) -> dict[str, Any]:
    architecture, languages = model.architecture, model.metadata.language_pieces
    return {
        "normalization": model.vocabularies.source.normalization,
        "sides": [
            {"verbatim": side.verbatim, "language_codes": side.language_codes} for side in model.vocabularies.sides
        ],
        "pad_id": architecture.pad_id,
        "source_pad_id": architecture.source_pad_id,
        "bos_id": architecture.bos_id,
        "ban_special_pieces": architecture.ban_special_pieces,
        "banned_ids": list(architecture.banned_ids),
        "metadata": asdict(model.metadata) | {"language_pieces": None if languages is None else languages.to_json()},
    }


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
