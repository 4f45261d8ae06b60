"""Text in: corpora read line by line, cleaning, the SentencePiece vocabulary, batches."""
