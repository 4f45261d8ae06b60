"""The sizes of Transformers that have a name."""

from typing import Any

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture


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
    """Sizes of a student [E3]: a deep encoder, a shallow decoder of SSRUs; Table 1's columns, but for the heads."""
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


PRESETS: dict[str, dict[str, Any]] = {
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
    # For the little text that a phone's one subject has: half the width of paper E's smallest.
    "6-1.nano": _student((6, 1), 128, 512, 128),
}


def preset(name: str, vocabulary_size: int, norm: str = "post", **changes: Any) -> Architecture:
    """Return the architecture that `name` stands for, with `changes` of its sizes.

    Raises ConfigurationError where it stands for none, or the sizes do not fit together.
    """
    if name not in PRESETS:
        raise ConfigurationError(f"unknown model preset '{name}': choose one of {', '.join(PRESETS)}")
    return Architecture(norm=norm, vocabulary_size=vocabulary_size, **(PRESETS[name] | changes))
