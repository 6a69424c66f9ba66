"""What can be wrong with a run before it starts. (Part of the tree of `kinegraph.errors`.)"""

from __future__ import annotations

from kinegraph.errors import KinegraphError


class SolveError(KinegraphError):
    """A run was asked for that cannot be made; the message says what to give instead."""


class TableauError(SolveError):
    """The numbers of a Runge-Kutta method contradict each other."""
