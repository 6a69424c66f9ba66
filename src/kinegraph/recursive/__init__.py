"""Recursive algorithms over bodies: `tau`, `qdd`, `energy` and `pivots`, compiled once for all mechanisms."""
