"""The queue in which sentences of several clients wait, and their translation in common batches."""
