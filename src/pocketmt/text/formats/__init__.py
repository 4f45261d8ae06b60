"""Formats of text: plain text, TSV, JSON lines and TMX; read as parallel text, or translated unit by unit."""
