"""Meshes of robot files, packed for a page."""
