"""Names of Marian's parameters, and how each lies in a file."""

from dataclasses import dataclass
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.model_file.architecture import TransformerArchitecture

_ATTENTION: Final = {"query_key_value": "qkv", "query": "q", "key_value": "kv", "output": "o"}
_STACKS: Final = {"self_attention": "self", "cross_attention": "context"}
_AVERAGE: Final = {
    "inner": ("W1", "b1"),
    "outer": ("W2", "b2"),
    "input_gate": ("Wi", "bi"),
    "average_gate": ("Wf", "bf"),
}
# Our norm of a sub-layer -> what Marian's name of it begins with, after the layer.
_NORMS: Final = {
    "self_attention_norm": "self_Wo",
    "cross_attention_norm": "context_Wo",
    "ssru_norm": "rnn_ffn",
    "average_attention_norm": "aan_ffn",
    "feed_forward_norm": "ffn_ffn",
}


@dataclass(frozen=True, slots=True)
class MarianNames:
    """Marian's parameters that are, one below the other, one of ours.

    Attributes:
        names: of the parameters.
        transposed: whether Marian's matrices are [inputs, outputs], ours [outputs, inputs]; its vectors are [1, n].
    """

    names: tuple[str, ...]
    transposed: bool = False


def marian_names(architecture: TransformerArchitecture) -> dict[str, MarianNames]:
    """Return Marian's names of every parameter of an architecture, by ours, in the order of ours."""
    return {name: _names(architecture, name) for name in architecture.parameter_shapes()}


def output_matrix(architecture: TransformerArchitecture) -> str:
    """Return our name of the matrix that is the output projection."""
    return "embedding.weight" if architecture.output_projection == "tied" else "output.weight"


def _names(architecture: TransformerArchitecture, name: str) -> MarianNames:
    shared = architecture.embeddings == "shared"
    ends = {
        "embedding.weight": "Wemb" if shared else "decoder_Wemb",
        "source_embedding.weight": "encoder_Wemb",
        "output.weight": "decoder_ff_logit_out_Wt",
        "output.bias": "decoder_ff_logit_out_b",
    }
    if name in ends:
        return MarianNames((ends[name],))
    stack, part, *rest = name.split(".")
    if part in ("norm", "embedding_norm"):
        place = "top_ln" if part == "norm" else "emb_ln"
        return MarianNames((f"{stack}_{place}_{_scale_or_bias(rest[0])}{'_pre' if part == 'embedding_norm' else ''}",))
    return _layer_names(f"{stack}_l{int(rest[0]) + 1}", rest[1:], architecture.pre_norm)


def _layer_names(layer: str, parts: list[str], pre_norm: bool) -> MarianNames:
    kind = parts[0]
    matrix = parts[-1] == "weight"
    if kind in _NORMS:
        return MarianNames((f"{layer}_{_NORMS[kind]}_ln_{_scale_or_bias(parts[-1])}{'_pre' if pre_norm else ''}",))
    if kind in _STACKS:
        letters = _ATTENTION[parts[1]]
        return MarianNames(tuple(f"{layer}_{_STACKS[kind]}_{'W' if matrix else 'b'}{each}" for each in letters), matrix)
    if kind == "ssru":
        return MarianNames((f"{layer}_rnn_W", f"{layer}_rnn_Wf"), True) if matrix else MarianNames((f"{layer}_rnn_bf",))
    if kind == "average_attention":
        return MarianNames((f"{layer}_aan_{_AVERAGE[parts[1]][not matrix]}",), matrix)
    if kind == "feed_forward":
        number = {"inner": 1, "outer": 2}[parts[1]]
        return MarianNames((f"{layer}_ffn_{'W' if matrix else 'b'}{number}",), matrix)
    raise InteropError(f"Marian has no parameter for {layer} {'.'.join(parts)}")


def _scale_or_bias(kind: str) -> str:
    return "scale" if kind == "weight" else "bias"
