"""What is integrated: the right-hand side, events, and how a run is made."""
