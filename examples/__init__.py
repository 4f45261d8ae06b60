"""Examples that run from a checkout; they are not installed."""
