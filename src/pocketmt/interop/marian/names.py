"""Marian's names of our parameters, in npz files and in those of bergamot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pocketmt.interop.marian.description import MarianNetwork

# "rows": as ours; "matrix": transposed, [inputs, outputs]; "vector": [1, outputs].
Form = Literal["rows", "matrix", "vector"]

# Our parts of a layer -> Marian's that are stacked there; {} stands for W or b.
_LINEAR: Final[Mapping[str, tuple[str, ...]]] = {
    "self_attention.query_key_value": ("self_{}q", "self_{}k", "self_{}v"),
    "self_attention.output": ("self_{}o",),
    "cross_attention.query": ("context_{}q",),
    "cross_attention.key_value": ("context_{}k", "context_{}v"),
    "cross_attention.output": ("context_{}o",),
    "feed_forward.inner": ("ffn_{}1",),
    "feed_forward.outer": ("ffn_{}2",),
    "ssru.input_forget": ("rnn_{}", "rnn_{}f"),
    "average_attention.inner": ("aan_{}1",),
    "average_attention.outer": ("aan_{}2",),
    "average_attention.input_gate": ("aan_{}i",),
    "average_attention.average_gate": ("aan_{}f",),
}
_NORMS: Final[Mapping[str, str]] = {
    "self_attention_norm": "self_Wo",
    "cross_attention_norm": "context_Wo",
    "feed_forward_norm": "ffn_ffn",
    "ssru_norm": "rnn_ffn",
    "average_attention_norm": "aan_ffn",
}
_KINDS: Final = {"weight": "scale", "bias": "bias"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a parameter is: Marian's tensors that are stacked as its rows, and their form."""

    names: tuple[str, ...]
    form: Form


def place(name: str, network: MarianNetwork) -> Place:
    """Return where a parameter of the network is.

    The output projection that is not tied is `decoder_ff_logit_out_Wt`; old files have its transpose instead.
    """
    shared = network.architecture.embeddings == "shared"
    ends = {
        "embedding.weight": Place(("Wemb",) if shared else ("decoder_Wemb",), "rows"),
        "source_embedding.weight": Place(("encoder_Wemb",), "rows"),
        "output.weight": Place(("decoder_ff_logit_out_Wt",), "rows"),
        "output.bias": Place(("decoder_ff_logit_out_b",), "vector"),
    }
    if name in ends:
        return ends[name]
    stack, part, *rest = name.split(".")
    if part in ("norm", "embedding_norm"):
        kind = _KINDS[rest[0]]
        top = f"{stack}_top_ln_{kind}" if part == "norm" else f"{stack}_emb_ln_{kind}_pre"
        return Place((top,), "vector")
    return _of_layer(name, network)


def _of_layer(name: str, network: MarianNetwork) -> Place:
    stack, _, index, *parts, kind = name.split(".")
    layer = network.decoder_layers[int(index)] if stack == "decoder" else int(index) + 1
    prefix, part = f"{stack}_l{layer}", ".".join(parts)
    if kind == "forget_bias":
        return Place((f"{prefix}_rnn_bf",), "vector")
    if part in _NORMS:
        pre = network.architecture.pre_norm
        norm = "rnn" if pre and part == "ssru_norm" else _NORMS[part]
        return Place((f"{prefix}_{norm}_ln_{_KINDS[kind]}{'_pre' if pre else ''}",), "vector")
    letter = "W" if kind == "weight" else "b"
    form: Form = "matrix" if kind == "weight" else "vector"
    return Place(tuple(f"{prefix}_{each.format(letter)}" for each in _LINEAR[part]), form)
