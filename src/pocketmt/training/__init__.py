"""The training loop: configuration, data, objective, schedule, checkpoints, validation."""
