"""Proof that two graphs are equal: random points of a prime field."""
