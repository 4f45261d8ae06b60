"""Marian models with average attention: imported from tensors written by hand, they compute the PyTorch network."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketmt.interop.importing import import_model
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.reference.network import load_reference
from tests.engine.reference import random_network, reference_logits
from tests.interop.models import marian_architecture, marian_vocabularies

# Our parts of a layer -> Marian's matrices that are stacked there, and the normalization after the part.
PARTS = {
    "self_attention.query_key_value": ("self_Wq", "self_Wk", "self_Wv"),
    "self_attention.output": ("self_Wo",),
    "cross_attention.query": ("context_Wq",),
    "cross_attention.key_value": ("context_Wk", "context_Wv"),
    "cross_attention.output": ("context_Wo",),
    "feed_forward.inner": ("ffn_W1",),
    "feed_forward.outer": ("ffn_W2",),
    "average_attention.inner": ("aan_W1",),
    "average_attention.outer": ("aan_W2",),
    "average_attention.input_gate": ("aan_Wi",),
    "average_attention.average_gate": ("aan_Wf",),
}
NORMS = {
    "self_attention_norm": "self_Wo",
    "cross_attention_norm": "context_Wo",
    "feed_forward_norm": "ffn_ffn",
    "average_attention_norm": "aan_ffn",
}
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "as Marian's defaults": ({"average_attention_dimension": 24}, {"transformer-dim-aan": 24}),
    "without gates": (
        {"average_attention_dimension": 24, "average_attention_gate": False},
        {"transformer-dim-aan": 24, "transformer-aan-nogate": True},
    ),
    "without a feed-forward network": ({"average_attention_dimension": 0}, {"transformer-aan-depth": 1}),
    "relu": (
        {"average_attention_dimension": 24, "average_attention_activation": "relu"},
        {"transformer-dim-aan": 24, "transformer-aan-activation": "relu"},
    ),
    "pre-norm": (
        {"average_attention_dimension": 24, "norm": "pre"},
        {
            "transformer-dim-aan": 24,
            "transformer-preprocess": "n",
            "transformer-postprocess": "da",
            "transformer-postprocess-top": "n",
        },
    ),
}
SETTINGS: dict[str, Any] = {
    "type": "transformer",
    "dim-emb": 16,
    "enc-depth": 2,
    "dec-depth": 3,
    "tied-embeddings-all": True,
    "transformer-heads": 2,
    "transformer-dim-ffn": 24,
    "transformer-ffn-activation": "relu",
    "transformer-decoder-autoreg": "average-attention",
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
}


def marian_tensors(network: TranslationNetwork) -> dict[str, NDArray[Any]]:
    """The parameters under Marian's names: matrices [inputs, outputs], vectors [1, outputs]."""
    suffix = "_pre" if network.architecture.to_json()["norm"] == "pre" else ""
    found: dict[str, NDArray[Any]] = {}
    for name, tensor in network.state_dict().items():
        values = tensor.numpy()
        side, _, rest = name.partition(".")
        if name == "embedding.weight":
            found["Wemb"] = values
        elif name == "output.bias":
            found["decoder_ff_logit_out_b"] = values[None]
        elif rest.startswith("norm."):
            found[f"{side}_top_ln_{'scale' if rest == 'norm.weight' else 'bias'}"] = values[None]
        else:
            _, index, rest = rest.split(".", 2)
            part, _, kind = rest.rpartition(".")
            prefix = f"{side}_l{int(index) + 1}"
            if part in NORMS:
                found[f"{prefix}_{NORMS[part]}_ln_{'scale' if kind == 'weight' else 'bias'}{suffix}"] = values[None]
                continue
            for matrix, rows in zip(PARTS[part], np.split(values, len(PARTS[part])), strict=True):
                if kind == "weight":
                    found[f"{prefix}_{matrix}"] = rows.T
                else:
                    found[f"{prefix}_{matrix.replace('_W', '_b')}"] = rows[None]
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_imported_network_has_the_logits_of_the_original(tmp_path: Path, variant: str) -> None:
    changes, settings = VARIANTS[variant]
    vocabularies = marian_vocabularies()
    kind = {"decoder_autoregression": "average_attention", "average_attention_activation": "swish"}
    network = random_network(marian_architecture(vocabularies, **kind | changes), seed=3)
    pieces = network.architecture.vocabulary_size
    tensors = marian_tensors(network)
    assert any("_aan_" in name for name in tensors)
    lines = SETTINGS | {"dim-vocabs": [pieces, pieces]} | settings
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in lines.items())
    folder = tmp_path / "marian"
    folder.mkdir()
    held: dict[str, Any] = tensors | {"special:model.yml": np.frombuffer(text.encode() + b"\0", np.int8)}
    np.savez(folder / "model.npz", **held)
    (folder / "vocab.spm").write_bytes(vocabularies.source.model)
    import_model(folder, tmp_path / "model.pocketmt", source_language="en", target_language="de")
    imported = load_reference(tmp_path / "model.pocketmt")
    for source, target in (([5, 9, 30], [7]), ([12], [40, 8, 3, 21, 46]), ([4, 4, 45, 6, 2], [2, 2, 33])):
        found = reference_logits(imported, source, target)
        assert np.array_equal(found, reference_logits(network, source, target))
        assert np.std(found) > 0.01
