"""Runs with their derivatives by parameters and initial values, forwards and backwards in time."""
