"""The choices of a derivation: they change the operation count and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

# The choices that plans of derivations are made of; they change operation counts and nothing else.
#
# Apart from what acts on them, so that a request can name them in a process that derives nothing.


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


# The choices of a derivation that change the operation count and nothing else.


@dataclass(frozen=True)
class Plan:
    """One choice for each link and for the whole mechanism. `in_parent_frame` None: the runs of parallel axes."""

    in_parent_frame: frozenset[int] | None = None
    origin_shifts: frozenset[tuple[int, OriginShift]] = frozenset()
    #: Links whose moment is formed by Euler's equation instead of U; None: those without products of inertia.
    euler: frozenset[int] | None = None
    #: Links whose gradient of accelerations is propagated from their parent; the others form it anew.
    propagated: Propagated = frozenset()
    regroup: bool = True
    axial_moments: frozenset[tuple[int, AxialMoment]] = frozenset()
    inertia: InertiaMethod = InertiaMethod.SCREWS
    forward: ForwardMethod = ForwardMethod.FACTORISE
    #: Planar loops are reduced in segments of so many bars; 0: by multipliers.
    segment: int = 0
    #: Legs of platforms in closed form; else as loops like any others.
    closed_legs: bool = True
    #: Accelerations in independent coordinates alone, not by multipliers.
    partitioned: bool = False
    #: What loops determine is computed from the independent coordinates by closed forms, not taken as given.
    closed_loops: bool = False


#: A plan with another choice for one link.
Change: TypeAlias = Callable[[Plan, int], Plan]


def _flip_frame(plan: Plan, index: int) -> Plan:
    return replace(plan, in_parent_frame=(plan.in_parent_frame or frozenset()) ^ {index})


def flip_moment(plan: Plan, index: int) -> Plan:
    """The moment of a link by Euler's equation or not."""
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
    """Euler's equation with two equal moments; the same change again takes it back."""

    def change(plan: Plan, index: int) -> Plan:
        others = frozenset(item for item in plan.axial_moments if item[0] != index)
        if (index, axial_moment) in plan.axial_moments:
            return replace(plan, axial_moments=others)
        return replace(
            plan, axial_moments=others | {(index, axial_moment)}, euler=(plan.euler or frozenset()) | {index}
        )

    return change


def _carry(square: CrossAxis) -> Change:
    """The gradient propagated with one or the other square; the same change again takes it back."""

    def change(plan: Plan, index: int) -> Plan:
        others = frozenset(item for item in plan.propagated if item[0] != index)
        return replace(plan, propagated=others if (index, square) in plan.propagated else others | {(index, square)})

    return change


#: What a search tries on a link, for all quantities and for those that motion acts on.
CHANGES: tuple[Change, ...] = (
    _flip_frame,
    _flip_shift_to_parent,
    _flip_shift_to_child,
    _euler_with(AxialMoment.FIRST),
    _euler_with(AxialMoment.SECOND),
)


CHANGES_OF_MOTION: tuple[Change, ...] = (
    flip_moment,
    _carry(CrossAxis.FIRST),
    _carry(CrossAxis.SECOND),
)
