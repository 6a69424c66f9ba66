"""Reduction of sub-chains to their cut points: a loop in segments, each a small compliance at its two ends."""
