"""What the loops over chains pass to each other."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.large.records import Floats, Integers

# Columns of what is known of an end of a chain: axes (row by row) and point, their velocities, and accelerations less
# gravity while no coordinate accelerates; all in the axes of the ground.
AXES, POINT, VELOCITY_OF_POINT, SPIN, PULL, TWIST = 0, 9, 12, 15, 18, 21
END = 24

# Kinds of rows: the points of two ends coincide along an axis; an axis of one is perpendicular to one of the other.
COINCIDE, PERPENDICULAR = 0, 1
# Columns of Closing.row
KIND_OF_ROW, FIRST_END, SECOND_END, FIRST_AXIS, SECOND_AXIS, GROUP = 0, 1, 2, 3, 4, 5


class Work(NamedTuple):
    """One row per step, then one per velocity: what the sweeps over chains leave for each other."""

    step: Floats  #: (n, 4) as in MotionArrays
    omega: Floats
    bias: Floats
    still: Floats  #: (n, 6) acceleration less gravity while no coordinate accelerates
    place: Floats  #: (n, 12) axes and origin in the ground
    speed: Floats  #: (n, 3) velocity of the origin, in own axes
    column: Floats
    pull: Floats
    excess: Floats
    pivot: Floats
    push: Floats  #: (velocities, directions) what a unit force at an end does on a velocity
    result: Floats  #: (velocities,)


class Ends(NamedTuple):
    """Frames on steps, ordered by step: those that loops tie, and points that springs and dampers pull at."""

    step: Integers
    turn: Floats  #: (ends, 9)
    point: Floats  #: (ends, 3)


class Directions(NamedTuple):
    """Unit forces (axis 0 to 2) and moments (3 to 5) at ends along the axes of the ground, ordered by step."""

    end: Integers
    axis: Integers


class Part(NamedTuple):
    """A chain: its steps as runs (first, last + 1), and the directions and ends on it, by number."""

    spans: Integers  #: (runs, 2)
    directions: Integers
    ends: Integers


class Reduction(NamedTuple):
    """What a part hands on: articulated inertias and forces at steps that carry several, by slot; compliance and
    free acceleration along its directions."""

    stored: Floats  #: (slots, 35)
    loads: Floats  #: (slots, directions, 6)
    compliance: Floats  #: (directions, directions)
    free: Floats  #: (directions,)


class Closing(NamedTuple):
    """The rows of all loops that take part, and how fast what they miss shall vanish (Baumgarte)."""

    row: Integers  #: (rows, 6)
    sign: Floats
    alpha: float
    beta: float
