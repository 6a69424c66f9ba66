"""Geoms of MJCF: primitives, meshes, and primitives fitted to meshes."""
