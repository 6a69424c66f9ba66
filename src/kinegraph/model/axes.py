"""Axes in which forces and moments are given. A separate module, because the command line imports it at startup."""

from __future__ import annotations

from enum import Enum


class Axes(Enum):
    """The axes of a vector: those of the fixed frame, of the body, or of the parent body.

    Forces and moments of a model take WORLD and BODY; joint loads take all three.
    """

    WORLD = "world"
    PARENT = "parent"
    BODY = "body"
