"""Parallel manipulators: a ring on legs of a few known types, as a table of legs."""
