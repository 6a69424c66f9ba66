"""Measurements a user can repeat: `python -m benchmarks`."""
