"""What may touch in the steps of `kg.simulator(contacts=...)`, and the memory of such a step."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.codegen.kernel import Code
from kinegraph.solve.loops.collision_points import CollisionMemory, CollisionPoints
from kinegraph.solve.loops.collision_shapes import Shapes
from kinegraph.solve.loops.impulse_rows import Rows

# The columns of `previous`. Its first row holds how many contacts there are, the last change of a rate (m/s), how far
# constant forces moved a gap in the step, how far gaps may be open that are still watched, the energy that impulses
# took and pushes have not given back, and 1 after the first step.
PAIR, POINT, NORMAL, GAP, FORCE, MOMENT = 0, 1, 4, 7, 8, 11
COLUMNS = 14
COUNT, RESIDUAL, LIFT, WATCHED, BANK, BEGUN = range(6)

# Entries of `sizes`: positions, velocities, bodies, contacts by gaps, and where in x constant forces begin.
POSITIONS, VELOCITIES, BODIES, GAPS, FORCES = range(5)

# The columns of `facts`, of each contact: how fast its gap changed before the step; how far constant forces moved it;
# the part of the step for which its impulse acts; its rebound; the acceleration of its gap; the speed and the time at
# which it closes.
BEGAN, LIFTED, SHARE, REBOUND, FALL, HIT, CLOSES = range(7)
FACTS = 7


class Columns(NamedTuple):
    """Which velocities matter: lists one after the other, and where each begins (and the end).

    pairs: the velocities that a force on a pair of shapes, or along a gap, changes before those that are carried by
    others answer; from the last to the first. bodies: those that move a body. ties: for each velocity, those before
    it to which it is tied in the factor of the inertia matrix.
    """

    pairs: Integers
    first_pair: Integers
    bodies: Integers
    first_body: Integers
    ties: Integers
    first_tie: Integers


class ContactModel(NamedTuple):
    """What touches, and how. The fixed frame is body 0 and has no entries.

    poses: kernel x -> 4 x 4 poses of all bodies. motion: x -> velocities of all bodies; the columns of their Jacobians
    in `columns`, one after the other; and of the inertia matrix each row's entries in `columns.ties`, then its
    diagonal (or, if `inverse`, its whole inverse on what constraints allow). moves: x with v as a displacement -> that
    of q. gaps, gap_rows: kernels of the contacts that are given by gaps: values; rates and Jacobian of their rows.
    friction, restitution, bounds, widths: of pairs, then of gaps. The bound is the dry friction of a joint, as a force,
    and 0 of a contact. Rows of dry friction have the gap 0 at all times.
    """

    poses: Code
    motion: Code
    moves: Code
    gaps: Code
    gap_rows: Code
    inverse: bool
    sizes: Integers
    gap_first: Integers
    columns: Columns
    shapes: Shapes
    friction: Floats
    restitution: Floats
    bounds: Floats
    widths: Integers
    tolerance: float
    rounds: int


class ContactMemory(NamedTuple):
    """Memory of one step.

    before: where shapes are at the start of the step. inertia: the factor of the inertia matrix, with reciprocals on
    its diagonal. back: the way back from the velocities at the end of the step to those before; shift, change: of
    positions and velocities; held: the accelerations by constant forces. ahead: gaps at the end without constant
    forces. earlier: the same contact in `previous`. saved: y before the step.
    """

    poses: Floats
    motion: Floats
    moves: Floats
    gaps: Floats
    gap_rows: Floats
    collisions: CollisionMemory
    before: Floats
    touches: CollisionPoints
    rows: Rows
    inertia: Floats
    shift: Floats
    change: Floats
    back: Floats
    held: Floats
    facts: Floats
    pushes: Floats
    ahead: Floats
    wrenches: Floats
    earlier: Integers
    saved: Floats
