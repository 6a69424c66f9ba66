"""Continuation of equilibria and steady motions in one variable."""
