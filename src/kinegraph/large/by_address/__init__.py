"""Loops over bodies as C functions: what compiled integrators call."""
