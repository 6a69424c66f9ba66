"""Denavit-Hartenberg tables."""
