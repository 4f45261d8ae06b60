"""Reading a Hugging Face folder."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import ConfigurationError, InteropError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import Float32
from pocketmt.interop.hugging_face.checkpoint import read_checkpoint
from pocketmt.interop.hugging_face.configuration import Configuration, banned_ids, one_id, read_configuration
from pocketmt.interop.hugging_face.marian_tokenizer import MarianTokenizer, read_marian_tokenizer
from pocketmt.interop.hugging_face.multilingual_tokenizer import (
    UNKNOWN,
    MultilingualTokenizer,
    read_multilingual_tokenizer,
)
from pocketmt.interop.hugging_face.tokenizer_class import MARIAN, MULTILINGUAL, SMALL100, tokenizer_class
from pocketmt.interop.hugging_face.weights import Weights, network_tensors
from pocketmt.interop.named_errors import with_path
from pocketmt.interop.search_notes import SearchSetting, search_notes
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.architecture.base import MAXIMUM_LAYERS
from pocketmt.model_file.metadata import ModelMetadata

ACTIVATIONS: Final = {
    "relu": "relu",
    "swish": "swish",
    "silu": "swish",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "quick_gelu": "gelu_sigmoid",
}
# Those of transformers; it translates greedily where a folder does not give a beam.
_BEAM_SIZE: Final = 1
_LENGTH_PENALTY: Final = 1.0
_LICENCE: Final = re.compile(r"^licen[sc]e:[ \t]*[\"']?([\w.+ -]{1,80})", re.MULTILINE)
_LARGEST_README: Final = 64 << 10


def read_model(folder: Path) -> ForeignModel:
    """Read a folder; raises InteropError naming the file, and the key or tensor that is damaged or unknown."""
    configuration = read_configuration(folder)
    kind = configuration.get("model_type")
    if not isinstance(kind, str) or kind not in _READERS:
        raise configuration.refused("model_type", kind, "marian and m2m_100 (which NLLB is, too)")
    weights = Weights(read_checkpoint(folder))
    try:
        return _READERS[kind](folder, configuration, weights)
    except (ConfigurationError, InteropError) as error:
        raise with_path(folder, error) from error


def _marian(folder: Path, configuration: Configuration, weights: Weights) -> ForeignModel:
    source_size = configuration.whole("vocab_size")
    target_size = configuration.whole("decoder_vocab_size", source_size)
    shared = configuration.flag("share_encoder_decoder_embeddings", True)
    if shared and source_size != target_size:
        raise configuration.refused("decoder_vocab_size", target_size, f"vocab_size, {source_size}, if it is shared")
    weights.check_pieces(source_size, target_size, shared)
    tokenizer_class(folder, configuration, (MARIAN,))
    tokenizer = read_marian_tokenizer(folder, source_size, target_size)
    if (forced := configuration.get("forced_bos_token_id")) is not None:
        raise configuration.refused("forced_bos_token_id", forced, "Marian models without it")
    bias = weights.output_bias(target_size)
    architecture = TransformerArchitecture(
        **_sizes(configuration, "gelu"),
        **_special(configuration, tokenizer.target["unk"]),
        **_source_special(tokenizer),
        vocabulary_size=target_size,
        embeddings="shared" if shared else "separate",
        source_vocabulary_size=source_size if source_size != target_size else 0,
        output_bias=bias is not None,
        scale_embeddings=configuration.flag("scale_embedding", False),
        vocabularies="shared" if tokenizer.vocabularies.target is None else "separate",
        positions="concatenated",
        norm="post",
    )
    weights.check_positions(architecture.model_dimension)
    if tokenizer.target["eos"] != architecture.eos_id:
        raise configuration.refused("eos_token_id", architecture.eos_id, f"that of the vocabulary, {tokenizer.target}")
    languages = (tokenizer.source_language, tokenizer.target_language)
    return _foreign(folder, configuration, weights, architecture, bias, tokenizer, languages)


def _multilingual(folder: Path, configuration: Configuration, weights: Weights) -> ForeignModel:
    size = configuration.whole("vocab_size")
    weights.check_pieces(size, size, shared=True)
    kind = tokenizer_class(folder, configuration, MULTILINGUAL)
    tokenizer = read_multilingual_tokenizer(folder, size, "source" if kind == SMALL100 else "translation")
    pad = one_id(configuration, "pad_token_id")
    for key in ("decoder_start_token_id", "eos_token_id"):
        if one_id(configuration, key) == pad:
            # transformers counts positions over the pieces that are not padding, PocketMT over all.
            raise configuration.refused(key, pad, "M2M100 and NLLB models where it is not pad_token_id")
    architecture = TransformerArchitecture(
        **_sizes(configuration, "relu"),
        **_special(configuration, UNKNOWN),
        vocabulary_size=size,
        vocabularies="shared" if tokenizer.vocabularies.target is None else "separate",
        scale_embeddings=configuration.flag("scale_embedding", True),
        positions="concatenated_inclusive",
        position_offset=pad + 1,
        norm="pre",
    )
    target = ""
    if (forced := configuration.get("forced_bos_token_id")) is not None:
        target = tokenizer.language_of(forced)
        if not target:
            raise configuration.refused(
                "forced_bos_token_id", forced, "pieces of target languages there: delete the key"
            )
    return _foreign(folder, configuration, weights, architecture, None, tokenizer, ("", target))


_READERS: Final[dict[str, Callable[[Path, Configuration, Weights], ForeignModel]]] = {
    "marian": _marian,
    "m2m_100": _multilingual,
}


def _foreign(
    folder: Path,
    configuration: Configuration,
    weights: Weights,
    architecture: TransformerArchitecture,
    bias: Float32 | None,
    tokenizer: MarianTokenizer | MultilingualTokenizer,
    languages: tuple[str, str],
) -> ForeignModel:
    beam = configuration.whole("num_beams", _BEAM_SIZE, sys.maxsize)
    penalty = configuration.number("length_penalty", _LENGTH_PENALTY)
    notes = search_notes(
        SearchSetting("num_beams", beam, configuration.get("num_beams") is not None),
        SearchSetting("length_penalty", penalty, configuration.get("length_penalty") is not None),
    )
    configuration.finish()
    return ForeignModel(
        architecture=architecture,
        tensors=network_tensors(weights, architecture, bias),
        vocabularies=tokenizer.vocabularies,
        metadata=ModelMetadata(
            source_language=languages[0],
            target_language=languages[1],
            language_pieces=tokenizer.languages,
            licence=_licence(folder / "README.md"),
            training={"imported_from": "Hugging Face"},
        ),
        notes=notes,
    )


def _sizes(configuration: Configuration, activation: str) -> dict[str, Any]:
    """Return what both kinds of models say by the same keys; `activation` is the one of a model that names none."""
    dimension, heads = configuration.whole("d_model"), configuration.whole("encoder_attention_heads")
    if (other := configuration.whole("decoder_attention_heads")) != heads:
        raise configuration.refused("decoder_attention_heads", other, f"as many as encoder_attention_heads, {heads}")
    layers = tuple(configuration.whole(f"{stack}_layers", highest=MAXIMUM_LAYERS) for stack in ("encoder", "decoder"))
    nodes = configuration.whole("encoder_ffn_dim"), configuration.whole("decoder_ffn_dim")
    uneven = nodes[0] != nodes[1]
    return {
        "model_dimension": dimension,
        "attention_dimension": dimension,
        "attention_heads": heads,
        "attention_bias": True,
        "encoder_layers": layers[0],
        "decoder_layers": layers[1],
        "feed_forward_dimension": max(nodes),
        "encoder_feed_forward": (nodes[0],) * layers[0] if uneven else (),
        "decoder_feed_forward": (nodes[1],) * layers[1] if uneven else (),
        "activation": configuration.choice("activation_function", ACTIVATIONS, activation),
        "output_projection": "tied" if configuration.flag("tie_word_embeddings", True) else "untied",
    }


def _special(configuration: Configuration, unknown: int) -> dict[str, Any]:
    """Return special pieces, the decoder's first input, and what is never generated."""
    eos, pad = one_id(configuration, "eos_token_id"), one_id(configuration, "pad_token_id")
    start = one_id(configuration, "decoder_start_token_id")
    bos = configuration.get("bos_token_id")
    others = {"pad": pad, "eos": eos} | ({"bos": bos} if type(bos) is int and bos == start else {})
    first = [name for name, id in others.items() if id == start]
    if not first:
        raise configuration.refused("decoder_start_token_id", start, "the id of pad, eos or bos")
    return {
        "eos_id": eos,
        "pad_id": pad,
        "bos_id": bos if first[0] == "bos" else None,
        "unk_id": unknown,
        "first_decoder_input": first[0],
        "ban_special_pieces": False,
        "banned_ids": banned_ids(configuration),
    }


def _source_special(tokenizer: MarianTokenizer) -> dict[str, Any]:
    """Return the source's special pieces where they are others than the target's."""
    source, target = tokenizer.source, tokenizer.target
    return {f"source_{role}_id": source[role] for role in source if source[role] != target.get(role)}


def _licence(readme: Path) -> str:
    """Return the licence that the head of a model's page names, or nothing."""
    try:
        with readme.open("rb") as file:
            text = file.read(_LARGEST_README).decode("utf-8", "replace")
    except OSError:
        return ""
    head = text.split("---", 2)
    found = _LICENCE.search(head[1]) if len(head) == 3 and not head[0].strip() else None
    return "" if found is None else found[1].strip()
