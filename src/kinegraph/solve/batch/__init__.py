"""Many trajectories at once."""
