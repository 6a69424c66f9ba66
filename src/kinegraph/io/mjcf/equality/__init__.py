"""Equality constraints of MJCF as loops and constraints of the model."""
