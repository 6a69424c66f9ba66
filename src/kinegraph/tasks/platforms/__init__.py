"""Tasks of platforms: the workspace of the ring, and its poses for given drives."""
