"""Integration methods and step control."""
