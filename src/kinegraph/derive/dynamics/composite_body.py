"""The composite-rigid-body algorithm: inertia matrix, gravity forces and Christoffel symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from kinegraph.derive.tree.algebra import (
    MassMoments,
    Symmetric,
    Vector,
    axial_inertia,
    cross,
    dot,
    negative,
    plus,
    signed_axis,
    times,
    zero_vector,
)
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import JointKind
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import ForwardDerivative

# ---- Inertia matrix and gravity forces of joint components, from composite bodies


class Screw(NamedTuple):
    """A unit motion of one joint component: angular part and velocity of a link's origin."""

    angular: Vector
    linear: Vector


class Column(NamedTuple):
    """One component of one joint: link and component."""

    link: int
    component: int


def composite_moments(layout: FrameAssignment) -> list[MassMoments]:
    """For every link: the mass moments of its subtree, about its origin, in its frame of computation."""
    composites = list(layout.moments)
    for index in range(len(composites) - 1, 0, -1):
        parent = layout.tree.links[index].parent
        beyond = composites[index]
        turned = MassMoments(
            beyond.mass, layout.inward(index, beyond.first), layout.inward_symmetric(index, beyond.second)
        )
        composites[parent] = composites[parent].plus(turned.shifted(layout.offsets[index]))
    return composites


def unit_screws(layout: FrameAssignment, index: int) -> list[Screw]:
    """The unit motions of a link's own joint, at its origin, in its frame of computation."""
    joint = layout.tree.links[index].joint
    assert joint is not None
    zero = zero_vector(layout.tree.like)
    if joint.kind is JointKind.SPHERICAL:
        one, nil = layout.tree.like.number(1), layout.tree.like.number(0)
        return [Screw((one, nil, nil), zero), Screw((nil, one, nil), zero), Screw((nil, nil, one), zero)]
    axis = layout.link_frames[index].joint_axis
    assert axis is not None
    return [Screw(zero, axis) if joint.kind is JointKind.PRISMATIC else Screw(axis, zero)]


def column_count(layout: FrameAssignment, index: int) -> int:
    """The number of velocities of a link's joint."""
    joint = layout.tree.links[index].joint
    return 0 if joint is None else 3 if joint.kind is JointKind.SPHERICAL else 1


def all_screws(layout: FrameAssignment, wanted: frozenset[Column]) -> list[dict[Column, Screw]]:
    """For every link: the motion of its origin due to each wanted joint component at or below it."""
    found: list[dict[Column, Screw]] = [{}]
    for index in range(1, len(layout.tree.links)):
        parent = layout.tree.links[index].parent
        offset = layout.offsets[index]
        moved: dict[Column, Screw] = {}
        for column, screw in found[parent].items():
            linear = plus(screw.linear, cross(screw.angular, offset))
            moved[column] = Screw(layout.outward(index, screw.angular), layout.outward(index, linear))
        for component, screw in enumerate(unit_screws(layout, index)):
            if Column(index, component) in wanted:
                moved[Column(index, component)] = screw
        found.append(moved)
    return found


def momentum_of(moments: MassMoments, screw: Screw) -> tuple[Vector, Vector]:
    """Linear momentum, and angular momentum about the origin, of a composite body with the motion of a screw."""
    linear = plus(times(moments.mass, screw.linear), cross(screw.angular, moments.first))
    angular = plus(inertia_times(moments, screw.angular), cross(moments.first, screw.linear))
    return linear, angular


def inertia_times(moments: MassMoments, angular: Vector) -> Vector:
    """The inertia tensor about the origin times a vector."""
    direction = signed_axis(angular)
    if direction is not None:
        axis, sign = direction
        column = axial_inertia(moments.second, axis)
        return column if sign == 1 else negative(column)
    s = moments.second
    trace_less = (s.yy + s.zz, s.xx + s.zz, s.xx + s.yy)
    x, y, z = angular
    return (
        trace_less[0] * x - s.xy * y - s.xz * z,
        trace_less[1] * y - s.xy * x - s.yz * z,
        trace_less[2] * z - s.xz * x - s.yz * y,
    )


def power(screw: Screw, force: Vector, moment: Vector) -> Scalar:
    """The power of a wrench at the origin on a unit motion."""
    return dot(screw.angular, moment) + dot(screw.linear, force)


def inertia_by_screws(layout: FrameAssignment, wanted: frozenset[Column]) -> dict[tuple[Column, Column], Scalar]:
    """H in joint components: every ancestor's motion is propagated to the composite body."""
    composites = composite_moments(layout)
    screws = all_screws(layout, wanted)
    entries: dict[tuple[Column, Column], Scalar] = {}
    for index in range(1, len(layout.tree.links)):
        for column in own_columns(layout, index, wanted):
            linear, angular = momentum_of(composites[index], screws[index][column])
            for other, screw in screws[index].items():
                entries[column, other] = entries[other, column] = power(screw, linear, angular)
    return entries


def inertia_by_wrenches(layout: FrameAssignment, wanted: frozenset[Column]) -> dict[tuple[Column, Column], Scalar]:
    """H in joint components: the composite body's momentum is propagated to every ancestor (Featherstone)."""
    composites = composite_moments(layout)
    entries: dict[tuple[Column, Column], Scalar] = {}
    for index in range(1, len(layout.tree.links)):
        units = unit_screws(layout, index)
        for column in own_columns(layout, index, wanted):
            force, moment = momentum_of(composites[index], units[column.component])
            _propagate_inward(layout, index, column, force, moment, wanted, entries)
    return entries


def _propagate_inward(
    layout: FrameAssignment,
    index: int,
    column: Column,
    force: Vector,
    moment: Vector,
    wanted: frozenset[Column],
    entries: dict[tuple[Column, Column], Scalar],
) -> None:
    while index > 0:
        units = unit_screws(layout, index)
        for other in own_columns(layout, index, wanted):
            entries[column, other] = entries[other, column] = power(units[other.component], force, moment)
        force, moment = layout.inward(index, force), layout.inward(index, moment)
        moment = plus(moment, cross(layout.offsets[index], force))
        index = layout.tree.links[index].parent


def own_columns(layout: FrameAssignment, index: int, wanted: frozenset[Column]) -> list[Column]:
    """The wanted columns that belong to the joint of a link."""
    return [c for c in (Column(index, i) for i in range(column_count(layout, index))) if c in wanted]


def gravity_forces(layout: FrameAssignment) -> list[tuple[Scalar, ...]]:
    """The joint forces that hold the mechanism still: - (velocity of the composite first moment) . g."""
    composites = composite_moments(layout)
    gravity = [layout.tree.gravity]
    forces: list[tuple[Scalar, ...]] = [()]
    for index in range(1, len(layout.tree.links)):
        gravity.append(layout.outward(index, gravity[layout.tree.links[index].parent]))
        moments = composites[index]
        forces.append(
            tuple(
                -dot(plus(times(moments.mass, screw.linear), cross(screw.angular, moments.first)), gravity[index])
                for screw in unit_screws(layout, index)
            )
        )
    return forces


Key = tuple[Column, Column, Column]


def christoffel(layout: FrameAssignment, wanted: frozenset[Column]) -> dict[Key, Scalar]:
    """Christoffel symbols in joint components, key (i, k, h), without zeros: tau_i = sum_kh C^i_kh v_k v_h.

    They are computed recursively instead of by differentiating H. Let u_k(x) be the velocity of a point x for a unit
    rate of joint component k, and w_h the angular velocity of component h. Everything follows from
    D_{i,kh} = sum over the mass beyond k of m u_i . (w_h x u_k), for i and h at k or toward the base. For h toward the
    base of k the pair (k, h) accelerates a point by 2 w_h x u_k. Two components of one ball joint accelerate it by
    w_h x u_k + w_k x u_h.
    """
    base = _basic_products(layout, wanted)
    entries: dict[Key, Scalar] = {}
    for i, k, h in base:
        if k.link == h.link:
            value = (base[i, k, h] + base[i, h, k]) / 2 if k != h else base[i, k, k]
        else:
            value = base[i, k, h]
        _store(entries, i, k, h, value)
        if i.link < k.link and h.link <= i.link:
            _store(entries, k, i, h, _from_below(base, i, k, h))
    return entries


def _from_below(base: dict[Key, Scalar], i: Column, k: Column, h: Column) -> Scalar:
    """Joint k beyond the pair (i, h): u_k . (w_h x u_i) = - u_i . (w_h x u_k)."""
    if i.link == h.link and i != h:
        return (base[i, k, h] + base[h, k, i]) / -2
    return -base[i, k, h]


def _store(entries: dict[Key, Scalar], i: Column, k: Column, h: Column, value: Scalar) -> None:
    if not value.is_zero:
        entries[i, k, h] = entries[i, h, k] = value


def _basic_products(layout: FrameAssignment, wanted: frozenset[Column]) -> dict[Key, Scalar]:
    """D_{i,kh} for every k and all i, h at or below it."""
    composites = composite_moments(layout)
    screws = all_screws(layout, wanted)
    products: dict[Key, Scalar] = {}
    for index in range(1, len(layout.tree.links)):
        for k in own_columns(layout, index, wanted):
            own = screws[index][k]
            for h, other in screws[index].items():
                force, moment = _rotational_wrench(composites[index], own, other.angular)
                for i, screw in screws[index].items():
                    products[i, k, h] = power(screw, force, moment)
    return products


def _rotational_wrench(moments: MassMoments, screw: Screw, w: Vector) -> tuple[Vector, Vector]:
    """Force and moment about the origin of sum m (w x u(x)) for the composite body's own unit motion u = v + e x."""
    p = plus(times(moments.mass, screw.linear), cross(screw.angular, moments.first))
    force = cross(w, p)
    # sum m x x (w x (e x x)) = - e x S w, and mc x (w x v) for a prismatic joint
    moment = plus(_minus_cross(screw.angular, moments.second, w), cross(moments.first, cross(w, screw.linear)))
    return force, moment


def _minus_cross(e: Vector, s: Symmetric, w: Vector) -> Vector:
    """- e x S w."""
    return cross(s.apply(w), e)


# ---- From joint components to coordinates: sums over dp/dq

Square = list[list[Scalar]]


def driven_columns(motion: Motion) -> frozenset[Column]:
    """The joint components that depend on coordinates; prescribed motions are excluded."""
    return frozenset(
        Column(link, component)
        for link, columns in enumerate(motion.columns)
        for component, column in enumerate(columns)
        if column
    )


def inertia_matrix(motion: Motion, entries: Mapping[tuple[Column, Column], Scalar], zero: Scalar) -> Square:
    """H_kl = sum_ij (dp_i/dq_k) h_ij (dp_j/dq_l)."""
    size = len(motion.velocities)
    matrix = [[zero] * size for _ in range(size)]
    for (i, j), value in entries.items():
        for k, left in motion.columns[i.link][i.component].items():
            for m, right in motion.columns[j.link][j.component].items():
                if k <= m:
                    matrix[k][m] = matrix[k][m] + left * right * value
    for k in range(size):
        for m in range(k):
            matrix[k][m] = matrix[m][k]
    return matrix


def three_index(
    builder: GraphBuilder,
    motion: Motion,
    entries: Mapping[Key, Scalar],
    inertia: Mapping[tuple[Column, Column], Scalar],
    coordinates: Mapping[int, int],
    zero: Scalar,
) -> list[Square]:
    """C^k_lm = sum P_ik P_jl P_hm c_{i,jh} + sum P_ik h_ij d2p_j/dq_l dq_m."""
    size = len(motion.velocities)
    array = [[[zero] * size for _ in range(size)] for _ in range(size)]

    def add(k: int, m: int, n: int, value: Scalar) -> None:
        array[k][m][n] = array[k][m][n] + value

    for (i, j, h), value in entries.items():
        for k, first in motion.columns[i.link][i.component].items():
            for m, second in motion.columns[j.link][j.component].items():
                for n, third in motion.columns[h.link][h.component].items():
                    add(k, m, n, first * second * third * value)
    curvature = _curvatures(builder, motion, coordinates)
    for (i, j), value in inertia.items():
        for (m, n), bend in curvature.get(j, {}).items():
            for k, first in motion.columns[i.link][i.component].items():
                add(k, m, n, first * bend * value)
    return array


def _curvatures(
    builder: GraphBuilder, motion: Motion, coordinates: Mapping[int, int]
) -> dict[Column, dict[tuple[int, int], Scalar]]:
    """The nonzero d2p_j/dq_l dq_m; `coordinates` maps coordinate symbols to indices of velocities."""
    found: dict[Column, dict[tuple[int, int], Scalar]] = {}
    for link, columns in enumerate(motion.columns):
        for component, column in enumerate(columns):
            for m, slope in column.items():
                if slope.static:
                    continue
                for symbol, n in coordinates.items():
                    bend = Scalar(builder, ForwardDerivative(builder, {symbol: builder.one})(slope.index))
                    if not bend.is_zero:
                        found.setdefault(Column(link, component), {})[m, n] = bend
    return found


# ---- Armature: inertia of coordinates, such as that of rotors behind gears
#
# It adds J_k to the diagonal of the inertia matrix, J_k a_k to the forces and 1/2 J_k v_k^2 to the kinetic energy. It
# belongs to no body, so it does not affect momentum in space, gravity or centrifugal forces.


def add_armature_forces(forces: Sequence[Scalar], armature: Sequence[Scalar], motion: Motion) -> list[Scalar]:
    """Generalized forces plus those that accelerate the armature."""
    moved = zip(forces, armature, motion.accelerations, strict=True)
    return [force + inertia * acceleration for force, inertia, acceleration in moved]


def add_armature_inertia(matrix: Square, armature: Sequence[Scalar]) -> Square:
    """The inertia matrix of the bodies plus the armature on its diagonal."""
    added = [list(row) for row in matrix]
    for index, inertia in enumerate(armature):
        added[index][index] = added[index][index] + inertia
    return added


def armature_energy(armature: Sequence[Scalar], motion: Motion, zero: Scalar) -> Scalar:
    """The kinetic energy of the armature."""
    total = zero
    for inertia, velocity in zip(armature, motion.velocities, strict=True):
        total = total + inertia * velocity**2
    return Fraction(1, 2) * total
