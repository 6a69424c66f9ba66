"""Assembling mechanisms with constraints: consistent positions and velocities, mobility, redundant rows."""
