"""Everyday sentences: what is said, drawn at random from the grammar and the lexicon."""
