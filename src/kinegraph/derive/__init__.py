"""Derive the exact graph of any quantity of a mechanism."""
