"""Translation of texts by the models of a route, in batches of sentences."""
