"""PocketMT: small neural machine translation models, and an engine that runs them fast on ordinary CPUs."""

__version__ = "0.1.0"
