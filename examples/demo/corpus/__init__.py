"""A generator of everyday English-German sentence pairs with correct German grammar."""

from examples.demo.corpus.generation import SentencePair, SyntheticCorpus, generate

__all__ = ["SentencePair", "SyntheticCorpus", "generate"]
