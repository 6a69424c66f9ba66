"""Mechanisms made from mechanisms: coordinates held, parameters set, expressions replaced."""
