"""The choices that plans of derivations are made of; they change operation counts and nothing else.

Apart from what acts on them, so that a request can name them in a process that derives nothing.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias


class OriginShift(Enum):
    """Where along its axis an origin is moved: the foot of the parent's origin, or that of the first child's."""

    PARENT = "parent"
    CHILD = "child"


class AxialMoment(Enum):
    """How much second moment along a revolute joint's axis stays on the link: as much as about a cross axis.

    None at all is the rule; a link whose moments about two axes are equal has a shorter Euler equation.
    """

    FIRST = 1
    SECOND = 2


class CrossAxis(Enum):
    """Of the two velocities across the joint's axis, the one whose square is formed."""

    FIRST = 0
    SECOND = 1


Propagated: TypeAlias = frozenset[tuple[int, CrossAxis]]


class InertiaMethod(Enum):
    """Two ways to the entries of H off the diagonal; which is cheaper depends on the mechanism.

    The closed form, for C and gravity as well, is never the cheapest: it is what the dissertation starts from.
    """

    SCREWS = "screws"
    WRENCHES = "wrenches"
    CLOSED_FORM = "closed form"


class ForwardMethod(Enum):
    """Two ways to forward dynamics."""

    FACTORISE = "factorise"
    ARTICULATED = "articulated"


class Closure(Enum):
    """Ways to equations of mechanisms with loops.

    Multipliers work wherever the mechanism is not singular. Partitioning eliminates them: it fails in dead points of
    the coordinates that depend on others. The closed form computes these from the others as well, by square roots;
    what is given of them tells the branch and nothing else. The fastest is the one of least estimated time.
    """

    MULTIPLIERS = "multipliers"
    PARTITION = "partition"
    CLOSED_FORM = "closed-form"
    FASTEST = "fastest"
