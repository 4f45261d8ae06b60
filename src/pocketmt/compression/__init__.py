"""Execution of recipes: the plan, its stages, retraining, pruning, and the choice of schemes."""
