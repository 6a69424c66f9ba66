"""Loops and constraints in runs: what integration leaves of them, and other ways than projection to keep them."""
