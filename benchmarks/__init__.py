"""Measurements, compared with other engines and with the papers; results are JSON files in benchmarks/records/."""
