"""Rods in space: a ball joint closes onto the end of a rod that hangs on two axes through one point O.

The ball's centre T keeps its distance to O, which is one equation for the third unknown, a slider or an angle anywhere
else on the loop. Then the direction of the rod is known: its part along the first axis gives the second angle, what is
left across that axis the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinegraph.derive.constraints.chain import chain_motion, path_between
from kinegraph.derive.constraints.dyads.plane import Plane
from kinegraph.derive.constraints.dyads.roots import without_squared_roots
from kinegraph.derive.constraints.dyads.solutions import DEAD_POINT, Solution, solved
from kinegraph.derive.constraints.dyads.unknowns import Combination, NoClosedForm, Unknowns
from kinegraph.derive.constraints.dyads.written import Written
from kinegraph.derive.constraints.ties import Ties
from kinegraph.derive.tree.algebra import FOLLOWING, apply, dot, minus, transpose, turn_vector
from kinegraph.derive.tree.links import JointKind, Placement, first_frame, second_frame
from kinegraph.graph.angle import linear_form
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.records import Loop


def solved_rod(ties: Ties, loop: Loop, symbols: frozenset[int]) -> list[Solution]:
    """Three unknowns of a ball joint, one after the other; NoClosedForm if no rod of the loop hangs on two of them."""
    bodies = ties.layout.tree.bodies
    frames = bodies[second_frame(loop)], bodies[first_frame(loop)]
    for rod, ball in (frames, frames[::-1]):
        for found in _solutions(ties, ties.ancestor(loop), rod, ball, symbols):
            return found
    raise NoClosedForm


def _solutions(
    ties: Ties, ancestor: int, rod: Placement, ball: Placement, symbols: frozenset[int]
) -> Iterator[list[Solution]]:
    tree = ties.layout.tree
    path = path_between(tree, ancestor, rod.link)
    if len(path) < 2:
        return
    first, second = (tree.links[index] for index in path[-2:])
    joints = first.joint, second.joint
    angles = [joint.displacement.index for joint in joints if joint and joint.kind is JointKind.REVOLUTE]
    if len(angles) != 2 or not symbols.issuperset(angles) or first.origin is None or second.origin is None:
        return
    if any(not item.is_zero for item in second.origin.position) or joints[0] is None or joints[1] is None:
        return
    centre = chain_motion(ties.layout, ties.motion, ancestor, first.origin)
    away = minus(chain_motion(ties.layout, ties.motion, ancestor, ball).point, centre.point)
    third = solved(Unknowns(ties.builder, symbols - set(angles)), [dot(away, away) - dot(rod.position, rod.position)])
    direction = Written(ties.builder, [third])(apply(transpose(centre.rotation), away))
    turned = turn_vector(joints[1].axis, *_turn(joints[1].displacement), rod.position)
    hangs = apply(second.origin.rotation, turned)
    tilt = solved(Unknowns(ties.builder, [angles[1]]), [hangs[joints[0].axis] - direction[joints[0].axis]])
    lies = Written(ties.builder, [tilt])(hangs)
    yield [third, tilt, _about(ties, joints[0].axis, angles[0], lies, direction, dot(rod.position, rod.position))]


def _turn(angle: Scalar) -> tuple[Scalar, Scalar]:
    return angle.sin(), angle.cos()


def _about(
    ties: Ties, axis: int, symbol: int, lies: Sequence[Scalar], wanted: Sequence[Scalar], scale: Scalar
) -> Solution:
    """The angle about an axis by which one vector comes to lie as another of the same length."""
    x, y = FOLLOWING[axis]
    before, after = Plane(lies[x], lies[y]), Plane(wanted[x], wanted[y])
    square = without_squared_roots(before.square)
    inverse = square.reciprocal().apply("guarded", square - scale.number(DEAD_POINT) * scale)
    combination: Combination = ((symbol, 1),)
    turn = before.mirrored.turned(after).times(inverse).turn
    return Solution({combination: linear_form(ties.builder.nodes, symbol)}, {combination: turn})
