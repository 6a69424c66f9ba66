"""Proof of recursive algorithms: their own source, over a finite field, against Newton's law in the fixed frame."""
