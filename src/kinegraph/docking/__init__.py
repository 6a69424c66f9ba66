"""Docking of two spacecraft: contact, capture by latches, damping, drawing in, and the hard joint."""
