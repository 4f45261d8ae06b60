"""Measurements of `pocketmt serve`: load, faults, and LibreTranslate with the same weights."""
