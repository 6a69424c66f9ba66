"""Docking of two spacecraft: contact, capture by latches, damping, retraction, and the hard joint."""
