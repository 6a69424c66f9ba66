"""Kinegraph beside its peers, on the same robots, the same states, in the same run."""
