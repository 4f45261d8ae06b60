"""PocketMT: small neural machine translation models, and a fast engine for them on ordinary CPUs."""

__version__ = "0.1.0"
