"""Named architectures: presets of sizes."""

from typing import Any

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture
from pocketmt.model_file.architecture.lstm import LstmArchitecture


def _transformer(layers: int, dimension: int, feed_forward: int, heads: int) -> dict[str, Any]:
    return {
        "encoder_layers": layers,
        "decoder_layers": layers,
        "model_dimension": dimension,
        "feed_forward_dimension": feed_forward,
        "attention_heads": heads,
        "attention_dimension": dimension,
        "attention_bias": False,
        "decoder_autoregression": "self_attention",
        "tied_decoder_layers": False,
    }


def _student(
    layers: tuple[int, int], dimension: int, feed_forward: int, attention: int, tied: bool = False
) -> dict[str, Any]:
    """Sizes of a student (Behnke et al. 2021, Table 1): deep encoder, shallow SSRU decoder."""
    return {
        "encoder_layers": layers[0],
        "decoder_layers": layers[1],
        "model_dimension": dimension,
        "feed_forward_dimension": feed_forward,
        "attention_heads": 8,
        "attention_dimension": attention,
        "attention_bias": True,
        "decoder_autoregression": "ssru",
        "tied_decoder_layers": tied,
    }


TRANSFORMERS: dict[str, dict[str, Any]] = {
    "tiny": _transformer(4, 128, 256, 4),
    "small": _transformer(4, 256, 1024, 4),
    "base": _transformer(6, 512, 2048, 8),  # Vaswani et al. 2017, table 3
    "big": _transformer(6, 1024, 4096, 16),  # the same
    "12-1.large": _student((12, 1), 1024, 3072, 256),
    "12-1.base": _student((12, 1), 512, 2048, 256),
    "12-1.tiny": _student((12, 1), 256, 1536, 256),
    "12-1.micro": _student((12, 1), 256, 1024, 256),
    "8-4.tied.tiny": _student((8, 4), 256, 1536, 256, tied=True),
    "6-2.tied.tiny": _student((6, 2), 256, 1536, 256, tied=True),
    "6-2.base": _student((6, 2), 512, 2048, 512),
    "6-2.tiny": _student((6, 2), 256, 1536, 256),
    # For small corpora of one subject: half the width of the smallest student of Behnke et al. 2021.
    "6-1.nano": _student((6, 1), 128, 512, 128),
}


def _lstm(layers: int, dimension: int, recurrent: int, heads: int) -> dict[str, Any]:
    return {
        "encoder_layers": layers,
        "decoder_layers": layers,
        "model_dimension": dimension,
        "recurrent_dimension": recurrent,
        "attention_heads": heads,
        "attention_dimension": recurrent,
    }


LSTMS: dict[str, dict[str, Any]] = {
    # Aji and Heafield 2020, section 4.2 ("Size Comparison"): eight layers, dimensions 512 and 1024.
    "lstm": _lstm(4, 512, 1024, 1),
    "lstm.tiny": _lstm(2, 128, 128, 4),
}

PRESETS = {**TRANSFORMERS, **LSTMS}
# Fields of a Transformer that no preset sets.
OPTIONS = (
    *("activation", "positions", "normalization_epsilon"),
    *("embeddings", "output_projection", "output_bias", "first_decoder_input"),
)


def preset(name: str, vocabulary_size: int, norm: str = "post", **changes: Any) -> Architecture:
    """Return the architecture of a preset, with `changes` of its sizes, and of a Transformer's OPTIONS.

    Raises ConfigurationError for an unknown name, size or option, or where sizes do not fit together.
    """
    if name not in PRESETS:
        raise ConfigurationError(f"unknown model preset '{name}': choose one of {', '.join(PRESETS)}")
    for size in changes:
        if size not in PRESETS[name] and (name in LSTMS or size not in OPTIONS):
            raise ConfigurationError(f"the model preset '{name}' has no {size}: leave it out")
    sizes = PRESETS[name] | changes
    if name not in LSTMS:
        return TransformerArchitecture(norm=norm, vocabulary_size=vocabulary_size, **sizes)
    if norm != "post":
        raise ConfigurationError(f"the model preset '{name}' has its norms after its layers: leave norm out")
    return LstmArchitecture(vocabulary_size=vocabulary_size, **sizes)
