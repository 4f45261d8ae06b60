"""The built-in corpus: a generator of everyday English-German sentence pairs with right German grammar."""

from pocketmt.text.synthetic.corpus import SentencePair, SyntheticCorpus, generate

__all__ = ["SentencePair", "SyntheticCorpus", "generate"]
