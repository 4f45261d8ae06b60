"""Export a Transformer to a CTranslate2 model folder (its package, read through its own `ctranslate2.specs`).

CTranslate2 and NumPy are imported by `export` only; the runtime does not need them. The exported model computes what
PocketMT's model does: one tied embedding scaled by sqrt(d), the same table of sinusoids, the same LayerNorm epsilon,
`eos` appended to the source, `bos` as the decoder's first input.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture, is_plain_transformer
from pocketmt.text.vocabulary import Vocabulary

# Rows of the position table: CTranslate2 cuts sources at 1,024 tokens by default and refuses longer inputs.
POSITIONS = 1024

Quantization = Literal["none", "int8"]


def export(
    state_dict: Mapping[str, Any],
    architecture: Architecture,
    vocabulary: bytes,
    folder: Path,
    quantization: Quantization = "none",
) -> None:
    """Write a CTranslate2 model to a folder: `model.bin`, `config.json` and the vocabulary.

    Args:
        state_dict: tensors by PocketMT's parameter names, as NumPy arrays or PyTorch tensors on the CPU.
        architecture: architecture of the network.
        vocabulary: serialized SentencePiece model.
        folder: folder to write to, created if it is missing; files in it are replaced.
        quantization: "int8" stores every matrix in int8 with one scale per row, quantized by CTranslate2.

    Raises:
        ConfigurationError: CTranslate2 is not installed, it has no such network (an LSTM, an SSRU, tied layers,
            layers that pruning made unequal), or a tensor is missing, unknown or of another shape.
        DataError: the vocabulary is not a SentencePiece model or does not fit the embedding.
    """
    if not is_plain_transformer(architecture):
        raise ConfigurationError(
            "cannot export: CTranslate2 only runs Transformers with self-attention decoders, and with untied layers of "
            "equal size"
        )
    specs = _specs()
    weights = _Weights(state_dict)
    loaded = Vocabulary(vocabulary)
    pieces = loaded.pieces(range(len(loaded)))
    if len(pieces) != architecture.vocabulary_size:
        raise DataError(
            f"the vocabulary has {len(pieces)} pieces, the model's embedding {architecture.vocabulary_size}: "
            "export a model with the vocabulary that it was trained with"
        )
    spec = specs.TransformerSpec(_encoder(specs, weights, architecture), _decoder(specs, weights, architecture))
    weights.refuse_unused()
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = architecture.normalization_epsilon
    assert architecture.bos_id is not None and architecture.first_input_id is not None  # it is plain
    spec.config.unk_token, spec.config.bos_token = pieces[architecture.unk_id], pieces[architecture.bos_id]
    spec.config.eos_token = pieces[architecture.eos_id]
    spec.config.decoder_start_token = pieces[architecture.first_input_id]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.validate()
    spec.optimize(quantization=None if quantization == "none" else quantization)
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))


class _Weights:
    """Tensors of a model as NumPy arrays, which are checked against their shapes and marked as used."""

    def __init__(self, state_dict: Mapping[str, Any]) -> None:
        self._tensors = dict(state_dict)
        self._numpy = importlib.import_module("numpy")
        self._used: set[str] = set()

    def take(self, name: str, *shape: int) -> Any:
        """Return a copy of a tensor as a float32 array; ConfigurationError if it is missing or has another shape."""
        if name not in self._tensors:
            raise ConfigurationError(f"cannot export: the model has no tensor {name}")
        # CTranslate2 quantizes in place, which would change the weights of the caller's network.
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
        """Raise ConfigurationError if a tensor of the model was not used."""
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
        pre_norm=architecture.pre_norm,
        head_dim=architecture.head_size,
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
        pre_norm=architecture.pre_norm,
        head_dim=architecture.head_size,
    )
    _fill_ends(spec, spec.embeddings, weights, architecture, "decoder")
    # CTranslate2 stores equal variables once, so embedding and output projection remain one matrix.
    spec.projection.weight = spec.embeddings.weight
    for index, layer in enumerate(spec.layer):
        prefix = f"decoder.layers.{index}"
        _fill_self_attention(layer.self_attention, weights, architecture, prefix)
        _fill_cross_attention(layer.attention, weights, architecture, prefix)
        _fill_feed_forward(layer.ffn, weights, architecture, prefix)
    return spec


def _fill_ends(spec: Any, embeddings: Any, weights: _Weights, architecture: TransformerArchitecture, side: str) -> None:
    """Fill embedding, positions and, in a pre-norm network, the final norm of one side."""
    dimension = architecture.model_dimension
    embeddings.weight = weights.take("embedding.weight", architecture.vocabulary_size, dimension)
    spec.position_encodings.encodings = weights.positions(dimension)
    if architecture.pre_norm:
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
