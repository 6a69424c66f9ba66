"""The choices of a derivation. They change the operation count and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias


class OriginShift(Enum):
    """The new origin on a joint axis: the foot of the perpendicular from the parent's or the first child's origin."""

    PARENT = "parent"
    CHILD = "child"


class AxialMoment(Enum):
    """The second moment along a revolute joint's axis that remains on the link: as much as that of a cross axis.

    By default none remains. But a link with equal moments about two axes has a shorter Euler equation.
    """

    FIRST = 1
    SECOND = 2


class CrossAxis(Enum):
    """Which of the two velocities across the joint's axis is squared."""

    FIRST = 0
    SECOND = 1


Propagated: TypeAlias = frozenset[tuple[int, CrossAxis]]


class InertiaMethod(Enum):
    """Methods for the off-diagonal entries of H; the cheaper one depends on the mechanism.

    The closed form, for C and gravity as well, is never the cheapest. It is the starting point of Rackovic's
    dissertation.
    """

    SCREWS = "screws"
    WRENCHES = "wrenches"
    CLOSED_FORM = "closed form"
    #: The same with every input a parameter and every vector a named variable.
    NAMED_CLOSED_FORM = "named closed form"


class LoadMethod(Enum):
    """How A of unknown forces is formed: from the gradient of their work, or from the structure matrix of each."""

    WORK = "work"
    STRUCTURE = "structure"


class ForwardMethod(Enum):
    """Methods of forward dynamics."""

    FACTORIZE = "factorize"
    ARTICULATED = "articulated"


class Closure(Enum):
    """Methods for mechanisms with loops.

    Multipliers work at every nonsingular position. Partitioning eliminates them, and fails at dead points of the
    dependent coordinates. The closed form also computes these from the independent ones, by square roots; given values
    only select the branch. FASTEST takes the method with the least estimated time.
    """

    MULTIPLIERS = "multipliers"
    PARTITION = "partition"
    CLOSED_FORM = "closed-form"
    FASTEST = "fastest"


@dataclass(frozen=True)
class Plan:
    """Choices for each link and for the mechanism. in_parent_frame: None means all links with parallel axes."""

    in_parent_frame: frozenset[int] | None = None
    origin_shifts: frozenset[tuple[int, OriginShift]] = frozenset()
    #: Links whose moment follows from Euler's equation instead of U; None: those without products of inertia.
    euler: frozenset[int] | None = None
    #: Links whose acceleration gradient is propagated from their parent; for the others it is computed from w and w'.
    propagated: Propagated = frozenset()
    regroup: bool = True
    axial_moments: frozenset[tuple[int, AxialMoment]] = frozenset()
    inertia: InertiaMethod = InertiaMethod.SCREWS
    forward: ForwardMethod = ForwardMethod.FACTORIZE
    unknowns: LoadMethod = LoadMethod.WORK
    #: The number of bars in a segment of a planar loop; 0: multipliers.
    segment: int = 0
    #: Legs of platforms in closed form; otherwise as ordinary loops.
    closed_legs: bool = True
    #: Accelerations in independent coordinates, without multipliers.
    partitioned: bool = False
    #: Dependent coordinates are computed from independent ones by closed forms.
    closed_loops: bool = False

    @property
    def sums_over_links(self) -> bool:
        """Whether H, C and gravity are sums over all links."""
        return self.inertia in (InertiaMethod.CLOSED_FORM, InertiaMethod.NAMED_CLOSED_FORM)


#: A function that changes the choice of one link.
Change: TypeAlias = Callable[[Plan, int], Plan]


def _flip_frame(plan: Plan, index: int) -> Plan:
    return replace(plan, in_parent_frame=(plan.in_parent_frame or frozenset()) ^ {index})


def flip_moment(plan: Plan, index: int) -> Plan:
    """Toggle Euler's equation for the moment of a link."""
    return replace(plan, euler=(plan.euler or frozenset()) ^ {index})


def _flip_shift_to_parent(plan: Plan, index: int) -> Plan:
    return replace(
        plan, origin_shifts=(plan.origin_shifts - {(index, OriginShift.CHILD)}) ^ {(index, OriginShift.PARENT)}
    )


def _flip_shift_to_child(plan: Plan, index: int) -> Plan:
    return replace(
        plan, origin_shifts=(plan.origin_shifts - {(index, OriginShift.PARENT)}) ^ {(index, OriginShift.CHILD)}
    )


def _euler_with(axial_moment: AxialMoment) -> Change:
    """Toggle Euler's equation with two equal moments."""

    def change(plan: Plan, index: int) -> Plan:
        others = frozenset(item for item in plan.axial_moments if item[0] != index)
        if (index, axial_moment) in plan.axial_moments:
            return replace(plan, axial_moments=others)
        return replace(
            plan, axial_moments=others | {(index, axial_moment)}, euler=(plan.euler or frozenset()) | {index}
        )

    return change


def _propagate(square: CrossAxis) -> Change:
    """Toggle the propagation of the gradient, with one or the other square."""

    def change(plan: Plan, index: int) -> Plan:
        others = frozenset(item for item in plan.propagated if item[0] != index)
        return replace(plan, propagated=others if (index, square) in plan.propagated else others | {(index, square)})

    return change


#: Changes that a search tries on a link for all quantities; and those for quantities that depend on the motion.
CHANGES: tuple[Change, ...] = (
    _flip_frame,
    _flip_shift_to_parent,
    _flip_shift_to_child,
    _euler_with(AxialMoment.FIRST),
    _euler_with(AxialMoment.SECOND),
)


CHANGES_OF_MOTION: tuple[Change, ...] = (
    flip_moment,
    _propagate(CrossAxis.FIRST),
    _propagate(CrossAxis.SECOND),
)
