"""Tasks of platforms: the workspace, and the poses for given drives."""
