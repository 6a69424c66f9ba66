"""Benches of mechanisms with loops: published problems, long runs, other programs."""
