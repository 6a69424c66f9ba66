"""The sides of the comparison: Kinegraph and its peers, each behind the same interface."""
