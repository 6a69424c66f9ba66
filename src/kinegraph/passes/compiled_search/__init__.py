"""The search compiled: the same system in flat arrays, thousands of iterations a second."""
