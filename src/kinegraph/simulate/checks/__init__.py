"""What a motion keeps, and whether a run kept it."""
