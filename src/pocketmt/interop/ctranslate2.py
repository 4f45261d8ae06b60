"""Export a Transformer to a CTranslate2 model folder (its package, read through its own `ctranslate2.specs`).

CTranslate2 and NumPy are imported when `export` is called, never at import: they belong to whoever exports, not to the
runtime. The exported model computes what ours does: one tied embedding scaled by sqrt(d), the same table of sinusoids,
LayerNorm epsilon 1e-5, `eos` appended to the source, `bos` as the decoder's first input.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture
from pocketmt.text.vocabulary import BOS, EOS, UNK, Vocabulary

# Positions that get an encoding: CTranslate2 cuts sources at 1,024 tokens by default and refuses any beyond these.
POSITIONS = 1024

Quantization = Literal["none", "int8"]


def export(
    state_dict: Mapping[str, Any],
    architecture: Architecture,
    vocabulary: bytes,
    folder: Path,
    quantization: Quantization = "none",
) -> None:
    """Write `model.bin`, `config.json` and the vocabulary of a CTranslate2 model to `folder`, which is made.

    Args:
        state_dict: tensors by our parameter names, anything NumPy can read (its arrays, PyTorch CPU tensors).
        architecture: the sizes of the network.
        vocabulary: the serialized SentencePiece model.
        folder: where to write; the files in it are replaced.
        quantization: "int8" stores every matrix as int8 with one scale a row, as CTranslate2 itself quantizes.

    Raises:
        ConfigurationError: CTranslate2 is not installed, it has no such network (an LSTM, an SSRU, tied layers,
            layers that pruning made unequal), or a tensor is missing, has no place or is of another shape.
        DataError: the vocabulary is none or does not fit the embedding.
    """
    if not isinstance(architecture, TransformerArchitecture) or not architecture.plain:
        raise ConfigurationError(
            "cannot export: CTranslate2 runs Transformers with decoders of self-attention, each layer with its own "
            "parameters and all of one size, alone"
        )
    specs = _specs()
    weights = _Weights(state_dict)
    loaded = Vocabulary.from_bytes(vocabulary)
    pieces = loaded.pieces(range(len(loaded)))
    if len(pieces) != architecture.vocabulary_size:
        raise DataError(
            f"the vocabulary has {len(pieces)} pieces, the model's embedding {architecture.vocabulary_size}: "
            "export a model with the vocabulary that it was trained with"
        )
    spec = specs.TransformerSpec(_encoder(specs, weights, architecture), _decoder(specs, weights, architecture))
    weights.refuse_unused()
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = 1e-5
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = pieces[UNK], pieces[BOS], pieces[EOS]
    spec.config.decoder_start_token = pieces[BOS]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.validate()
    spec.optimize(quantization=None if quantization == "none" else quantization)
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))


class _Weights:
    """The model's tensors as NumPy arrays, each checked against its shape and marked as used when taken."""

    def __init__(self, state_dict: Mapping[str, Any]) -> None:
        self._tensors = dict(state_dict)
        self._numpy = importlib.import_module("numpy")
        self._used: set[str] = set()

    def take(self, name: str, *shape: int) -> Any:
        """Return a copy of tensor `name` as a float32 array of `shape`."""
        if name not in self._tensors:
            raise ConfigurationError(f"cannot export: the model has no tensor {name}")
        # A copy, because CTranslate2 quantizes in place: the caller's network would be scaled with it.
        array = self._numpy.asarray(self._tensors[name]).astype(self._numpy.float32, order="C")
        if array.shape != shape:
            raise ConfigurationError(
                f"cannot export: tensor {name} is {list(array.shape)}, the architecture says {list(shape)}"
            )
        self._used.add(name)
        return array

    def positions(self, dimension: int) -> Any:
        """Return the sinusoids, float32 [POSITIONS, d]: PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos of it."""
        numpy = self._numpy
        frequencies = numpy.power(10000.0, -numpy.arange(0, dimension, 2) / dimension)
        angles = numpy.arange(POSITIONS)[:, None] * frequencies
        interleaved = numpy.stack([numpy.sin(angles), numpy.cos(angles)], axis=-1).reshape(POSITIONS, -1)
        return numpy.ascontiguousarray(interleaved[:, :dimension], dtype=numpy.float32)

    def refuse_unused(self) -> None:
        """Raise ConfigurationError where the model holds a tensor that went nowhere."""
        unused = sorted(self._tensors.keys() - self._used)
        if unused:
            raise ConfigurationError(f"cannot export: the architecture has no place for tensor {unused[0]}")


def _specs() -> ModuleType:
    try:
        return importlib.import_module("ctranslate2.specs")
    except ImportError as error:
        raise ConfigurationError(
            "exporting to CTranslate2 needs its package: install it with `pip install ctranslate2`"
        ) from error


def _encoder(specs: ModuleType, weights: _Weights, architecture: TransformerArchitecture) -> Any:
    spec = specs.TransformerEncoderSpec(
        architecture.encoder_layers,
        architecture.attention_heads,
        pre_norm=architecture.norm == "pre",
        head_dim=architecture.attention_dimension // architecture.attention_heads,
    )
    _fill_ends(spec, spec.embeddings[0], weights, architecture, "encoder")
    for index, layer in enumerate(spec.layer):
        prefix = f"encoder.layers.{index}"
        _fill_self_attention(layer.self_attention, weights, architecture, prefix)
        _fill_feed_forward(layer.ffn, weights, architecture, prefix)
    return spec


def _decoder(specs: ModuleType, weights: _Weights, architecture: TransformerArchitecture) -> Any:
    spec = specs.TransformerDecoderSpec(
        architecture.decoder_layers,
        architecture.attention_heads,
        pre_norm=architecture.norm == "pre",
        head_dim=architecture.attention_dimension // architecture.attention_heads,
    )
    _fill_ends(spec, spec.embeddings, weights, architecture, "decoder")
    # CTranslate2 stores equal variables once: embedding and output projection stay one matrix.
    spec.projection.weight = spec.embeddings.weight
    for index, layer in enumerate(spec.layer):
        prefix = f"decoder.layers.{index}"
        _fill_self_attention(layer.self_attention, weights, architecture, prefix)
        _fill_cross_attention(layer.attention, weights, architecture, prefix)
        _fill_feed_forward(layer.ffn, weights, architecture, prefix)
    return spec


def _fill_ends(spec: Any, embeddings: Any, weights: _Weights, architecture: TransformerArchitecture, side: str) -> None:
    """What surrounds the layers of either side: embedding, positions and, in a pre-norm network, the final norm."""
    dimension = architecture.model_dimension
    embeddings.weight = weights.take("embedding.weight", architecture.vocabulary_size, dimension)
    spec.position_encodings.encodings = weights.positions(dimension)
    if architecture.norm == "pre":
        _fill_norm(spec.layer_norm, weights, f"{side}.norm", dimension)


def _fill_norm(spec: Any, weights: _Weights, name: str, dimension: int) -> None:
    spec.gamma = weights.take(f"{name}.weight", dimension)
    spec.beta = weights.take(f"{name}.bias", dimension)


def _fill_linear(spec: Any, weights: _Weights, name: str, outputs: int, inputs: int, bias: bool) -> None:
    spec.weight = weights.take(f"{name}.weight", outputs, inputs)
    if bias:
        spec.bias = weights.take(f"{name}.bias", outputs)


def _fill_self_attention(spec: Any, weights: _Weights, architecture: TransformerArchitecture, prefix: str) -> None:
    model, attention, bias = (
        architecture.model_dimension,
        architecture.attention_dimension,
        architecture.attention_bias,
    )
    _fill_norm(spec.layer_norm, weights, f"{prefix}.self_attention_norm", model)
    _fill_linear(spec.linear[0], weights, f"{prefix}.self_attention.query_key_value", 3 * attention, model, bias)
    _fill_linear(spec.linear[1], weights, f"{prefix}.self_attention.output", model, attention, bias)


def _fill_cross_attention(spec: Any, weights: _Weights, architecture: TransformerArchitecture, prefix: str) -> None:
    model, attention, bias = (
        architecture.model_dimension,
        architecture.attention_dimension,
        architecture.attention_bias,
    )
    _fill_norm(spec.layer_norm, weights, f"{prefix}.cross_attention_norm", model)
    _fill_linear(spec.linear[0], weights, f"{prefix}.cross_attention.query", attention, model, bias)
    _fill_linear(spec.linear[1], weights, f"{prefix}.cross_attention.key_value", 2 * attention, model, bias)
    _fill_linear(spec.linear[2], weights, f"{prefix}.cross_attention.output", model, attention, bias)


def _fill_feed_forward(spec: Any, weights: _Weights, architecture: TransformerArchitecture, prefix: str) -> None:
    model, inner = architecture.model_dimension, architecture.feed_forward_dimension
    _fill_norm(spec.layer_norm, weights, f"{prefix}.feed_forward_norm", model)
    _fill_linear(spec.linear_0, weights, f"{prefix}.feed_forward.inner", inner, model, True)
    _fill_linear(spec.linear_1, weights, f"{prefix}.feed_forward.outer", model, inner, True)
