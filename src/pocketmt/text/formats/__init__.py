"""Formats of text: plain text, TSV, JSON, JSON lines, TMX and subtitles; parallel text, or units to translate."""
