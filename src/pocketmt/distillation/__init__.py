"""Distillation: teachers, the text that they translate, and the pipeline from teachers to a small student."""
