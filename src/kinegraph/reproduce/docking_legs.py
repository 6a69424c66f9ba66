"""The docking document's algorithm for one leg (sections 3 to 6): chain, loop equations, inertia, and forces.

Legs are chains of joints with one degree of freedom. The platform's six velocities are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.derive.platforms.free_motion import FreeMotion
from kinegraph.derive.platforms.leg_parameters import part_of
from kinegraph.derive.tree.expressions import Names
from kinegraph.derive.tree.links import JointKind, Link, Tree, first_frame, rotation_matrix, second_frame
from kinegraph.graph.build import Scalar
from kinegraph.model.mechanism import Axis
from kinegraph.model.platforms.recognition import RecognizedLeg
from kinegraph.model.states import force_on

# Matrices of graph scalars: products with zeros and ones fold away.

Array: TypeAlias = npt.NDArray[np.object_]


def array(items: object) -> Array:
    """Scalars, or rows of them, as an array."""
    return np.array(items, dtype=object)


def zeros(like: Scalar, *shape: int) -> Array:
    """Zeros in the builder of `like`."""
    return np.full(shape, like.number(0), dtype=object)


def cross(a: Array, b: Array) -> Array:
    """The cross product; b may be a matrix of columns."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def inverse(matrix: Array) -> Array:
    """By cofactors: the matrices are 3 x 3 and 4 x 4."""
    n = len(matrix)
    cofactors = array([[(-1) ** (i + j) * _determinant(_without(matrix, i, j)) for j in range(n)] for i in range(n)])
    over = (matrix[0] @ cofactors[0]).reciprocal()
    return array(cofactors.T * over)


def _without(matrix: Array, i: int, j: int) -> Array:
    return np.delete(np.delete(matrix, i, axis=0), j, axis=1)


def _determinant(matrix: Array) -> Scalar:
    if len(matrix) == 1:
        found: Scalar = matrix[0, 0]
        return found
    parts = [(-1) ** j * matrix[0, j] * _determinant(_without(matrix, 0, j)) for j in range(len(matrix))]
    return total(parts)


def total(items: Sequence[Scalar]) -> Scalar:
    """The sum of some scalars."""
    found = items[0]
    for item in items[1:]:
        found = found + item
    return found


# A leg as a chain of joints with one degree of freedom, read from the tree of a mechanism (section 3).


@dataclass(frozen=True)
class Segment:
    """Body j and its joint: `turn` are its axes in those of body j-1 (beta_j transposed), `arm` is r_{j-1,j} there.

    `axis` is that of the joint; `first` is c = m d and `inertia` the tensor about the body's origin, in body axes. A
    body that only splits a joint has no mass. `force` is the active force or moment in the joint.
    """

    turn: Array
    arm: Array
    axis: Array
    prismatic: bool
    mass: Scalar
    first: Array
    inertia: Array
    rate: Scalar
    force: Scalar


@dataclass(frozen=True)
class Chain:
    """Leg k: its segments from the base; the cut joint on its last body and on the platform, with axes y and z if
    it is universal; `names` are those of its coordinates, in this order."""

    segments: tuple[Segment, ...]
    end: Array
    ring: Array
    axis_on_leg: Array | None
    axis_on_ring: Array | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Ring:
    """The platform: its pose and velocities, its inertia, the external load (force at its center in fixed axes,
    moment in its own)."""

    motion: FreeMotion
    rotation: Array
    spin: Array
    mass: Scalar
    inertia: Array
    force: Array
    moment: Array


def chain_of(leg: RecognizedLeg, tree: Tree, names: Names) -> Chain:
    """The chain of a leg; forces in joints are the symbols of `tau`."""
    end, ring = tree.bodies[first_frame(leg.loop)], tree.bodies[second_frame(leg.loop)]
    path = [end.link]
    while tree.links[path[-1]].parent:
        path.append(tree.links[path[-1]].parent)
    used = [tree.links[index] for index in reversed(path)]
    coordinates = {names[name].index: name for name in leg.coordinates}
    own = [_name(link, coordinates) for link in used]
    on_leg, on_ring = leg.loop.joint.axes or (Axis.X, Axis.Y)
    universal = leg.type.universal_at_platform
    return Chain(
        tuple(_segment(link, name, names) for link, name in zip(used, own, strict=True)),
        array(end.position),
        array(ring.position),
        array(end.rotation)[:, on_leg.value] if universal else None,
        array(ring.rotation)[:, on_ring.value] if universal else None,
        tuple(own),
    )


def _name(link: Link, coordinates: dict[int, str]) -> str:
    assert link.joint is not None
    return coordinates[link.joint.displacement.index]


def _segment(link: Link, name: str, names: Names) -> Segment:
    joint, origin = link.joint, link.origin
    assert joint is not None and origin is not None
    part, prismatic = part_of(link.moments), joint.kind is JointKind.PRISMATIC
    base, place = array(origin.rotation), array(origin.position)
    axis = array([joint.displacement.number(int(i == joint.axis)) for i in range(3)])
    if prismatic:
        place = place + base @ (axis * joint.displacement)
    else:
        base = base @ array(rotation_matrix(joint.axis, joint.displacement))
    inertia = array([part.inertia.column(i) for i in range(3)])
    rate, force = names[f"{name}'"], names[force_on(name)]
    return Segment(base, place, axis, prismatic, part.mass, array(part.first), inertia, rate, force)


# Section 4: loop equations of one leg for velocities and accelerations, C_d p' = C_i u and C_d p'' = C_i u' + c.


@dataclass(frozen=True)
class LegMotion:
    """At the end of a leg, in fixed axes: partial velocities T and R by the leg's own rates, its angular velocity,
    the accelerations w and epsilon that do not depend on the changes of the rates, and the axes of its last
    body."""

    place: Array
    axes: Array
    shifting: Array
    angular_jacobian: Array
    spin: Array
    bias: Array
    angular_bias: Array


@dataclass(frozen=True)
class LoopEquations:
    """Of one leg: the matrices and their consequence p' = H u, p'' = H u' + h. `reaction_axis` is n_R."""

    dependent: Array
    independent: Array
    constant: Array
    dependent_inverse: Array
    H: Array
    h: Array
    reaction_axis: Array | None


def moved(chain: Chain, complete: bool = True) -> LegMotion:
    """The recursions of section 4, outward. `complete` adds epsilon x r to w, which the printed formula lacks."""
    like, n = chain.end[0], len(chain.segments)
    place, axes = zeros(like, 3), array([[like.number(int(i == j)) for j in range(3)] for i in range(3)])
    shifting, angular_jacobian = zeros(like, 3, n), zeros(like, 3, n)
    spin, bias, angular = zeros(like, 3), zeros(like, 3), zeros(like, 3)
    for j, segment in enumerate(chain.segments):
        arm = axes @ segment.arm
        place, axes = place + arm, axes @ segment.turn
        along = axes @ segment.axis
        shifting = shifting + cross_columns(angular_jacobian, arm)
        bias = bias + cross(spin, cross(spin, arm)) + (cross(angular, arm) if complete else zeros(like, 3))
        if segment.prismatic:
            shifting = _with(shifting, j, along)
            bias = bias + cross(spin, along * segment.rate) * 2
        else:
            angular_jacobian = _with(angular_jacobian, j, along)
            angular = angular + cross(spin, along * segment.rate)
            spin = spin + along * segment.rate
    arm = axes @ chain.end
    bias = bias + cross(spin, cross(spin, arm)) + (cross(angular, arm) if complete else zeros(like, 3))
    return LegMotion(
        place + arm, axes, shifting + cross_columns(angular_jacobian, arm), angular_jacobian, spin, bias, angular
    )


def cross_columns(matrix: Array, arm: Array) -> Array:
    """Every column of a matrix times an arm."""
    return array([cross(column, arm) for column in matrix.T]).T


def _with(matrix: Array, j: int, column: Array) -> Array:
    found = matrix.copy()
    found[:, j] = column
    return found


def loop_equations(chain: Chain, ring: Ring, leg: LegMotion) -> LoopEquations:
    """Three rows for the center of the cut joint, a fourth if it is universal."""
    arm, spin = ring.rotation @ chain.ring, ring.rotation @ ring.spin
    one = array([[arm[0].number(int(i == j)) for j in range(3)] for i in range(3)])
    dependent, constant = leg.shifting, cross(spin, cross(spin, arm)) - leg.bias
    independent = np.hstack([one, cross_columns(ring.rotation, arm)])
    axis = None
    if chain.axis_on_leg is not None and chain.axis_on_ring is not None:
        first, second = leg.axes @ chain.axis_on_leg, ring.rotation @ chain.axis_on_ring
        axis = cross(first, second)
        rate = cross(cross(leg.spin, first), second) + cross(first, cross(spin, second))
        dependent = np.vstack([dependent, axis @ leg.angular_jacobian])
        independent = np.vstack([independent, np.hstack([zeros(arm[0], 3), axis @ ring.rotation])])
        last = -(axis @ leg.angular_bias) - rate @ (leg.spin - spin)
        constant = np.append(constant, last)
    solved = inverse(dependent)
    return LoopEquations(dependent, independent, constant, solved, solved @ independent, solved @ constant, axis)


# Section 5: the inertia matrix A_k and the forces b_k of one leg by the composite-body algorithm; section 6: the load
# of the leg on the base.


def inertia_matrix(chain: Chain) -> Array:
    """A_k, a column for each unit acceleration of a joint."""
    n = len(chain.segments)
    found = zeros(chain.end[0], n, n)
    for j in range(n):
        for i, entry in _column(chain, j):
            found[i, j] = found[j, i] = entry
    return found


def _column(chain: Chain, j: int) -> list[tuple[int, object]]:
    """Entries i >= j: inertial forces of body i and all bodies after it, along the axis of joint i."""
    none = zeros(chain.end[0], 3)
    own = chain.segments[j]
    linear, angular = (own.axis, none) if own.prismatic else (none, own.axis)
    loads = [_inertial(own, linear, angular)]
    for segment in chain.segments[j + 1 :]:
        linear, angular = segment.turn.T @ (linear + cross(angular, segment.arm)), segment.turn.T @ angular
        loads.append(_inertial(segment, linear, angular))
    sums = _inwards(chain.segments[j:], loads)
    return [(j + k, _along(segment, *sums[k])) for k, segment in enumerate(chain.segments[j:])]


def _inertial(segment: Segment, linear: Array, angular: Array) -> tuple[Array, Array]:
    force = linear * segment.mass + cross(angular, segment.first)
    return force, segment.inertia @ angular + cross(segment.first, linear)


def _along(segment: Segment, force: Array, moment: Array) -> object:
    return segment.axis @ (force if segment.prismatic else moment)


def _inwards(segments: tuple[Segment, ...], loads: list[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """For each body the force and moment, about its origin, of itself and all bodies after it."""
    found = [loads[-1]]
    for k in range(len(segments) - 2, -1, -1):
        force, moment = propagated(segments[k + 1], *found[0])
        found.insert(0, (loads[k][0] + force, loads[k][1] + moment))
    return found


def propagated(segment: Segment, force: Array, moment: Array) -> tuple[Array, Array]:
    """A force and moment on a body, transferred to the previous body, about its origin and in its axes."""
    turned = segment.turn @ force
    return turned, segment.turn @ moment + cross(segment.arm, turned)


def bias_loads(chain: Chain) -> list[tuple[Array, Array]]:
    """Inertial forces and moments of each body at zero joint accelerations."""
    like = chain.end[0]
    spin, bias, angular = zeros(like, 3), zeros(like, 3), zeros(like, 3)
    found = []
    for one in chain.segments:
        bias = one.turn.T @ (bias + cross(angular, one.arm) + cross(spin, cross(spin, one.arm)))
        spin, angular = one.turn.T @ spin, one.turn.T @ angular
        relative = one.axis * one.rate
        if one.prismatic:
            bias = bias + cross(spin, relative) * 2
        else:
            angular = angular + cross(spin, relative)
            spin = spin + relative
        force = bias * one.mass + cross(angular, one.first) + cross(spin, cross(spin, one.first))
        moment = one.inertia @ angular + cross(one.first, bias) + cross(spin, one.inertia @ spin)
        found.append((force, moment))
    return found


def generalized_forces(chain: Chain, loads: list[tuple[Array, Array]]) -> Array:
    """b_k: the active forces in the joints minus the inertial forces at zero accelerations."""
    sums = _inwards(chain.segments, loads)
    along = (_along(segment, *one) for segment, one in zip(chain.segments, sums, strict=True))
    return array(array([segment.force for segment in chain.segments]) - array(list(along)))


def on_base(
    chain: Chain, loads: list[tuple[Array, Array]], accelerations: Array, at_end: tuple[Array, Array]
) -> tuple[Array, Array]:
    """(6.2), (6.3): force and moment on the base about the fixed origin.

    `at_end` are force and moment of the platform on the last body, about its origin and in its axes; they are zero
    in the printed recursion.
    """
    none = zeros(chain.end[0], 3)
    linear, angular, needed = none, none, []
    for segment, acceleration, load in zip(chain.segments, accelerations, loads, strict=True):
        linear, angular = segment.turn.T @ (linear + cross(angular, segment.arm)), segment.turn.T @ angular
        own = segment.axis * acceleration
        linear, angular = (linear + own, angular) if segment.prismatic else (linear, angular + own)
        force, moment = _inertial(segment, linear, angular)
        needed.append((force + load[0], moment + load[1]))
    force, moment = (-one for one in at_end)
    for segment, load in zip(reversed(chain.segments), reversed(needed), strict=True):
        force, moment = _transmitted(segment, force + load[0], moment + load[1])
        force, moment = propagated(segment, force, moment)
    return -force, -moment


def _transmitted(segment: Segment, force: Array, moment: Array) -> tuple[Array, Array]:
    """A joint transmits its active force or moment along its axis, and any reaction across it."""
    if segment.prismatic:
        return force + segment.axis * (segment.force - segment.axis @ force), moment
    return force, moment + segment.axis * (segment.force - segment.axis @ moment)
