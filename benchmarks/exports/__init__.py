"""Exported models in the runtimes of other toolkits: quality and agreement with the original."""
