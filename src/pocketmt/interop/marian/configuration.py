"""A Marian model's settings as our description of its network, and back."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pocketmt.errors import ConfigurationError, InteropError
from pocketmt.interop.marian.settings import Value
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture

EPSILON: Final = 1e-6  # of layer normalization, which is not a setting
# Settings that concern other types of networks, or training alone.
_WITHOUT_EFFECT: Final = {
    *("bert-train-type-embeddings", "bert-type-vocab-size", "dec-cell-base-depth", "dec-cell-high-depth", "dim-rnn"),
    *("enc-cell", "enc-cell-depth", "enc-type", "version", "factors-combine", "transformer-guided-alignment-layer"),
    *("transformer-aan-activation", "transformer-aan-depth", "transformer-aan-nogate", "transformer-dim-aan"),
    *("transformer-depth-scaling", "transformer-pool", "dec-cell", "output-approx-knn", "char-conv-filters-num"),
    *("char-conv-filters-widths", "char-highway", "char-stride", "ulr-dropout", "ulr-softmax-temperature"),
    *("ulr-keys-vectors", "ulr-query-vectors", "dim-vocabs"),
}
# Settings that PocketMT has at one value only; a setting that a model lacks has that value.
_FIXED: Final[dict[str, Sequence[Value]]] = {
    "type": ("transformer",),
    "factors-dim-emb": (0,),
    "input-types": ([],),
    "layer-normalization": (False,),
    "lemma-dependency": ("",),
    "lemma-dim-emb": (0,),
    "original-type": ("transformer",),
    "right-left": (False,),
    "skip": (False,),
    "tied-embeddings-src": (False,),
    "transformer-decoder-dim-ffn": (0,),
    "transformer-decoder-ffn-depth": (0, 2),
    "transformer-ffn-depth": (2,),
    "transformer-no-affine": (False,),
    "transformer-no-bias": (False,),
    "transformer-no-projection": (False,),
    "transformer-rnn-projection": (False,),
    "transformer-train-position-embeddings": (False,),
    "transformer-train-positions": (False,),
    "ulr": (False,),
    "ulr-dim-emb": (0,),
    "ulr-trainable-transformation": (False,),
}
_ACTIVATIONS: Final = {"relu": "relu", "swish": "swish", "gelu": "gelu_sigmoid"}
_AUTOREGRESSION: Final = {"self-attention": "self_attention", "rnn": "ssru", "average-attention": "average_attention"}
# Norms around a sub-layer and after the layers: (preprocess, postprocess, postprocess-top) -> our `norm`.
_NORMS: Final = {("", "dan", ""): "post", ("n", "da", "n"): "pre", ("n", "a", "n"): "pre", ("", "an", ""): "post"}
_EMBEDDING_NORMS: Final = {"d": False, "": False, "n": True, "nd": True, "dn": True}


class MarianSettings:
    """Settings by name, with the values that Marian takes for those that a model does not hold."""

    def __init__(self, settings: Mapping[str, Value]) -> None:
        """Keep settings; InteropError, naming it, for one that PocketMT does not have at its value."""
        self._settings = settings
        self._used: set[str] = set()
        for name, values in _FIXED.items():
            if self.get(name, values[0]) not in values:
                raise self.refused(name, " or ".join(map(repr, values)))

    def get(self, name: str, default: Value) -> Value:
        """Return a setting."""
        self._used.add(name)
        return self._settings.get(name, default)

    def whole(self, name: str) -> int:
        """Return a setting that is a whole number of at least 1; InteropError if it is missing or something else."""
        value = self.get(name, "missing")
        if type(value) is not int or value < 1:
            raise self.refused(name, "a whole number of at least 1")
        return value

    def flag(self, name: str) -> bool:
        """Return a setting that is true or false, false if it is missing."""
        value = self.get(name, False)
        if not isinstance(value, bool):
            raise self.refused(name, "true or false")
        return value

    def choice(self, name: str, known: Mapping[str, Any], default: str) -> Any:
        """Return what a word stands for."""
        value = self.get(name, default)
        if not isinstance(value, str) or value not in known:
            raise self.refused(name, " or ".join(map(repr, known)))
        return known[value]

    def refused(self, name: str, expected: str) -> InteropError:
        """Return the error about a setting."""
        return InteropError(
            f"the setting {name} is {self._settings.get(name)!r:.80}, PocketMT has networks with {expected} only"
        )

    def finish(self) -> None:
        """Raise InteropError if there is a setting that nothing used."""
        if unknown := sorted(self._settings.keys() - self._used - _WITHOUT_EFFECT):
            value = self._settings[unknown[0]]
            raise InteropError(
                f"the setting {unknown[0]} ({value!r:.80}) is unknown: PocketMT cannot tell what it does"
            )


def architecture_of(
    settings: Mapping[str, Value], sizes: tuple[int, int], output_bias: bool, **more: Any
) -> TransformerArchitecture:
    """Return the description of a Marian network.

    Args:
        settings: of the model.
        sizes: pieces of source and target.
        output_bias: whether the model has one.
        more: further fields: special ids, vocabularies, sizes of an average attention.

    Raises InteropError, naming the setting, for what PocketMT does not have.
    """
    read = MarianSettings(settings)
    dimension = read.whole("dim-emb")
    autoregression = read.choice("transformer-decoder-autoreg", _AUTOREGRESSION, "self-attention")
    if autoregression == "ssru" and read.get("dec-cell", "ssru") != "ssru":
        raise read.refused("dec-cell", "'ssru'")
    shared = read.flag("tied-embeddings-all")
    tied = read.flag("tied-embeddings") or shared
    norms = tuple(read.get(f"transformer-{place}", "") for place in ("preprocess", "postprocess", "postprocess-top"))
    if norms not in _NORMS:
        raise read.refused("transformer-postprocess", "norms after or before every sub-layer")
    if not output_bias and not read.get("output-omit-bias", False):
        raise InteropError("the tensor decoder_ff_logit_out_b is missing, and the setting output-omit-bias is not true")
    read.get("output-omit-bias", False)
    fields = {
        "model_dimension": dimension,
        "attention_dimension": dimension,
        "attention_heads": read.whole("transformer-heads"),
        "attention_bias": True,
        "feed_forward_dimension": read.whole("transformer-dim-ffn"),
        "encoder_layers": read.whole("enc-depth"),
        "decoder_layers": read.whole("dec-depth"),
        "activation": read.choice("transformer-ffn-activation", _ACTIVATIONS, "swish"),
        "decoder_autoregression": autoregression,
        "embedding_norm": read.choice("transformer-postprocess-emb", _EMBEDDING_NORMS, "d"),
        "norm": _NORMS[norms],
        "normalization_epsilon": EPSILON,
        "positions": "concatenated_inclusive",
        "first_decoder_input": "zero",
        "embeddings": "shared" if shared else "separate",
        "source_vocabulary_size": 0 if sizes[0] == sizes[1] or shared else sizes[0],
        "vocabulary_size": sizes[1],
        "output_projection": "tied" if tied else "untied",
        "output_bias": output_bias,
        "tied_decoder_layers": _tied_layers(read),
    }
    read.finish()
    try:
        return TransformerArchitecture(**fields, **more)
    except ConfigurationError as error:
        raise InteropError(f"the settings describe no network that PocketMT has: {error}") from error


def _tied_layers(read: MarianSettings) -> bool:
    """Return whether all decoder layers are the first; encoder layers may not be tied in a PocketMT model."""
    tied = read.get("transformer-tied-layers", [])
    depths = read.whole("enc-depth"), read.whole("dec-depth")
    if tied in ([], list(range(1, depths[1] + 1))):
        return False
    if tied != [1] * depths[1]:
        raise read.refused("transformer-tied-layers", "no tied layers, or all decoder layers tied to the first,")
    return True


def settings_of(architecture: Architecture) -> dict[str, Value]:
    """Return the settings of a Marian model; raises InteropError, naming the field, for what Marian does not have."""
    if not isinstance(architecture, TransformerArchitecture):
        raise InteropError(f"Marian has no network of type {architecture.type!r} as PocketMT has it")
    refuse = _refuse
    dimension = architecture.model_dimension
    refuse(architecture, "attention_dimension", dimension)
    refuse(architecture, "scale_embeddings", True)
    refuse(architecture, "position_offset", 0)
    refuse(architecture, "positions", "concatenated_inclusive")
    refuse(architecture, "first_decoder_input", "zero")
    refuse(architecture, "append_source_eos", True)
    for name in architecture.unpruned_sizes():
        refuse(architecture, name, ())
    activations = {ours: theirs for theirs, ours in _ACTIVATIONS.items()}
    if architecture.activation not in activations:
        refuse(architecture, "activation", "relu")
    pre = architecture.pre_norm
    shared = architecture.embeddings == "shared"
    autoregression = {ours: theirs for theirs, ours in _AUTOREGRESSION.items()}
    tied = architecture.output_projection == "tied"
    return {name: values[0] for name, values in _FIXED.items() if name not in _ELSEWHERE} | {
        "dec-cell": "ssru" if architecture.decoder_autoregression == "ssru" else "gru",
        "dec-cell-base-depth": 2,
        "dec-cell-high-depth": 1,
        "dec-depth": architecture.decoder_layers,
        "dim-emb": dimension,
        "dim-rnn": 1024,
        "dim-vocabs": [
            architecture.source_vocabulary_size or architecture.vocabulary_size,
            architecture.vocabulary_size,
        ],
        "enc-cell": "gru",
        "enc-cell-depth": 1,
        "enc-depth": architecture.encoder_layers,
        "enc-type": "bidirectional",
        "output-omit-bias": not architecture.output_bias,
        "tied-embeddings": tied and not shared,
        "tied-embeddings-all": tied and shared,
        "transformer-decoder-autoreg": autoregression[architecture.decoder_autoregression],
        "transformer-dim-ffn": architecture.feed_forward_dimension,
        "transformer-ffn-activation": activations[architecture.activation],
        "transformer-guided-alignment-layer": "last",
        "transformer-heads": architecture.attention_heads,
        "transformer-pool": False,
        "transformer-postprocess": "da" if pre else "dan",
        "transformer-postprocess-emb": "nd" if architecture.embedding_norm else "d",
        "transformer-postprocess-top": "n" if pre else "",
        "transformer-preprocess": "n" if pre else "",
        "transformer-tied-layers": [1] * architecture.decoder_layers if architecture.tied_decoder_layers else [],
        "version": "v1.9.56 written by PocketMT",
    }


# Settings that older versions of Marian do not know.
_ELSEWHERE: Final = {
    *("factors-dim-emb", "lemma-dependency", "original-type", "transformer-decoder-dim-ffn", "transformer-no-affine"),
    *(
        "transformer-decoder-ffn-depth",
        "transformer-no-bias",
        "transformer-rnn-projection",
        "transformer-train-positions",
    ),
}


def _refuse(architecture: TransformerArchitecture, field: str, only: object) -> None:
    value = getattr(architecture, field)
    if value != only:
        raise InteropError(f"Marian has no network with {field} {value!r:.80}, only with {only!r}")
