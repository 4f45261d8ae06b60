"""Everyday sentences that were written for the project, and are in none of its training text."""
