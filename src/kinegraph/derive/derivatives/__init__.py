"""Derivatives of forces and accelerations by recursions of their own."""
