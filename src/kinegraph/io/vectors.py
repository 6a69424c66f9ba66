"""Read tables of vectors for Racković's algorithms: joint axes and offsets from joints to centers of mass."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isqrt, sqrt
from os import PathLike
from pathlib import Path

from kinegraph.errors import ModelError, Place
from kinegraph.files import read_input_text
from kinegraph.model.constraints import Frame, Joint, JointType, Loop
from kinegraph.model.expressions import Expression, Name, Number, negative
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Parameter,
    Quaternion,
    Rotation,
    Shift,
    Transform,
)
from kinegraph.model.names import did_you_mean, model_name_from
from kinegraph.model.poses import rational_quaternion
from kinegraph.model.report import Places
from kinegraph.model.validation.mechanism import validate

# The zero pose of a joint between two links, from the vectors of the table (Racković, section 1.3.2.1): seen along the
# joint axis, the vector from the joint to the center of its link is parallel to the vector from the center of the
# previous link to the joint. If a vector is parallel to the axis, its components are permuted to y, z, x.

Three = tuple[Fraction, Fraction, Fraction]
_Frame = tuple[Three, Three, Three]


def zero_pose(axis: Three, own: Three, axis_before: Three, before: Three) -> tuple[Transform, ...]:
    """The rotation from the axes of the previous link to those of the link: `own` and `before` are the vectors from the
    joint to the centers of both, each in its link's axes."""
    link = _frame(axis, _perpendicular_part(axis, own))
    away = _perpendicular_part(axis_before, before)
    base = _frame(axis_before, (-away[0], -away[1], -away[2]))
    turned = [[sum(base[k][i] * link[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    components = rational_quaternion([[Fraction(item) for item in row] for row in turned])
    if not any(components[1:]):
        return ()
    e0, e1, e2, e3 = map(Number, components)
    return (Quaternion((e0, e1, e2, e3)),)


def _perpendicular_part(axis: Three, vector: Three) -> Three:
    """The unit vector of the component perpendicular to the axis."""
    x, y, z = vector
    one, zero = Fraction(1), Fraction(0)
    others = (one, zero, zero), (zero, one, zero)
    parts = (cross(axis, cross(along, axis)) for along in (vector, (y, z, x), *others))
    return unit(next(part for part in parts if any(part)))


def _frame(axis: Three, across: Three) -> _Frame:
    along = unit(axis)
    return across, along, cross(along, across)


def cross(a: Three, b: Three) -> Three:
    """The cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def unit(vector: Three) -> Three:
    """The unit vector: exact if the length is rational, else in double precision."""
    square = sum((item * item for item in vector), Fraction(0))
    if not square:
        raise ValueError("a zero vector has no direction")
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    length = root if root * root == square else Fraction(sqrt(square))
    return vector[0] / length, vector[1] / length, vector[2] / length


# Rows that close a chain: its last link is held in a frame with axes Q'.
#
#     [[closing]]
#     link = 8                                      # the last link of the chain
#     r = [0, 0, -0.07]                             # from its center of mass to the point that is held, in its axes
#     at = [0.2, 0.27, 0.0302]                      # where that point is held on the ground
#     axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]      # Q'_1, Q'_2, Q'_3; these if left out
#     end_axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]  # Q_1, Q_2, Q_3 in the axes of the link; by default those of Q'
#     basic = [1, 2]                                # the joints with O = 1; their coordinates come first
#
# Closed, Q and Q' coincide. The components of the reaction sigma are along Q'.

WORDS = ("link", "r", "at", "axes", "end_axes", "basic")


@dataclass(frozen=True)
class Closing:
    """A row: the link, its point that is held, the position of this point, the axes Q' and Q, and the basic joints."""

    link: int
    r: Three
    at: Three
    axes: tuple[Three, Three, Three]
    end_axes: tuple[Three, Three, Three]
    basic: tuple[int, ...]

    def loop(self, number: int) -> Loop:
        """The loop: six constraint rows, along and about the axes Q'."""
        held = *_shifts(self.at), *_rotation_to(self.axes)
        end = *_shifts(self.r), *_rotation_to(self.end_axes)
        return Loop(f"closing{number}", Joint(JointType.FIXED), Frame(None, held), Frame(f"L{self.link}", end))


def _right_angled(axes: tuple[Three, Three, Three]) -> bool:
    """Whether three vectors are perpendicular, right-handed axes of any length."""
    x, y, z = map(unit, axes)
    same = all(abs(float(a) - float(b)) < 1e-9 for a, b in zip(cross(x, y), z, strict=True))
    return same and _are_perpendicular(x, y)


def _are_perpendicular(a: Three, b: Three) -> bool:
    return abs(float(sum(p * q for p, q in zip(a, b, strict=True)))) < 1e-9


def _shifts(vector: Three) -> tuple[Transform, ...]:
    return tuple(Shift(axis, Number(amount)) for axis, amount in zip(Axis, vector, strict=True) if amount)


def _rotation_to(axes: tuple[Three, Three, Three]) -> tuple[Transform, ...]:
    """The rotation from the axes of the ground to Q', the columns of the matrix."""
    units = [unit(axis) for axis in axes]
    e0, e1, e2, e3 = rational_quaternion([[units[j][i] for j in range(3)] for i in range(3)])
    if not (e1 or e2 or e3):
        return ()
    return (Quaternion((Number(e0), Number(e1), Number(e2), Number(e3))),)


# The format, in TOML:
#
#     name = "arm"
#     gravity = [0, 0, -9.81]
#
#     [[link]]
#     axis = [0, 0, 1]                              # of joint 1, which carries link 1
#     r = { 1 = [0, 0, 0.4], 2 = [0, 0, -0.4] }     # from joints 1 and 2 to the center of mass of link 1
#     mass = 5
#     moments = [0.25, 0.01, 0.25]                  # principal, about the link's x, y, z
#     start = -0.5                                  # initial value of the coordinate, by default 0
#     accept_inertia = true                         # accept physically impossible moments
#
#     [ground]
#     r = { 1 = [0, 0, -0.1] }                      # r_01: from joint 1 to the origin, in the fixed axes
#
# All vectors are in the principal axes of their link. Joint k connects link k to the link that has an r of joint k, or
# to the ground; this is the branch matrix of the algorithms. `axis_before` is the axis in the axes of the previous
# link, or in the fixed axes (e_1), if its components differ there. A joint on the ground without both is at the origin,
# and its link has the fixed axes in the zero pose.

_MAX_BYTES = 5_000_000
#: Maximum power of ten: products of six such numbers are still doubles.
_LARGEST_EXPONENT = 50

_WORDS = ("axis", "axis_before", "r", "mass", "moments", "accept_inertia", "start")


@dataclass(frozen=True)
class Link:
    """A row of the table; `r` by the number of the joint."""

    number: int
    axis: Three
    axis_before: Three
    r: Mapping[int, Three]
    mass: Fraction
    moments: Three
    start: Fraction
    accepted: bool


def load_vectors(path: str | PathLike[str], *, symbolic: bool = False) -> Mechanism:
    """Read a table of vectors; `symbolic`: lengths, masses and moments become parameters with the table's values."""
    return read_vectors(read_input_text(path, _MAX_BYTES, "table"), Path(path).stem, str(path), symbolic=symbolic)


def read_vectors(text: str, name: str = "mechanism", source: str = "", *, symbolic: bool = False) -> Mechanism:
    """Read a mechanism from the text of a table."""
    try:
        table = tomllib.loads(text, parse_float=_decimal)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"this is not a table of vectors: {error}", Place(1, 1, source), "write it as TOML") from None
    return _Reader(source, symbolic).mechanism(table, name)


def _decimal(text: str) -> Decimal:
    """A number as written; `_Reader` converts it to a fraction after checking its size."""
    try:
        found = Decimal(text)
    except ArithmeticError:
        raise ValueError(f"{text} is not a number") from None
    if not found.is_finite():
        raise ValueError(f"{text} is not a finite number")
    return found


class _Reader:
    """Converts a table to a mechanism."""

    def __init__(self, source: str, symbolic: bool) -> None:
        self.place = Place(1, 1, source)
        self.symbolic = symbolic
        self.parameters: dict[str, Parameter] = {}
        self.ground: dict[int, Three] = {}

    def mechanism(self, table: Mapping[str, object], name: str) -> Mechanism:
        self._known(table, ("name", "gravity", "link", "closing", "ground"), "the table")
        rows = table.get("link")
        if not isinstance(rows, list) or not rows:
            raise self._error("the table has no links", "write one [[link]] per link")
        links = [self._link(row, number) for number, row in enumerate(rows, 1)]
        before = self._links_before(links)
        self.ground = self._ground(table.get("ground", {}), links, before)
        bodies = tuple(self._body(link, before.get(link.number)) for link in links)
        closings = self._closings(table.get("closing", []), links, before)
        first = tuple(dict.fromkeys(joint for closing in closings for joint in closing.basic))
        ordered = sorted(links, key=lambda link: (link.number not in first, link.number))
        coordinates = tuple(Coordinate(f"q{link.number}", Number(link.start)) for link in ordered)
        x, y, z = self._vector(table.get("gravity", [0, 0, Fraction(-981, 100)]), "gravity")
        title = model_name_from(str(table.get("name", name)))
        gravity = (Number(x), Number(y), Number(z))
        loops = tuple(closing.loop(number) for number, closing in enumerate(closings, 1))
        found = Mechanism(title, bodies, coordinates, tuple(self.parameters.values()), gravity, loops=loops)
        validate(found, Places())
        return found

    def _ground(self, row: object, links: Sequence[Link], before: Mapping[int, Link]) -> dict[int, Three]:
        """r_01: from each joint on the ground to the origin."""
        if not isinstance(row, dict):
            raise self._error("ground is not a table", "write [ground] and r = { 1 = [x, y, z] } below")
        self._known(row, ("r",), "the ground")
        found = self._vectors(row.get("r", {}), "ground")
        for joint in found:
            if joint in before or not 1 <= joint <= len(links):
                remedy = f"write r of joints on the ground: {self._roots(links, before)}"
                raise self._error(f"the ground has an r of joint {joint}", remedy)
        return found

    def _roots(self, links: Sequence[Link], before: Mapping[int, Link]) -> str:
        return ", ".join(str(link.number) for link in links if link.number not in before)

    def _closings(self, rows: object, links: Sequence[Link], before: Mapping[int, Link]) -> list[Closing]:
        if not isinstance(rows, list):
            raise self._error("closing is not a list of tables", "write [[closing]] and its rows below")
        return [self._closing(row, number, links, before) for number, row in enumerate(rows, 1)]

    def _closing(self, row: object, number: int, links: Sequence[Link], before: Mapping[int, Link]) -> Closing:
        where = f"closing {number}"
        if not isinstance(row, dict):
            raise self._error(f"{where} is not a table", "write [[closing]] and its rows below")
        self._known(row, WORDS, where)
        link = row.get("link")
        if not isinstance(link, int) or isinstance(link, bool) or not 1 <= link <= len(links):
            raise self._error(
                f"{where} has the link {link!r}", f"write link = 1 ... {len(links)}, the last of the chain"
            )
        r, at = (self._vector(row.get(word, [0, 0, 0]), f"{word} of {where}") for word in ("r", "at"))
        axes = self._axes(row.get("axes", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]), f"axes of {where}", "Q'")
        end_axes = self._axes(row["end_axes"], f"end_axes of {where}", "Q") if "end_axes" in row else axes
        return Closing(link, r, at, axes, end_axes, self._basic(row.get("basic", []), where, link, before))

    def _axes(self, value: object, where: str, letter: str) -> tuple[Three, Three, Three]:
        if not isinstance(value, list) or len(value) != 3:
            raise self._error(f"{where} are {value!r}", f"write three vectors: {letter}_1, {letter}_2, {letter}_3")
        x, y, z = (self._direction(axis, where) for axis in value)
        if not _right_angled((x, y, z)):
            remedy = "write perpendicular, right-handed axes, such as x, y, z"
            raise self._error(f"the {where} are not perpendicular", remedy)
        return x, y, z

    def _basic(self, value: object, where: str, link: int, before: Mapping[int, Link]) -> tuple[int, ...]:
        """The joints with O = 1; joints that are not in the closed chain cannot be any."""
        chain = [link]
        while chain[0] in before:
            chain.insert(0, before[chain[0]].number)
        if not isinstance(value, list) or not all(type(joint) is int and joint in chain for joint in value):
            listed = ", ".join(map(str, chain))
            raise self._error(f"basic of {where} is {value!r}", f"write a list of joints of its chain: {listed}")
        return tuple(value)

    def _link(self, row: object, number: int) -> Link:
        where = f"link {number}"
        if not isinstance(row, dict):
            raise self._error(f"{where} is not a table", "write [[link]] and its rows below")
        self._known(row, _WORDS, where)
        for word in ("axis", "r"):
            if word not in row:
                raise self._error(f"{where} has no {word}", f"write {word} = ..., see docs/robots.md")
        axis = self._direction(row["axis"], f"axis of {where}")
        axis_before = self._direction(row.get("axis_before", row["axis"]), f"axis_before of {where}")
        moments = self._vector(row.get("moments", [0, 0, 0]), f"moments of {where}")
        accepted = row.get("accept_inertia", False) is True
        mass, start = (self._number(row.get(word, 0), f"{word} of {where}") for word in ("mass", "start"))
        return Link(number, axis, axis_before, self._arms(row["r"], number), mass, moments, start, accepted)

    def _arms(self, rows: object, number: int) -> dict[int, Three]:
        found = self._vectors(rows, f"link {number}")
        if number not in found:
            raise self._error(f"link {number} has no r of its joint {number}", f"add {number} = [x, y, z] to its r")
        return found

    def _vectors(self, rows: object, where: str) -> dict[int, Three]:
        """Vectors by the number of the joint."""
        if not isinstance(rows, dict) or not all(key.isdecimal() and len(key) < 10 for key in rows):
            raise self._error(f"r of {where} is not a table of joints", "write r = { 1 = [x, y, z], 2 = [x, y, z] }")
        return {int(key): self._vector(value, f"r of {where}, joint {key}") for key, value in rows.items()}

    def _links_before(self, links: Sequence[Link]) -> dict[int, Link]:
        """The previous link of each joint; none for a joint on the ground."""
        found: dict[int, Link] = {}
        for link in links:
            for joint in link.r:
                if joint == link.number:
                    continue
                if not link.number < joint <= len(links):
                    remedy = "number links outwards: a joint has a higher number than its previous link"
                    raise self._error(f"link {link.number} has an r of joint {joint}", remedy)
                if joint in found:
                    both = f"{found[joint].number} and {link.number}"
                    raise self._error(
                        f"joint {joint} is on two links, {both}", "close loops with `loop` in the model language"
                    )
                found[joint] = link
        return found

    def _body(self, link: Link, before: Link | None) -> Body:
        number = link.number
        steps: list[Transform] = []
        if before is not None:
            for one in (link, before):
                if not any(one.r[number]):
                    remedy = "write a nonzero vector: it defines the zero pose of the joint"
                    raise self._error(f"r of link {one.number}, joint {number} is zero", remedy)
            steps += self._shifts(before.r[number], f"r{before.number}_{number}", -1)
            steps += zero_pose(link.axis, link.r[number], link.axis_before, before.r[number])
        else:
            steps += self._from_ground(link)
        steps += _rotation_about(link.axis, Name(f"q{number}"))
        steps += self._shifts(link.r[number], f"r{number}_{number}", 1)
        mass = self._symbol(f"m{number}", link.mass)
        Jx, Jy, Jz = (self._symbol(f"J{number}{axis}", item) for axis, item in zip("xyz", link.moments, strict=True))
        inertia = Inertia(mass, Jx, Jy, Jz, accepted=link.accepted)
        return Body(f"L{number}", None if before is None else f"L{before.number}", tuple(steps), inertia)

    def _from_ground(self, link: Link) -> list[Transform]:
        """To a joint on the ground, and the zero pose of its link: those of the ground without r_01 and e_1."""
        number = link.number
        to_origin = self.ground.get(number, (Fraction(0), Fraction(0), Fraction(0)))
        if not any(to_origin) and link.axis_before == link.axis:
            return []
        shifts = self._shifts(to_origin, f"r0_{number}", -1)
        return [*shifts, *zero_pose(link.axis, link.r[number], link.axis_before, to_origin)]

    def _shifts(self, vector: Three, name: str, sign: int) -> list[Transform]:
        found: list[Transform] = []
        for axis, letter, amount in zip(Axis, "xyz", vector, strict=True):
            if amount:
                distance = self._symbol(f"{name}{letter}", amount)
                found.append(Shift(axis, distance if sign > 0 else negative(distance)))
        return found

    def _symbol(self, name: str, value: Fraction) -> Expression:
        """A number, or a parameter with this value; zero is always a number."""
        if not self.symbolic or not value:
            return Number(value) if value else ZERO
        self.parameters[name] = Parameter(name, Number(value))
        return Name(name)

    def _direction(self, value: object, what: str) -> Three:
        found = self._vector(value, what)
        if not any(found):
            raise self._error(f"{what} is zero", "write a vector along the joint's axis")
        return found

    def _vector(self, value: object, what: str) -> Three:
        if not isinstance(value, list) or len(value) != 3:
            raise self._error(f"{what} is {value!r}", "write three numbers: [x, y, z]")
        x, y, z = (self._number(item, what) for item in value)
        return x, y, z

    def _number(self, value: object, what: str) -> Fraction:
        if isinstance(value, bool) or not isinstance(value, int | Fraction | Decimal):
            raise self._error(f"{what} is {value!r}", "write a number")
        if value and not isinstance(value, Fraction) and abs(Decimal(value).adjusted()) > _LARGEST_EXPONENT:
            raise self._error(f"{what} is {Decimal(value):.3g}", f"write numbers of at most 1e{_LARGEST_EXPONENT}")
        return Fraction(value)

    def _known(self, row: Mapping[str, object], words: Sequence[str], where: str) -> None:
        for word in row:
            if word not in words:
                raise self._error(f"unknown row {word!r} of {where}", did_you_mean(word, words))

    def _error(self, message: str, remedy: str | None) -> ModelError:
        return ModelError(message, self.place, remedy or "")


def _rotation_about(axis: Three, angle: Expression) -> tuple[Transform, ...]:
    """A rotation about an axis of the link: elementary, or between two constant rotations that map z to the axis."""
    lengths = [item for item in axis if item]
    if len(lengths) == 1:
        along = next(one for one, item in zip(Axis, axis, strict=True) if item)
        return (Rotation(along, angle if lengths[0] > 0 else negative(angle)),)
    x, y, z = axis
    length = Fraction(float(x * x + y * y + z * z) ** 0.5)
    onto = (length + z, -y, x, Fraction(0))
    back = (length + z, y, -x, Fraction(0))
    return _constant(onto), Rotation(Axis.Z, angle), _constant(back)


def _constant(components: tuple[Fraction, Fraction, Fraction, Fraction]) -> Quaternion:
    e0, e1, e2, e3 = map(Number, components)
    return Quaternion((e0, e1, e2, e3))
