"""Sentences written for the project: a phrase book, nouns in simple sentences, times, amounts and lists."""
