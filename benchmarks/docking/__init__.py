"""Dockings, measured: a Monte-Carlo study of first contacts beside a plain SciPy loop and beside MuJoCo."""
