"""Sines and cosines in a system: their angles as linear forms, and where an identity between them applies."""
