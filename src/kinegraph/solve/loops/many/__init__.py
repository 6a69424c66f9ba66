"""Loops over many trajectories of one right-hand side."""
