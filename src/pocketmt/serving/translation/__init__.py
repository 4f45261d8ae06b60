"""Translation of texts and HTML: division into sentences, and what is put together from their translations."""
