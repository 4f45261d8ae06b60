"""Programs that measure, side by side with peers, and write what they measured as JSON (benchmarks/records/)."""
