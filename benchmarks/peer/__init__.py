"""Speed compared with CTranslate2 and Marian on the same weights, sentences and core (`python -m benchmarks.peer`)."""
