"""In whose axes forces and moments are given; a module of its own, which the command line reads at once."""

from __future__ import annotations

from enum import Enum


class Axes(Enum):
    """In whose axes a vector is given: the fixed ones, those of the body, or of what its joint stands on.

    Forces and moments of a model take WORLD and BODY; loads of joints all three.
    """

    WORLD = "world"
    PARENT = "parent"
    BODY = "body"
