"""Measurements a user can repeat: `kinegraph bench`."""
