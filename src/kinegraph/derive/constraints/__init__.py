"""Closed chains and other constraints: their rows, and the equations of motion with them."""
