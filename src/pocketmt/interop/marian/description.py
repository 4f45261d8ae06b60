"""The network that a Marian configuration describes: every key is read, known to change nothing, or refused by name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pocketmt.errors import InteropError
from pocketmt.interop.marian.model_yml import Value
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.architecture.base import MAXIMUM_LAYERS

NORMALIZATION_EPSILON: Final = 1e-6
# As Marian computes them after version 1.12.0; its changelog says that GELU is exact since then.
ACTIVATIONS: Final = {"relu": "relu", "swish": "swish", "gelu": "gelu"}
# As it does up to that version; bergamot contains 1.9.
OLD_ACTIVATIONS: Final = ACTIVATIONS | {"gelu": "gelu_sigmoid"}
_LAST_OLD: Final = (1, 12, 0)
_VERSION: Final = re.compile(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?!\d)")
_ACTIVATION_KEYS: Final = ("transformer-ffn-activation", "transformer-aan-activation")
# Keys about training, or about what the network does not have (cells of recurrent networks, type embeddings).
_WITHOUT_EFFECT: Final = {
    *("version", "model", "dec-cell-base-depth", "dec-cell-high-depth", "dim-rnn", "enc-cell", "enc-cell-depth"),
    *("enc-type", "bert-train-type-embeddings", "bert-type-vocab-size", "bert-class-symbol", "bert-mask-symbol"),
    *("bert-sep-symbol", "bert-masking-fraction", "transformer-guided-alignment-layer", "ulr-dim-emb"),
    *("ulr-trainable-transformation", "ulr-dropout", "ulr-softmax-temperature", "ulr-query-vectors"),
    *("ulr-keys-vectors", "char-stride", "char-highway", "char-conv-filters-num", "char-conv-filters-widths"),
    *("transformer-dropout", "transformer-dropout-attention", "transformer-dropout-ffn", "dropout-rnn"),
    *("dropout-src", "dropout-trg", "transformer-depth-scaling", "gradient-checkpointing", "max-length"),
    *("transformer-aan-activation", "transformer-aan-depth", "transformer-aan-nogate", "transformer-dim-aan"),
    *("dec-cell", "original-type", "factor-weight", "lemma-dependency"),
}
# Keys whose other values make another network. Every other key must be false, 0 or empty.
_ONLY: Final[Mapping[str, tuple[Value, ...]]] = {
    "type": ("transformer",),
    "factors-combine": ("sum",),
    "lemma-dim-emb": (0, -1),
    "transformer-ffn-depth": (2,),
    "transformer-decoder-ffn-depth": (0, 2),
    "input-types": ([], ["sequence"], ["sequence", "sequence"]),
}


@dataclass(frozen=True, slots=True)
class VocabularyFacts:
    """What the vocabularies say: sizes, special ids, and whether both sides share one.

    Attributes:
        sizes: of source and target.
        eos, unk: ids of the two sides.
        shared: whether one vocabulary, with its SentencePiece model, serves both sides.
        banned: target pieces that Marian never generates, other than unk.
    """

    sizes: tuple[int, int]
    eos: tuple[int, int]
    unk: tuple[int, int]
    shared: bool
    banned: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarianNetwork:
    """A network, and the layer of Marian's that has the parameters of each decoder layer (`decoder_l{n}`, from 1)."""

    architecture: TransformerArchitecture
    decoder_layers: tuple[int, ...]
    notes: tuple[str, ...] = ()


def activations_of(configuration: Mapping[str, Value]) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return Marian's names of activations -> ours, as the version that wrote a configuration has them, and notes."""
    found = _VERSION.match(str(configuration.get("version")))
    if found is not None and tuple(map(int, found.groups())) > _LAST_OLD:
        return ACTIVATIONS, ()
    if found is None and "gelu" in [configuration.get(key) for key in _ACTIVATION_KEYS]:
        return OLD_ACTIVATIONS, (
            "the configuration names no version of Marian: gelu is read as x * sigmoid(1.702 x), as Marian computes it "
            "up to 1.12.0",
        )
    return OLD_ACTIVATIONS, ()


def describe(
    configuration: Mapping[str, Value], vocabulary: VocabularyFacts, activations: Mapping[str, str]
) -> MarianNetwork:
    """Return the network of a configuration.

    Self-attention with pre-norm is the network that Marian trains. When Marian 1.12 translates, it does not normalize
    the inputs of keys and values after the first piece. `activations` are Marian's names of activations -> ours.

    Raises:
        InteropError: naming the key, its value, and what there is instead.
        ConfigurationError: sizes do not fit together.
    """
    keys = _Keys(configuration)
    keys.check("type")
    dimension, heads = keys.whole("dim-emb"), keys.whole("transformer-heads")
    layers = keys.whole("enc-depth", highest=MAXIMUM_LAYERS), keys.whole("dec-depth", highest=MAXIMUM_LAYERS)
    nodes = keys.whole("transformer-dim-ffn"), keys.whole("transformer-decoder-dim-ffn", 0, lowest=0)
    nodes = (nodes[0], nodes[1] or nodes[0])
    norm = _norm(keys)
    uneven = nodes[0] != nodes[1]
    tied, decoder_layers, notes = _tied_layers(keys, layers[1])
    all_tied, sources_tied = keys.flag("tied-embeddings-all"), keys.flag("tied-embeddings-src")
    output_tied = all_tied or keys.flag("tied-embeddings")
    _check_vocabularies(keys, vocabulary, all_tied or sources_tied)
    architecture = TransformerArchitecture(
        model_dimension=dimension,
        vocabulary_size=vocabulary.sizes[1],
        source_vocabulary_size=0 if vocabulary.sizes[0] == vocabulary.sizes[1] else vocabulary.sizes[0],
        encoder_layers=layers[0],
        decoder_layers=layers[1],
        embeddings="shared" if all_tied or sources_tied else "separate",
        output_projection="tied" if output_tied else "untied",
        output_bias=not keys.flag("output-omit-bias"),
        first_decoder_input="zero",
        pad_id=None,
        bos_id=None,
        eos_id=vocabulary.eos[1],
        unk_id=vocabulary.unk[1],
        source_eos_id=vocabulary.eos[0] if vocabulary.eos[0] != vocabulary.eos[1] else None,
        source_unk_id=vocabulary.unk[0] if vocabulary.unk[0] != vocabulary.unk[1] else None,
        banned_ids=vocabulary.banned,
        vocabularies="shared" if vocabulary.shared else "separate",
        normalization_epsilon=NORMALIZATION_EPSILON,
        feed_forward_dimension=max(nodes),
        encoder_feed_forward=(nodes[0],) * layers[0] if uneven else (),
        decoder_feed_forward=(nodes[1],) * (1 if tied else layers[1]) if uneven else (),
        attention_heads=heads,
        attention_dimension=dimension,
        norm=norm,
        attention_bias=True,
        tied_decoder_layers=tied,
        activation=keys.choice("transformer-ffn-activation", activations, "swish"),
        positions="concatenated_inclusive",
        embedding_norm=keys.operations("transformer-postprocess-emb", ("", "d", "n", "dn", "nd")).count("n") == 1,
        **_autoregression(keys, activations),
    )
    keys.finish()
    return MarianNetwork(architecture, decoder_layers, notes)


class _Keys:
    """The keys of a configuration, and which of them were read."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values
        self._read: set[str] = set()

    def get(self, key: str, default: Value) -> Value:
        self._read.add(key)
        value = self._values.get(key)
        return default if value is None else value

    def whole(self, key: str, default: int | None = None, lowest: int = 1, highest: int | None = None) -> int:
        value = self.get(key, default)
        if type(value) is not int or value < lowest or (highest is not None and value > highest):
            limit = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
            raise _refused(key, value, f"a whole number {limit}")
        return value

    def flag(self, key: str) -> bool:
        value = self.get(key, False)
        if type(value) is not bool:
            raise _refused(key, value, "true or false")
        return value

    def choice(self, key: str, choices: Mapping[str, str], default: str) -> str:
        value = self.get(key, default)
        if not isinstance(value, str) or value not in choices:
            raise _refused(key, value, " or ".join(map(repr, choices)))
        return choices[value]

    def operations(self, key: str, known: tuple[str, ...]) -> str:
        """Return the letters of operations around a layer: dropout, addition, normalization."""
        value = self.get(key, "")
        if not isinstance(value, str) or value not in known:
            raise _refused(key, value, " or ".join(map(repr, known)))
        return value

    def check(self, key: str) -> None:
        if self.get(key, "") not in _ONLY[key]:
            raise _refused(key, self._values.get(key), " or ".join(map(repr, _ONLY[key])))

    def finish(self) -> None:
        """Raise InteropError for a key that makes another network, or that nobody knows."""
        for key, value in self._values.items():
            if key in self._read or key in _WITHOUT_EFFECT:
                continue
            if key in _ONLY:
                if value is not None and not any(type(only) is type(value) and only == value for only in _ONLY[key]):
                    raise _refused(key, value, " or ".join(map(repr, _ONLY[key])))
            elif value not in (None, False, 0, 0.0, "", []):
                raise _refused(key, value, "networks without it")


def _refused(key: str, value: object, expected: str) -> InteropError:
    shown = "missing" if value is None else f"{value!r:.80}"
    return InteropError(f"the configuration: {key} is {shown}, but PocketMT only has {expected}")


def _norm(keys: _Keys) -> str:
    """Return "post" or "pre"; Marian writes dropout as d, addition as a, normalization as n."""
    before = keys.operations("transformer-preprocess", ("", "d", "n", "dn", "nd")).replace("d", "")
    after = keys.operations("transformer-postprocess", ("dan", "an", "da", "a")).replace("d", "")
    top = keys.operations("transformer-postprocess-top", ("", "d", "n", "dn", "nd")).replace("d", "")
    if (before, after, top) == ("", "an", ""):
        return "post"
    if (before, after, top) == ("n", "a", "n"):
        return "pre"
    raise _refused(
        "transformer-postprocess",
        f"{after}, with preprocess {before!r} and postprocess-top {top!r}",
        "normalization after each layer, or before each layer and at the top",
    )


def _tied_layers(keys: _Keys, layers: int) -> tuple[bool, tuple[int, ...], tuple[str, ...]]:
    """Return whether one layer is all, and the layer whose parameters each decoder layer uses."""
    key = "transformer-tied-layers"
    value = keys.get(key, [])
    if value == []:
        return False, tuple(range(1, layers + 1)), ()
    if not isinstance(value, list) or len(value) != layers:
        raise _refused(key, value, f"a list of {layers} layers, one for each decoder layer")
    tied: list[int] = []
    for other in value:  # a name that layers share, perhaps one that no layer has as its number
        if type(other) is not int or not 1 <= other <= MAXIMUM_LAYERS:
            raise _refused(key, value, f"names of layers from 1 to {MAXIMUM_LAYERS}")
        tied.append(other)
    if len(set(tied)) == 1 and layers > 1:
        return True, (tied[0],), ()
    if len(set(tied)) == layers:
        return False, tuple(tied), ()
    note = f"decoder layers are tied in the pattern {tied}; the model file has each of them, which makes it larger"
    return False, tuple(tied), (note,)


def _autoregression(keys: _Keys, activations: Mapping[str, str]) -> dict[str, Any]:
    key = "transformer-decoder-autoreg"
    kind = keys.get(key, "self-attention")
    if kind != "rnn":
        for recurrent in ("layer-normalization", "skip"):
            keys.flag(recurrent)  # changes nothing here
    if kind == "self-attention":
        return {}
    if kind == "rnn":
        if (cell := keys.get("dec-cell", "gru")) != "ssru":
            raise _refused("dec-cell", cell, "'ssru'")
        if keys.flag("layer-normalization"):
            raise _refused("layer-normalization", True, "false in SSRUs")
        return {"decoder_autoregression": "ssru"}
    if kind == "average-attention":
        return _average_attention(keys, activations)
    raise _refused(key, kind, "'self-attention' or 'average-attention' or 'rnn'")


def _average_attention(keys: _Keys, activations: Mapping[str, str]) -> dict[str, Any]:
    depth, nodes = keys.whole("transformer-aan-depth", 2), keys.whole("transformer-dim-aan", 2048)
    if depth > 2:
        raise _refused("transformer-aan-depth", depth, "1 or 2")
    if depth == 2 and nodes == keys.whole("dim-emb"):
        raise _refused("transformer-dim-aan", nodes, "another number than dim-emb")
    return {
        "decoder_autoregression": "average_attention",
        "average_attention_dimension": nodes if depth == 2 else 0,
        "average_attention_activation": keys.choice("transformer-aan-activation", activations, "swish"),
        "average_attention_gate": not keys.flag("transformer-aan-nogate"),
    }


def _check_vocabularies(keys: _Keys, vocabulary: VocabularyFacts, joint: bool) -> None:
    value = keys.get("dim-vocabs", [])
    if value != list(vocabulary.sizes):
        raise InteropError(
            f"the configuration: dim-vocabs is {value!r:.80}, but the vocabularies have {list(vocabulary.sizes)} "
            "pieces: they are of another model"
        )
    if joint and vocabulary.sizes[0] != vocabulary.sizes[1]:
        raise InteropError(
            f"the configuration: one embedding serves both sides, but their vocabularies have {list(vocabulary.sizes)} "
            "pieces"
        )
