"""Planar linkages of any length: bars joined by pins, with any number of loops, in O(n)."""
