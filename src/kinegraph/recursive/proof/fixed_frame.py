"""Newton's law in the fixed frame, and the rows of closed loops there: the statement that recursions are proved
against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from kinegraph.derive.constraints.constraint_rows import FramePair, JointRow, PointAxes, joint_rows
from kinegraph.derive.tree.algebra import FOLLOWING
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.links import Joint, JointKind, Link, Placement, Tree, first_frame, second_frame
from kinegraph.graph.build import Scalar
from kinegraph.model.constraints import Loop, row_names
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.arrays import Floats

# Newton's law in the fixed frame: forces and moments of all masses by the second derivatives of where they are.
#
# A point xi of a link is at x + R xi, so its acceleration is x'' + R'' xi: no angular velocities, no frames that move,
# no sums over joints. With m, h and S the moments of a link's mass, its force is the integral of (a - g) dm and its
# moment about the fixed origin that of r x (a - g) dm. What lies beyond a joint adds up, and is projected on the
# joint's motion.

#: Numbers of a field, in a vector or a matrix; types say double, as everywhere in the loops.
Numbers: TypeAlias = Floats
#: A number of the field for every node.
Values: TypeAlias = "Callable[[Scalar], float]"


class Jet(NamedTuple):
    """Something that moves, with its first and second derivative in time."""

    value: Numbers
    rate: Numbers
    acceleration: Numbers

    def times(self, other: Jet) -> Jet:
        """The product of two matrices, or of a matrix and a vector."""
        (a, b, c), (x, y, z) = self, other
        return Jet(a @ x, b @ x + a @ y, c @ x + 2 * (b @ y) + a @ z)

    def plus(self, other: Jet) -> Jet:
        """The sum."""
        return Jet(*(a + b for a, b in zip(self, other, strict=True)))


class LinkPose(NamedTuple):
    """The axes of a frame (columns) and its origin, in the fixed frame."""

    axes: Jet
    origin: Jet

    def at(self, placement: Placement, values: Values) -> LinkPose:
        """A frame that is fixed in this one."""
        turn, shift = _numbers(values, placement.rotation), _numbers(values, placement.position)
        return LinkPose(
            Jet(*(one @ turn for one in self.axes)), self.origin.plus(Jet(*(one @ shift for one in self.axes)))
        )


@dataclass(frozen=True)
class FixedFrame:
    """All links of a mechanism at one point of a field, accelerations included."""

    tree: Tree
    motion: Motion
    armature: Sequence[Scalar]
    values: Values
    places: tuple[LinkPose, ...]

    @classmethod
    def at(cls, tree: Tree, motion: Motion, armature: Sequence[Scalar], values: Values) -> FixedFrame:
        """The places of all links, from the ground outwards."""
        nothing = _numbers(values, [[tree.like.number(0)] * 3] * 3)
        unit = _numbers(values, [[tree.like.number(int(i == j)) for j in range(3)] for i in range(3)])
        still = nothing[0]
        places = [LinkPose(Jet(unit, nothing, nothing), Jet(still, still, still))]
        for link, rates in zip(tree.links[1:], motion.rates[1:], strict=True):
            assert link.joint is not None and link.origin is not None
            rate, change = (_numbers(values, one) for one in (rates.velocity, rates.acceleration))
            joint = places[link.parent].at(link.origin, values)
            places.append(_moved(joint, link.joint, values, rate, change, unit, nothing))
        return cls(tree, motion, armature, values, tuple(places))

    @property
    def gravity(self) -> Numbers:
        """The acceleration of free fall."""
        return _numbers(self.values, self.tree.gravity)

    def placed(self, placement: Placement) -> LinkPose:
        """A frame that is fixed to a link."""
        return self.places[placement.link].at(placement, self.values)

    def forces(self) -> Numbers:
        """The generalized force of every velocity that gives these accelerations."""
        beyond = [self._of_masses(index) for index in range(len(self.places))]
        found = self._armature(self.motion.accelerations)
        for index in range(len(self.places) - 1, 0, -1):
            force, moment = beyond[index]
            parent = self.tree.links[index].parent
            beyond[parent] = beyond[parent][0] + force, beyond[parent][1] + moment
            for component, column in enumerate(self.motion.columns[index]):
                own = self._projected(index, component, force, moment)
                for velocity, slope in column.items():
                    found[velocity] += self.values(slope) * own
        return found

    def energies(self) -> Numbers:
        """Kinetic and potential energy."""
        gravity, rates = self.gravity, _numbers(self.values, self.motion.velocities)
        doubled = sum(self._armature(self.motion.velocities) * rates)
        potential = 0 * gravity[0]
        for link, place in zip(self.tree.links, self.places, strict=True):
            mass, first, second = self._moments(link)
            u, spin = place.origin.rate, place.axes.rate
            doubled += mass * (u @ u) + 2 * (u @ spin @ first) + np.trace(spin @ second @ spin.T)
            potential -= gravity @ (mass * place.origin.value + place.axes.value @ first)
        return objects([doubled / 2, potential])

    def projections(self, link: int, force: Numbers, moment: Numbers) -> Numbers:
        """By velocity what a force and its moment about the fixed origin do on a link."""
        found = self._armature(self.motion.velocities) * 0
        while link:
            for component, column in enumerate(self.motion.columns[link]):
                own = self._projected(link, component, force, moment)
                for velocity, slope in column.items():
                    found[velocity] += self.values(slope) * own
            link = self.tree.links[link].parent
        return found

    def _armature(self, along: Sequence[Scalar]) -> Numbers:
        """Inertia in the velocities themselves, times a value for each."""
        return _numbers(self.values, self.armature) * _numbers(self.values, along)

    def _of_masses(self, index: int) -> tuple[Numbers, Numbers]:
        """Force and moment about the fixed origin that accelerate the masses of one link."""
        mass, first, second = self._moments(self.tree.links[index])
        axes, origin = self.places[index]
        accelerated = origin.acceleration - self.gravity
        turned, bent = axes.value @ first, axes.acceleration @ first
        products = np.outer(mass * origin.value + turned, accelerated) + np.outer(origin.value, bent)
        products = products + axes.value @ second @ axes.acceleration.T
        moment = [products[i, j] - products[j, i] for i, j in FOLLOWING]
        return mass * accelerated + bent, objects(moment)

    def _moments(self, link: Link) -> tuple[float, Numbers, Numbers]:
        moments = link.moments
        second = [[moments.second.entry(i, j) for j in range(3)] for i in range(3)]
        return self.values(moments.mass), _numbers(self.values, moments.first), _numbers(self.values, second)

    def _projected(self, index: int, component: int, force: Numbers, moment: Numbers) -> float:
        joint, place = self.tree.links[index].joint, self.places[index]
        assert joint is not None
        if joint.kind is JointKind.PRISMATIC:
            return cast(float, place.axes.value[:, joint.axis] @ force)
        axis = place.axes.value[:, component if joint.kind is JointKind.SPHERICAL else joint.axis]
        return cast(float, axis @ (moment - np.cross(place.origin.value, force)))


def _moved(
    here: LinkPose, joint: Joint, values: Values, rate: Numbers, change: Numbers, unit: Numbers, nothing: Numbers
) -> LinkPose:
    """The frame beyond a joint."""
    if joint.kind is JointKind.PRISMATIC:
        along = unit[joint.axis]
        shift = Jet(values(joint.displacement) * along, rate[0] * along, change[0] * along)
        return LinkPose(here.axes, here.origin.plus(here.axes.times(shift)))
    if joint.kind is JointKind.REVOLUTE:
        turn = _axis_turn(joint, values, rate[0], change[0], unit, nothing)
    else:
        turn = _quaternion_turn(joint, values, rate, change, unit)
    return LinkPose(here.axes.times(turn), here.origin)


def _axis_turn(joint: Joint, values: Values, rate: float, change: float, unit: Numbers, nothing: Numbers) -> Jet:
    """R(p), R' = dR/dp p' and R'' = dR/dp p'' + d2R/dp2 p'^2."""
    cosine, sine = values(joint.displacement.cos()), values(joint.displacement.sin())
    j, k = FOLLOWING[joint.axis]
    turn, first, second = unit.copy(), nothing.copy(), nothing.copy()
    for one, c, s in ((turn, cosine, sine), (first, -sine, cosine), (second, -cosine, -sine)):
        one[j, j], one[j, k], one[k, j], one[k, k] = c, -s, s, c
    return Jet(turn, first * rate, first * change + second * (rate * rate))


def _quaternion_turn(joint: Joint, values: Values, rate: Numbers, change: Numbers, unit: Numbers) -> Jet:
    """R(e), with R' = R [w] and R'' = R ([w][w] + [w']) for the angular velocity w in the turned axes."""
    assert joint.quaternion is not None
    w, x, y, z = (values(one) for one in joint.quaternion)
    e = objects([x, y, z])
    turn = unit * (w * w - e @ e) + 2 * np.outer(e, e) + _skew(2 * w * e)  # of length one
    return Jet(turn, turn @ _skew(rate), turn @ (_skew(rate) @ _skew(rate) + _skew(change)))


def _skew(a: Numbers) -> Numbers:
    x, y, z = a
    zero = 0 * x
    return objects([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def _numbers(values: Values, scalars: Sequence[Scalar] | Sequence[Sequence[Scalar]]) -> Numbers:
    """Nodes, or rows of them, as numbers of the field."""
    found = [[values(x) for x in one] if not isinstance(one, Scalar) else values(one) for one in scalars]
    return objects(found)


def objects(values: Sequence[object]) -> Numbers:
    """Numbers of a field, or rows of them, as an array."""
    return cast(Numbers, np.array(values, dtype=object))


# The rows of closed loops in the fixed frame: how what they miss accelerates, and the forces they exert.
#
# Which rows a joint has is decided where equations are derived (`derive.constraints.joint_rows`); here its two frames
# stand at a point of a field, with their first and second derivatives in time.


@dataclass(frozen=True)
class RowAtPoint:
    """The second derivative of what a row misses, and by velocity the generalized force of a multiplier of one."""

    change: float
    force: Numbers

    def negative(self) -> RowAtPoint:
        """The same condition with the other sign."""
        return RowAtPoint(-self.change, -self.force)


@dataclass(frozen=True)
class PairAtPoint:
    """The two frames of a closing joint with the links they sit on; A is its second frame, B its first."""

    frame: FixedFrame
    a: LinkPose
    b: LinkPose
    links: tuple[int, int]

    def coincide(self, axis: int) -> RowAtPoint:
        """The points agree along an axis of the fixed frame."""
        along = self.frame.places[0].axes.value[:, axis]
        change = self.a.origin.acceleration[axis] - self.b.origin.acceleration[axis]
        moments = [np.cross(place.origin.value, along) for place in (self.a, self.b)]
        return RowAtPoint(change, self._on_both((along, moments[0]), (-along, -moments[1])))

    @property
    def _gap(self) -> Jet:
        """From B's point to A's."""
        return Jet(*(one - other for one, other in zip(self.a.origin, self.b.origin, strict=True)))

    def level(self, axis: int) -> RowAtPoint:
        """A's point is in the plane through B's point normal to an axis of B. B feels the force at A's point."""
        u, d = Jet(*(one[:, axis] for one in self.b.axes)), self._gap
        change = cast(float, u.acceleration @ d.value + 2 * (u.rate @ d.rate) + u.value @ d.acceleration)
        moment = np.cross(self.a.origin.value, u.value)
        return RowAtPoint(change, self._on_both((u.value, moment), (-u.value, -moment)))

    def distance(self, length: object) -> RowAtPoint:
        """The points keep their distance, whatever it is."""
        d = self._gap
        change = cast(float, d.rate @ d.rate + d.value @ d.acceleration)
        moment = np.cross(self.a.origin.value, d.value)
        return RowAtPoint(change, self._on_both((d.value, moment), (-d.value, -moment)))

    def perpendicular(self, first: int, second: int) -> RowAtPoint:
        """An axis of A is perpendicular to an axis of B."""
        u, w = (Jet(*(one[:, axis] for one in place.axes)) for place, axis in ((self.a, first), (self.b, second)))
        change = cast(float, u.acceleration @ w.value + 2 * (u.rate @ w.rate) + u.value @ w.acceleration)
        moment = np.cross(u.value, w.value)
        return RowAtPoint(change, self._on_both((0 * moment, moment), (0 * moment, -moment)))

    def _on_both(self, on_a: tuple[Numbers, Numbers], on_b: tuple[Numbers, Numbers]) -> Numbers:
        """What a force with its moment about the fixed origin does on each of the two links."""
        return cast(
            Numbers, sum(self.frame.projections(k, *one) for k, one in zip(self.links, (on_a, on_b), strict=True))
        )


def rows_at_point(mechanism: Mechanism, frame: FixedFrame, wanted: Sequence[str]) -> Iterator[RowAtPoint]:
    """The rows of these names."""
    for loop in mechanism.loops:
        assert isinstance(loop, Loop), "recursive algorithms refuse couplings"
        places = [frame.tree.bodies[name] for name in (second_frame(loop), first_frame(loop))]
        a, b = (frame.placed(one) for one in places)
        pair = PairAtPoint(frame, a, b, (places[0].link, places[1].link))
        length = None if loop.joint.length is None else cast(Scalar, 0)
        found = joint_rows(loop.joint, cast(FramePair, pair), length, PointAxes.ANCESTOR)
        yield from (one for name, one in zip(row_names(loop), _rows(found), strict=True) if name in wanted)


def _rows(found: Sequence[JointRow]) -> Sequence[RowAtPoint]:
    return cast("Sequence[RowAtPoint]", found)
