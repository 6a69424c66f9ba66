"""Where bodies are and how they get there: inverse kinematics, paths, points."""
