"""One file a foreign format: what other toolkits read and write."""
