"""A student's network in NumPy with codes for weights and inputs, whose sums saturate as bergamot's do, or do not.

Bergamot adds pairs of products of bytes, of an unsigned and a signed one, in 16 bits that saturate, on processors
without VNNI and in WebAssembly (intgemm, which uses the instruction vpmaddubsw).
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodesTensor
from pocketmt.interop.reciprocal import reciprocal
from pocketmt.model_file.architecture import TransformerArchitecture

Array = NDArray[np.float64]


class Student:
    """A network whose decoder is recurrent.

    Attributes:
        quantized: whether inputs of matrices are rounded to codes.
        saturating: whether sums saturate.
        largest: the largest input of each matrix, for each product.
    """

    def __init__(self, model: ForeignModel, *, quantized: bool = True, saturating: bool = False) -> None:
        assert isinstance(model.architecture, TransformerArchitecture)
        self.architecture = model.architecture
        self.model = model
        self.quantized, self.saturating = quantized, saturating
        self.weights = {name: tensor.read().astype(np.float64) for name, tensor in model.tensors.items()}
        self.codes = {
            name: [(group.codes().astype(np.int64), float(group.scales[0])) for group in tensor.groups]
            for name, tensor in model.tensors.items()
            if isinstance(tensor, CodesTensor)
        }
        self.largest: dict[str, list[float]] = {}

    def alphas(self) -> dict[str, float]:
        """Scales of activations from all inputs so far, as bergamot's training chooses their reciprocals."""
        return {
            name: float(np.float32((np.mean(each) + 1.1 * np.std(each)) / 127)) for name, each in self.largest.items()
        }

    def greedy(self, source: list[int], limit: int, allowed: Iterable[int] | None = None) -> list[int]:
        """Translate the ids of a source without its end; unk is never generated."""
        mask = np.zeros(self.architecture.vocabulary_size)
        if allowed is not None:
            mask[:] = -1e9
            mask[list(allowed)] = 0
        mask[list(self.architecture.never_generated_ids)] = -1e9
        found: list[int] = []
        encoded = self._encode([*source, self.architecture.source_special_ids.eos])
        cells = [np.zeros((1, self.architecture.model_dimension))] * self.architecture.decoder_layers
        while len(found) < limit and self.architecture.eos_id not in found:
            found.append(int((self._step(found, cells, encoded)[0] + mask).argmax()))
        return found

    def _encode(self, ids: list[int]) -> Array:
        x = self._embed("source_embedding.weight", ids, 0)
        for layer in range(self.architecture.encoder_layers):
            name = f"encoder.layers.{layer}"
            x = self._norm(f"{name}.self_attention_norm", x + self._self_attention(f"{name}.self_attention", x))
            x = self._norm(f"{name}.feed_forward_norm", x + self._feed_forward(f"{name}.feed_forward", x))
        return x

    def _step(self, found: list[int], cells: list[Array], encoded: Array) -> Array:
        x = self._embed("embedding.weight", found[-1:], len(found))
        for layer in range(self.architecture.decoder_layers):
            name = f"decoder.layers.{0 if self.architecture.tied_decoder_layers else layer}"
            candidate, forget = np.split(self._multiply(f"{name}.ssru.input_forget", x), 2, axis=-1)
            forget = 1 / (1 + np.exp(-(forget + self.weights[f"{name}.ssru.forget_bias"])))
            cells[layer] = forget * cells[layer] + (1 - forget) * candidate
            x = self._norm(f"{name}.ssru_norm", x + np.maximum(cells[layer], 0))
            x = self._norm(f"{name}.cross_attention_norm", x + self._cross(f"{name}.cross_attention", x, encoded))
            x = self._norm(f"{name}.feed_forward_norm", x + self._feed_forward(f"{name}.feed_forward", x))
        return self._multiply("embedding", x) + self.weights["output.bias"]

    def _embed(self, name: str, ids: list[int], first: int) -> Array:
        """Embed ids and add positions; no id is a vector of zeros, at its position."""
        dimension = self.architecture.model_dimension
        weights = self.weights.get(name, self.weights["embedding.weight"])
        rows = weights[ids] if ids else np.zeros((1, dimension))
        half = dimension // 2
        angles = (first + np.arange(len(rows)))[:, None] * 10000 ** (-np.arange(half) / (half - 1))
        embedded: Array = rows * np.sqrt(dimension) + np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        return embedded

    def _norm(self, name: str, x: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self.architecture.normalization_epsilon)
        normalized: Array = centred / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return normalized

    def _self_attention(self, name: str, x: Array) -> Array:
        query, key, value = np.split(self._linear(f"{name}.query_key_value", x), 3, axis=-1)
        return self._linear(f"{name}.output", self._attention(query, key, value))

    def _cross(self, name: str, x: Array, encoded: Array) -> Array:
        key, value = np.split(self._linear(f"{name}.key_value", encoded), 2, axis=-1)
        return self._linear(f"{name}.output", self._attention(self._linear(f"{name}.query", x), key, value))

    def _attention(self, query: Array, key: Array, value: Array) -> Array:
        heads = self.architecture.attention_heads
        query, key, value = (each.reshape(len(each), heads, -1).transpose(1, 0, 2) for each in (query, key, value))
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        attended: Array = (weights @ value).transpose(1, 0, 2).reshape(query.shape[1], -1)
        return attended

    def _feed_forward(self, name: str, x: Array) -> Array:
        return self._linear(f"{name}.outer", np.maximum(self._linear(f"{name}.inner", x), 0))

    def _linear(self, name: str, x: Array) -> Array:
        return self._multiply(name, x) + self.weights[f"{name}.bias"]

    def _multiply(self, name: str, x: Array) -> Array:
        matrix = f"{name}.weight"
        self.largest.setdefault(matrix, []).append(float(np.abs(x).max()))
        scales = self.model.activation_scales
        if not self.quantized or scales is None or matrix not in self.codes:
            return x @ self.weights[matrix].T
        alpha = reciprocal(np.float32(scales[matrix]))
        codes = np.clip(np.rint(x.astype(np.float32) * alpha), -127, 127).astype(np.int64)
        sums = [self._sums(codes, weights) * (scale * scales[matrix]) for weights, scale in self.codes[matrix]]
        return np.concatenate(sums, axis=-1)

    def _sums(self, codes: NDArray[np.int64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self.saturating:
            return codes @ weights.T
        products = (codes + 127)[:, None, :] * weights
        pairs = np.clip(products[..., 0::2] + products[..., 1::2], -32768, 32767)
        sums: NDArray[np.int64] = pairs.sum(axis=-1) - 127 * weights.sum(axis=-1)
        return sums
