"""Trimming: vocabularies without the pieces that given text never has, and networks without their rows."""
