"""Benches of the tasks of mechanics."""
