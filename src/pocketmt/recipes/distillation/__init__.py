"""What students learn from: translations by one teacher or by several [E1]."""
