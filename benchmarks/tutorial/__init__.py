"""Time, memory and size of every step of the tutorial, on real text."""
