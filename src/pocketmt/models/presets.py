"""The sizes of Transformers that have a name."""

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture

# (layers of encoder and of decoder each, model dimension, feed-forward dimension, heads)
PRESETS: dict[str, tuple[int, int, int, int]] = {
    "tiny": (4, 128, 256, 4),
    "small": (4, 256, 1024, 4),
    "base": (6, 512, 2048, 8),  # Vaswani et al. 2017, table 3
    "big": (6, 1024, 4096, 16),  # the same
}


def preset(name: str, vocabulary_size: int, norm: str = "post") -> Architecture:
    """Return the architecture that `name` stands for; ConfigurationError where it stands for none."""
    if name not in PRESETS:
        raise ConfigurationError(f"unknown model preset '{name}': choose one of {', '.join(PRESETS)}")
    layers, dimension, feed_forward, heads = PRESETS[name]
    return Architecture(
        type="transformer",
        encoder_layers=layers,
        decoder_layers=layers,
        model_dimension=dimension,
        feed_forward_dimension=feed_forward,
        attention_heads=heads,
        attention_dimension=dimension,
        norm=norm,
        attention_bias=False,
        vocabulary_size=vocabulary_size,
    )
