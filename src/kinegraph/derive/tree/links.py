"""The mechanism as a tree of elementary joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from kinegraph.derive.tree.algebra import (
    MassMoments,
    Matrix,
    Symmetric,
    Vector,
    apply,
    central_moments,
    identity,
    no_mass,
    plus,
    product,
    times,
    transpose,
    turn_vector,
    unit_vector,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import Coefficient
from kinegraph.model.constraints import Frame, Loop
from kinegraph.model.expressions import Name
from kinegraph.model.mechanism import ZERO, Body, Inertia, Mechanism, Quaternion, Rotation, Shift, Transform

# ---- Rounding of long numbers
#
# Quaternions from files are exact, and so are their products. So the numbers of a link become longer with every body
# that is welded to it, until computation is impossible. Long numbers are rounded here, far below double precision. This
# happens once, when the tree is built: everything derived from the tree agrees exactly and can be proved equal.

#: Numbers with more bits are long. The product of two quaternions of 17 digits has fewer.
_LONG_PLACE, _LONG_MOMENT = 300, 600
#: Bits of rounded numbers: of quaternions, whose squares are the denominators of rotations; of all others.
_QUATERNION, _OTHERS = 96, 128


def short_rotation(rotation: Matrix) -> Matrix:
    """The rotation, or a nearby exact rotation with short numbers (difference below 1e-28 of a turn)."""
    entries = [entry for row in rotation for entry in row]
    return _by_short_quaternion(rotation) if _are_long(entries, _LONG_PLACE) else rotation


def short_position(position: Vector) -> Vector:
    """The position, or a rounded one (difference below 1e-38 of its largest coordinate)."""
    return vector(_rounded(position)) if _are_long(position, _LONG_PLACE) else position


def short_moments(moments: MassMoments) -> MassMoments:
    """The moments, or rounded ones (difference below 1e-38 of the largest of their kind)."""
    first, second = moments.first, moments.second
    if _are_long(first, _LONG_MOMENT):
        first = vector(_rounded(first))
    if _are_long(second, _LONG_MOMENT):
        second = Symmetric(*_rounded(second))
    return MassMoments(moments.mass, first, second)


def _are_long(entries: Iterable[Scalar], bits: int) -> bool:
    """Are all entries numbers, and is one of them long?"""
    values = [entry.value for entry in entries]
    return None not in values and any(_bits(value) > bits for value in values if value is not None)


def _bits(value: Coefficient) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _rounded(entries: Sequence[Scalar]) -> list[Scalar]:
    """Numbers rounded to multiples of a power of two, whose sums are short. Zero remains zero."""
    values = [Fraction(entry.value or 0) for entry in entries]
    largest = max(abs(value) for value in values)
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length() - _OTHERS
    unit = Fraction(2) ** exponent
    return [entry.number(round(value / unit) * unit) for entry, value in zip(entries, values, strict=True)]


def _by_short_quaternion(rotation: Matrix) -> Matrix:
    """The rotation of a rounded quaternion."""
    like = rotation[0][0]
    parts = _quaternion([[Fraction(entry.value or 0) for entry in row] for row in rotation])
    largest = max(abs(part) for part in parts)
    w, x, y, z = (round(part / largest * 2**_QUATERNION) for part in parts)
    square = w * w + x * x + y * y + z * z
    rows = (
        (square - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), square - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), square - 2 * (x * x + y * y)),
    )
    first, second, third = (vector([like.number(Fraction(entry, square)) for entry in row]) for row in rows)
    return first, second, third


def _quaternion(m: list[list[Fraction]]) -> list[Fraction]:
    """The quaternion of a rotation matrix, not normalized, from its largest component (Shepperd)."""
    trace = m[0][0] + m[1][1] + m[2][2]
    squares = [1 + trace, *(1 + 2 * m[i][i] - trace for i in range(3))]
    i = squares.index(max(squares))
    if i == 0:
        return [squares[0], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
    a, b, c = i - 1, i % 3, (i + 1) % 3
    found = [m[c][b] - m[b][c], Fraction(0), Fraction(0), Fraction(0)]
    found[1 + a], found[1 + b], found[1 + c] = squares[i], m[b][a] + m[a][b], m[c][a] + m[a][c]
    return found


# ---- The tree
#
# Every transform that varies with coordinates or time is an elementary joint with a link beyond it. Static transforms
# between two joints are geometry of the link. All recursive algorithms run over this tree; the chain rule converts
# joint forces to generalized forces (`newton_euler.generalized`).


class JointKind(Enum):
    """The elementary motions."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    SPHERICAL = "spherical"


@dataclass(frozen=True)
class Joint:
    """One elementary motion: about or along `axis` by `displacement`, or a quaternion's rotation."""

    kind: JointKind
    axis: int
    displacement: Scalar
    quaternion: tuple[Scalar, Scalar, Scalar, Scalar] | None = None


@dataclass(frozen=True)
class Placement:
    """A frame on a link: its static rotation and position in the link's frame."""

    link: int
    rotation: Matrix
    position: Vector


@dataclass(frozen=True)
class Link:
    """A link and its joint; `origin`: the joint on the parent; `moments`: about the link's origin."""

    parent: int
    joint: Joint | None
    origin: Placement | None
    moments: MassMoments


@dataclass(frozen=True)
class Tree:
    """Links, parents first; link 0 is the fixed frame. bodies: the placement of every body's link frame.

    armature: the inertia of coordinates, by the name of the velocity, without zeros.
    """

    links: tuple[Link, ...]
    bodies: dict[str, Placement]
    gravity: Vector
    armature: Mapping[str, Scalar]

    @property
    def children(self) -> list[list[int]]:
        """The children of each link."""
        found: list[list[int]] = [[] for _ in self.links]
        for index, link in enumerate(self.links):
            if link.joint is not None:
                found[link.parent].append(index)
        return found

    @property
    def like(self) -> Scalar:
        """Any scalar of the builder, to make numbers from."""
        return self.gravity[0]


def first_frame(loop: Loop) -> str:
    """The name of a loop's first frame among the placements; names of bodies contain no period."""
    return f"{loop.name}.first"


def second_frame(loop: Loop) -> str:
    """The name of a loop's second frame among the placements."""
    return f"{loop.name}.second"


def is_prismatic(tree: Tree, index: int) -> bool:
    """Is the joint of a link prismatic?"""
    joint = tree.links[index].joint
    return joint is not None and joint.kind is JointKind.PRISMATIC


def build_tree(mechanism: Mechanism, names: Names, exact: bool = False) -> Tree:
    """The tree of elementary joints of a mechanism. exact: do not round long numbers of welded bodies."""
    return _TreeBuilder(mechanism, names, exact).tree()


class _TreeBuilder:
    def __init__(self, mechanism: Mechanism, names: Names, exact: bool) -> None:
        self.exact = exact
        self.mechanism = mechanism
        self.names = names
        self.like = names.number(0)
        self.links = [Link(-1, None, None, no_mass(self.like))]
        self.bodies: dict[str, Placement] = {}

    def tree(self) -> Tree:
        for body in bases_first(self.mechanism):
            self._add(body)
        self._add_frames()
        gravity = vector([self.names.scalar(item) for item in self.mechanism.gravity])
        return Tree(tuple(self.links), self.bodies, gravity, self._armature())

    def _add_frames(self) -> None:
        """Add the frames of loops like bodies without mass."""
        for loop in self.mechanism.loops:
            if isinstance(loop, Loop):
                self._add_frame(first_frame(loop), loop.first)
                self._add_frame(second_frame(loop), loop.second)

    def _add_frame(self, name: str, frame: Frame) -> None:
        place = self.bodies[frame.body] if frame.body is not None else self._fixed()
        for transform in frame.transforms:
            place = self._moved(place, transform, name)  # a frame with prescribed motion has its own link
        self.bodies[name] = self._shortened(place)

    def _armature(self) -> dict[str, Scalar]:
        stated = zip(self.mechanism.layout.velocities, self.mechanism.armature, strict=True)
        return {name: self.names.scalar(item) for name, item in stated if item != ZERO}

    def _add(self, body: Body) -> None:
        place = self.bodies[body.base] if body.base is not None else self._fixed()
        for transform in body.transforms:
            place = self._shortened(self._moved(place, transform, body.name))
        self.bodies[body.name] = place
        self._add_moments(place, body.inertia, body.name)

    def _shortened(self, place: Placement) -> Placement:
        if self.exact:
            return place
        return Placement(place.link, short_rotation(place.rotation), short_position(place.position))

    def _fixed(self) -> Placement:
        return Placement(0, identity(self.like), zero_vector(self.like))

    def _add_moments(self, place: Placement, inertia: Inertia, name: str) -> None:
        scalar = self.names.scalar
        moments = central_moments(
            scalar(inertia.mass),
            (scalar(inertia.Jx), scalar(inertia.Jy), scalar(inertia.Jz)),
            (scalar(inertia.Jyz), scalar(inertia.Jxz), scalar(inertia.Jxy)),
        )
        central = place
        for transform in inertia.central:
            central = self._moved(central, transform, name)
        if central.link != place.link:
            raise DerivationError(f"body {name!r}: the center of mass must be fixed in the link frame")
        link = self.links[place.link]
        total = link.moments.plus(moments.turned(central.rotation).shifted(central.position))
        self.links[place.link] = replace(link, moments=total if self.exact else short_moments(total))

    def _moved(self, place: Placement, transform: Transform, name: str) -> Placement:
        if isinstance(transform, Quaternion):
            return self._turned_by_quaternion(place, transform, name)
        axis = transform.axis.value
        amount = self.names.scalar(transform.angle if isinstance(transform, Rotation) else transform.distance)
        if not amount.static:
            kind = JointKind.REVOLUTE if isinstance(transform, Rotation) else JointKind.PRISMATIC
            return self._joint(place, Joint(kind, axis, amount))
        return _moved_rigidly(place, transform, amount)

    def _turned_by_quaternion(self, place: Placement, transform: Quaternion, name: str) -> Placement:
        parts = [self.names.scalar(item) for item in transform.components]
        e0, e1, e2, e3 = parts
        if all(part.static for part in parts):
            return _turned_rigidly(place, parts)
        texts = tuple(item.text for item in transform.components if isinstance(item, Name))
        if not any(getattr(c, "names", None) == texts for c in self.mechanism.coordinates):
            raise DerivationError(
                f"body {name!r}: the components of a moving Q must be the four names of one quaternion statement; "
                "write rotations with Rx, Ry, Rz for anything else"
            )
        joint = Joint(JointKind.SPHERICAL, 0, self.like, (e0, e1, e2, e3))
        return self._joint(place, joint)

    def _joint(self, place: Placement, joint: Joint) -> Placement:
        self.links.append(Link(place.link, joint, place, no_mass(self.like)))
        return Placement(len(self.links) - 1, identity(self.like), zero_vector(self.like))


def _moved_rigidly(place: Placement, transform: Rotation | Shift, amount: Scalar) -> Placement:
    """A frame displaced by a static transform."""
    axis = transform.axis.value
    if isinstance(transform, Shift):
        return replace(place, position=plus(place.position, times(amount, transpose(place.rotation)[axis])))
    return replace(place, rotation=product(place.rotation, rotation_matrix(axis, amount)))


def _turned_rigidly(place: Placement, quaternion: Sequence[Scalar]) -> Placement:
    e0, e1, e2, e3 = quaternion
    inverse = (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3).reciprocal()
    return replace(place, rotation=product(place.rotation, static_quaternion_matrix(e0, e1, e2, e3, inverse)))


def center_of_mass(place: Placement, body: Body, names: Names) -> Placement:
    """The central frame of a body, from the placement of its link frame."""
    return moved_by_constants(place, body.inertia.central, names)


def moved_by_constants(place: Placement, transforms: Iterable[Transform], names: Names) -> Placement:
    """A frame on the same link, displaced by static transforms."""
    for transform in transforms:
        if isinstance(transform, Quaternion):
            place = _turned_rigidly(place, [names.scalar(item) for item in transform.components])
        else:
            amount = transform.angle if isinstance(transform, Rotation) else transform.distance
            place = _moved_rigidly(place, transform, names.scalar(amount))
    return place


def bases_first(mechanism: Mechanism) -> list[Body]:
    """Bodies in an order in which every base comes before the bodies on it; otherwise as written."""
    done: set[str] = set()
    ordered: list[Body] = []
    by_name = mechanism.body_by_name
    for body in mechanism.bodies:
        chain: list[Body] = []
        current: Body | None = body
        while current is not None and current.name not in done:
            chain.append(current)
            done.add(current.name)
            current = by_name[current.base] if current.base is not None else None
        ordered.extend(reversed(chain))
    return ordered


def rotation_matrix(axis: int, angle: Scalar) -> Matrix:
    """R_axis(angle)."""
    sine, cosine = angle.sin(), angle.cos()
    columns = [turn_vector(axis, sine, cosine, unit_vector(angle, i)) for i in range(3)]
    return transpose((columns[0], columns[1], columns[2]))


def static_quaternion_matrix(e0: Scalar, e1: Scalar, e2: Scalar, e3: Scalar, inverse: Scalar) -> Matrix:
    """The rotation of any nonzero quaternion; inverse: the reciprocal of its squared norm."""
    two = 2 * inverse
    one = e0.number(1)
    return (
        (one - two * (e2 * e2 + e3 * e3), two * (e1 * e2 - e0 * e3), two * (e1 * e3 + e0 * e2)),
        (two * (e1 * e2 + e0 * e3), one - two * (e1 * e1 + e3 * e3), two * (e2 * e3 - e0 * e1)),
        (two * (e1 * e3 - e0 * e2), two * (e2 * e3 + e0 * e1), one - two * (e1 * e1 + e2 * e2)),
    )


def unit_quaternion_matrix(e0: Scalar, e1: Scalar, e2: Scalar, e3: Scalar) -> Matrix:
    """The rotation of a unit quaternion with shared products: 9 multiplications, 15 additions."""
    x, y, z = 2 * e1, 2 * e2, 2 * e3
    xx, yy, zz = x * e1, y * e2, z * e3
    xy, xz, yz = x * e2, x * e3, y * e3
    wx, wy, wz = x * e0, y * e0, z * e0
    one = e0.number(1)
    return (
        (one - (yy + zz), xy - wz, xz + wy),
        (xy + wz, one - (xx + zz), yz - wx),
        (xz - wy, yz + wx, one - (xx + yy)),
    )


def position_in(place: Placement, point: Vector) -> Vector:
    """A point of a frame on a link, in the link's frame."""
    return plus(place.position, apply(place.rotation, point))
