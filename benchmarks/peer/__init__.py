"""Speed beside CTranslate2: the same weights, sentences and core, in one run (`python -m benchmarks.peer`)."""
