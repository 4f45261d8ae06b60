"""The grammar of both languages, without any words of the open classes."""
