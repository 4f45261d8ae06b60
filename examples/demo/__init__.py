"""The demo: train, pack, score, time and translate on a synthetic corpus (`make demo`)."""
