"""Recipes: their schema, the matrices that they name, and the built-in ones."""
