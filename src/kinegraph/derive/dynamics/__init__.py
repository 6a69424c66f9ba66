"""Recursive algorithms of dynamics: forces, inertia matrices, accelerations and energy."""
