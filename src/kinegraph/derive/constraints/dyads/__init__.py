"""Closed forms of common sub-loops: dependent sines and cosines by square roots of what the independent ones give."""
