"""Conserved quantities of a motion, and checks that a run conserved them."""
