"""Legs: what each type is to the ring and to the base."""
