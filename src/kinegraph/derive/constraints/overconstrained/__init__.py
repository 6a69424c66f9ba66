"""Overconstrained loops: rows that follow from others in ways that change with the position."""
