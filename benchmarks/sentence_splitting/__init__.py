"""Sentence splitting: boundaries found by PocketMT and by libraries, and words lost by models of sentences."""
