"""Mechanisms written as URDF."""
