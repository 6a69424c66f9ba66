"""Measurements beside those KiDyM prints."""
