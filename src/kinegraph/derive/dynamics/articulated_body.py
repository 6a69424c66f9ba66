"""Forward dynamics by the articulated-body algorithm, linear in the number of joints.

For every link, f = M a + K^T alpha + p and n = K a + J alpha + s is the wrench that gives it the acceleration
(a, alpha) while all joints beyond it move freely under their forces. Joint components are eliminated one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinegraph.derive.dynamics.composite_body import Column, Screw, unit_screws
from kinegraph.derive.dynamics.energy import link_velocities
from kinegraph.derive.dynamics.newton_euler import LinkMotion, inertial_wrench
from kinegraph.derive.tree.algebra import (
    MassMoments,
    Matrix,
    Symmetric,
    Vector,
    apply,
    cross,
    dot,
    negative,
    plus,
    times,
    transpose,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.graph.build import Scalar


@dataclass(frozen=True)
class Articulated:
    """The articulated-body inertia of a link and its bias wrench, about the link's origin."""

    linear: Symmetric
    mixed: Matrix
    angular: Symmetric
    force: Vector
    moment: Vector

    def wrench(self, screw: Screw) -> tuple[Vector, Vector]:
        """Force and moment of an acceleration (angular part, linear part), without the bias."""
        force = plus(self.linear.apply(screw.linear), apply(transpose(self.mixed), screw.angular))
        moment = plus(apply(self.mixed, screw.linear), self.angular.apply(screw.angular))
        return force, moment


@dataclass(frozen=True)
class Elimination:
    """The data from which the acceleration of a joint component follows, once that of its link is known."""

    force: Vector
    moment: Vector
    inverse: Scalar
    excess: Scalar


def joints_are_independent(motion: Motion) -> bool:
    """True if every joint component depends on at most one coordinate, at a static rate, and no two on the same."""
    seen: set[int] = set()
    for columns in motion.columns:
        for column in columns:
            if len(column) > 1 or any(index in seen or not slope.static for index, slope in column.items()):
                return False
            seen.update(column)
    return True


def articulated_accelerations(
    layout: FrameAssignment, motion: Motion, forces: Sequence[Scalar], armature: Sequence[Scalar]
) -> list[Scalar]:
    """The accelerations of the velocity coordinates under generalized forces (`motion` without accelerations)."""
    biases = _bias_accelerations(layout, motion)
    eliminations = _inward(layout, motion, biases, forces, armature)
    return _outward(layout, motion, biases, eliminations)


def _bias_accelerations(layout: FrameAssignment, motion: Motion) -> list[Screw]:
    """The acceleration of every link's origin relative to its parent due to velocities and prescribed motions."""
    velocities = link_velocities(layout, motion)
    zero = zero_vector(layout.tree.like)
    found = [Screw(zero, zero)]
    for index in range(1, len(layout.tree.links)):
        link = layout.tree.links[index]
        assert link.joint is not None
        below = velocities[link.parent].angular
        linear = cross(below, cross(below, layout.offsets[index]))
        w = layout.outward(index, below)
        angular, linear = zero, layout.outward(index, linear)
        rates = motion.rates[index]
        for unit, rate, gain in zip(unit_screws(layout, index), rates.velocity, rates.acceleration, strict=True):
            angular = plus(angular, plus(cross(w, times(rate, unit.angular)), times(gain, unit.angular)))
            linear = plus(linear, plus(cross(w, times(2 * rate, unit.linear)), times(gain, unit.linear)))
        found.append(Screw(angular, linear))
    return found


def _rigid(moments: MassMoments, w: Vector) -> Articulated:
    zero = moments.mass.number(0)
    x, y, z = moments.first
    s = moments.second
    rest = zero_vector(zero)
    gradient = LinkMotion(w, rest, rest).gradient()
    force, moment = inertial_wrench(moments, LinkMotion(w, rest, rest), gradient, euler=False)
    m = moments.mass
    return Articulated(
        Symmetric(m, m, m, zero, zero, zero),
        ((zero, -z, y), (z, zero, -x), (-y, x, zero)),
        Symmetric(s.yy + s.zz, s.xx + s.zz, s.xx + s.yy, -s.yz, -s.xz, -s.xy),
        force,
        moment,
    )


def _inward(
    layout: FrameAssignment, motion: Motion, biases: list[Screw], forces: Sequence[Scalar], armature: Sequence[Scalar]
) -> dict[Column, Elimination]:
    velocities = link_velocities(layout, motion)
    bodies = [_rigid(m, screw.angular) for m, screw in zip(layout.moments, velocities, strict=True)]
    found: dict[Column, Elimination] = {}
    for index in range(len(bodies) - 1, 0, -1):
        body = _with_bias(bodies[index], biases[index])
        for component, unit in enumerate(unit_screws(layout, index)):
            column = motion.columns[index][component]
            if column:
                (coordinate, slope), *_ = column.items()
                own = armature[coordinate] / slope**2
                body, found[Column(index, component)] = _eliminate(body, unit, forces[coordinate] / slope, own)
        parent = layout.tree.links[index].parent
        bodies[parent] = _joined(bodies[parent], _propagated(layout, index, body))
    return found


def _with_bias(body: Articulated, bias: Screw) -> Articulated:
    force, moment = body.wrench(bias)
    return Articulated(body.linear, body.mixed, body.angular, plus(body.force, force), plus(body.moment, moment))


def _eliminate(
    body: Articulated, unit: Screw, joint_force: Scalar, armature: Scalar
) -> tuple[Articulated, Elimination]:
    force, moment = body.wrench(unit)
    inverse = (dot(unit.angular, moment) + dot(unit.linear, force) + armature).reciprocal()
    excess = (joint_force - dot(unit.angular, body.moment) - dot(unit.linear, body.force)) * inverse
    scaled_force, scaled_moment = times(inverse, force), times(inverse, moment)
    mixed = tuple(vector([body.mixed[i][j] - scaled_moment[i] * force[j] for j in range(3)]) for i in range(3))
    reduced = Articulated(
        _less(body.linear, scaled_force, force),
        (mixed[0], mixed[1], mixed[2]),
        _less(body.angular, scaled_moment, moment),
        plus(body.force, times(excess, force)),
        plus(body.moment, times(excess, moment)),
    )
    return reduced, Elimination(scaled_force, scaled_moment, inverse, excess)


def _less(s: Symmetric, a: Vector, b: Vector) -> Symmetric:
    """S - a b^T for a parallel to b."""
    return Symmetric(
        s.xx - a[0] * b[0], s.yy - a[1] * b[1], s.zz - a[2] * b[2],
        s.yz - a[1] * b[2], s.xz - a[0] * b[2], s.xy - a[0] * b[1],
    )  # fmt: skip


def _propagated(layout: FrameAssignment, index: int, body: Articulated) -> Articulated:
    """An articulated body of a child, in its parent's frame and about its parent's origin."""
    r = layout.offsets[index]
    linear = layout.inward_symmetric(index, body.linear)
    angular = layout.inward_symmetric(index, body.angular)
    mixed = _inward_matrix(layout, index, body.mixed)
    force = layout.inward(index, body.force)
    moment = plus(layout.inward(index, body.moment), cross(r, force))
    # n' = K a + J alpha + r x (M a + K^T alpha) with a = a' - r x alpha
    linear_columns = [linear.column(i) for i in range(3)]
    shifted = _plus_matrix(mixed, transpose(_crossed(r, linear_columns)))
    j = _shifted_angular(angular, mixed, shifted, r)
    return Articulated(linear, shifted, j, force, moment)


def _crossed(r: Vector, columns: list[Vector]) -> Matrix:
    """r x (each column), as rows."""
    crossed = [cross(r, column) for column in columns]
    return crossed[0], crossed[1], crossed[2]


def _shifted_angular(angular: Symmetric, mixed: Matrix, shifted: Matrix, r: Vector) -> Symmetric:
    """J - K [r]x + [r]x K^T - [r]x M [r]x = J + [r]x K^T - (K + [r]x M) [r]x."""
    left = [cross(r, row) for row in mixed]  # column i of [r]x K^T is r x (row i of K)
    right = [cross(row, r) for row in shifted]  # row i of A [r]x is (row i of A) x r
    entry = [[left[j][i] - right[i][j] for j in range(3)] for i in range(3)]
    return Symmetric(
        angular.xx + entry[0][0], angular.yy + entry[1][1], angular.zz + entry[2][2],
        angular.yz + entry[1][2], angular.xz + entry[0][2], angular.xy + entry[0][1],
    )  # fmt: skip


def _inward_matrix(layout: FrameAssignment, index: int, m: Matrix) -> Matrix:
    half = [layout.inward(index, row) for row in m]
    columns = [layout.inward(index, vector(column)) for column in zip(*half, strict=True)]
    return transpose((columns[0], columns[1], columns[2]))


def _plus_matrix(a: Matrix, b: Matrix) -> Matrix:
    return plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2])


def _joined(a: Articulated, b: Articulated) -> Articulated:
    return Articulated(
        a.linear.plus(b.linear),
        _plus_matrix(a.mixed, b.mixed),
        a.angular.plus(b.angular),
        plus(a.force, b.force),
        plus(a.moment, b.moment),
    )


def _outward(
    layout: FrameAssignment, motion: Motion, biases: list[Screw], eliminations: dict[Column, Elimination]
) -> list[Scalar]:
    zero = zero_vector(layout.tree.like)
    accelerations = [Screw(zero, negative(layout.tree.gravity))]
    results = [layout.tree.like.number(0)] * len(motion.velocities)
    for index in range(1, len(layout.tree.links)):
        below = accelerations[layout.tree.links[index].parent]
        linear = plus(below.linear, cross(below.angular, layout.offsets[index]))
        seen = Screw(layout.outward(index, below.angular), layout.outward(index, linear))
        units = unit_screws(layout, index)
        for component in range(len(units) - 1, -1, -1):
            column = motion.columns[index][component]
            if not column:
                continue
            step = eliminations[Column(index, component)]
            # `seen` excludes the bias acceleration, which is already part of `excess`
            value = step.excess - dot(step.force, seen.linear) - dot(step.moment, seen.angular)
            (coordinate, slope), *_ = column.items()
            results[coordinate] = value / slope
            unit = units[component]
            seen = Screw(plus(seen.angular, times(value, unit.angular)), plus(seen.linear, times(value, unit.linear)))
        bias = biases[index]
        accelerations.append(Screw(plus(seen.angular, bias.angular), plus(seen.linear, bias.linear)))
    return results
