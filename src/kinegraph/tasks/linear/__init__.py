"""Linear systems about a state: matrices, modes, frequency response."""
