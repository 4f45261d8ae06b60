"""Models of a server: their files, the translations that they offer together, and which are in memory."""
