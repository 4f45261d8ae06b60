"""Training: configuration, data, the loop with hooks, objectives, schedules, checkpoints and validation."""
