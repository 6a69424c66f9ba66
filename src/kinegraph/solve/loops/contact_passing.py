"""Fast shapes: how far a step may go before one could pass another unseen.

Contacts are found at the end of a step. Between two ends a thin or small shape could pass through another, or get so
deep into it that the way out is on the other side. So a step ends where two shapes could overlap by half of their
thickness, at the speed that they have in it. A plane cannot be passed: behind it all is inside.
"""

from __future__ import annotations

from math import sqrt

from kinegraph.arrays import Floats
from kinegraph.jit.marks import part
from kinegraph.solve.loops.collision_distances import core_normal, separation
from kinegraph.solve.loops.collision_shapes import (
    CAPSULE,
    CYLINDER,
    PLANE,
    SPHERE,
    Shapes,
    dot,
    minus,
    origin,
    place_shapes,
    radius,
)
from kinegraph.solve.loops.contact_model import BODIES, ContactMemory, ContactModel
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import Work


@part
def place_before(work: Work, model: ContactModel, memory: ContactMemory, t: float) -> None:
    """Where shapes are at the start of a step, if any two could pass each other."""
    if not can_pass(model.shapes):
        return
    size = len(work.y)
    for d in range(size):
        work.x[d] = work.y[d]
    work.x[size] = t
    if model.sizes[BODIES] > 0:
        call(model.poses, work.x, memory.poses, 0)
    place_shapes(model.shapes, memory.poses, memory.before)


@part
def can_pass(shapes: Shapes) -> bool:
    """Whether there are pairs without a plane; those with one come first."""
    last = len(shapes.pairs) - 1
    return bool(last >= 0 and shapes.kinds[shapes.pairs[last, 0]] != PLANE)


@part
def unseen_after(model: ContactModel, memory: ContactMemory, length: float) -> float:
    """The part of a step of this length, which was taken without impulses, that no shape can pass another in."""
    shapes, safe = model.shapes, length
    if not can_pass(shapes):
        return length
    for pair in range(len(shapes.pairs)):
        a, b = shapes.pairs[pair, 0], shapes.pairs[pair, 1]
        if shapes.kinds[a] == PLANE:
            continue
        thin = shapes.thickness[a] + shapes.thickness[b]
        way = relative_way(shapes, memory, a, b)
        if way <= 0.5 * thin or not meets(shapes, memory.before, a, b, way):
            continue
        n = core_normal(shapes, memory.before, a, b, memory.collisions.distances)
        apart = separation(shapes, memory.before, a, b, n) - radius(shapes, a) - radius(shapes, b)
        safe = min(safe, length * (max(apart, 0.0) + 0.5 * thin) / way)
    return safe


@part
def relative_way(shapes: Shapes, memory: ContactMemory, a: int, b: int) -> float:
    """A bound of how far a point of one shape moves against the other in the step."""
    before, after = memory.before, memory.collisions.frames
    first, second = minus(origin(after[a]), origin(before[a])), minus(origin(after[b]), origin(before[b]))
    moved = minus(second, first)
    found = sqrt(dot(moved, moved))
    found += shapes.bounds[a] * turned(shapes.kinds[a], before[a], after[a])
    return found + shapes.bounds[b] * turned(shapes.kinds[b], before[b], after[b])  # type: ignore[no-any-return]


@part
def turned(kind: int, before: Floats, after: Floats) -> float:
    """How far a shape turned: the norm of the change of its axes, of the only one that matters if it is round."""
    if kind == SPHERE:
        return 0.0
    total, round_one = 0.0, kind in (CAPSULE, CYLINDER)
    for k in range(9):
        if k % 3 == 2 or not round_one:
            total += (after[k] - before[k]) ** 2
    return float(sqrt(total))


@part
def meets(shapes: Shapes, before: Floats, a: int, b: int, way: float) -> bool:
    """Whether the balls around both shapes come together on this way."""
    between = minus(origin(before[b]), origin(before[a]))
    reach = shapes.bounds[a] + shapes.bounds[b] + way
    return bool(dot(between, between) <= reach * reach)
