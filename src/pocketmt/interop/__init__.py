"""Formats of other toolkits, one file for each."""
