"""A passive spacecraft for any ring: guide petals on both sides, pads on the faces, latches beside them.

Geometry, stiffness and masses are our assumptions: nothing of the kind is published. They are those of
docking-two-spacecraft.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.docking.description import fields_from_texts
from kinegraph.docking.fastening import free_by_quaternion
from kinegraph.errors import SolveError
from kinegraph.model.builder import Q, Sx, Sy, Sz, inertia
from kinegraph.model.elements import Anchor, Capsule, CompliantContact, Element, Plane, Sphere
from kinegraph.model.expressions import Expression, Name, expression
from kinegraph.model.mechanism import ONE, ZERO, Body, Coordinate, Mechanism, Point, QuaternionCoordinates
from kinegraph.model.names import did_you_mean
from kinegraph.model.robot_data import Shape, ShapeKind
from kinegraph.simulate.formulas import formula

_LETTERS = ("b", "t", "target_")


@dataclass(frozen=True)
class Port:
    """Guides and latches of a ring and of its counterpart, and the spacecraft that carries the counterpart.

    latches: how many, with as many petals on each side. radius [m]: of latches and pads. root, tip, height [m]:
    petals start at the first radius and lean inward to the second. edge, pad [m]: radii of the edges of petals and
    of pads. stiffness [N/m], damping [s/m], friction: where they touch. mass [kg], center [m] behind the ring,
    across and along [kg m^2]: of the spacecraft. ahead [m]: the initial distance from the ring. closing [m/s].
    """

    latches: int = 3
    radius: float = 0.66
    root: float = 0.54
    tip: float = 0.4
    height: float = 0.2
    edge: float = 0.01
    pad: float = 0.02
    stiffness: float = 1e5
    damping: float = 1.0
    friction: float = 0.1
    mass: float = 25000.0
    center: float = 3.0
    across: float = 1e5
    along: float = 3e4
    ahead: float = 0.2
    closing: float = 0.08

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
            if not number or (value < 0 and one.name not in ("center", "closing")):
                raise SolveError(f"Port: {one.name} is {value!r}: give a number that is not negative")
        if self.latches != int(self.latches) or not 2 <= self.latches <= 12:
            raise SolveError(f"Port: latches is {self.latches!r}: give an integer from 2 to 12")
        for name in ("radius", "root", "tip", "height", "edge", "pad", "stiffness", "mass", "across", "along"):
            if not getattr(self, name) > 0:
                raise SolveError(f"Port: {name} is {getattr(self, name)!r}: give a positive number")


def port_of(given: Mapping[str, str]) -> Port:
    """A port from texts by name; SolveError for an unknown name or a text that is not a number."""
    values = fields_from_texts(Port, given, "port")
    latches = values.pop("latches", float(Port.latches))
    return Port(int(latches) if latches.is_integer() else latches, **values)  # type: ignore[arg-type]


def with_target(model: MechanismSource, port: Port | None = None, *, ring: str = "Ring") -> Mechanism:
    """Return a mechanism with a passive spacecraft `Target` in front of its ring, with guides and latches on both.

    port: size and mass of the target. ring: a body that moves freely by a quaternion, with its axis along z.
    """
    mechanism, port = mechanism_of(model), port or Port()
    names = [body.name for body in mechanism.bodies]
    if ring not in names:
        raise SolveError(f"with_target: {mechanism.name} has no body {ring!r}\n  {did_you_mean(ring, names)}")
    if "Target" in names:
        raise SolveError(f"with_target: {mechanism.name} already has a body 'Target'")
    free = free_by_quaternion(mechanism, ring)
    if free is None:
        raise SolveError(
            f"with_target: {ring} must move freely by a quaternion\n  write it as {ring} | Sx(x), Sy(y), Sz(z), "
            "Q(e0, e1, e2, e3) | ...;"
        )
    taken = {*mechanism.layout.positions, *(one.name for one in mechanism.parameters)}
    letter = next(one for one in _LETTERS if not any(f"{one}{axis}" in taken for axis in "xyz0123"))
    places = [next(one for one in mechanism.coordinates if _name(one) == name) for name in free.position]
    return replace(
        mechanism,
        coordinates=(*mechanism.coordinates, *_coordinates(letter, [_position(one) for one in places], port)),
        bodies=(*mechanism.bodies, _spacecraft(letter, port)),
        elements=(*mechanism.elements, *_guides(ring, port)),
        points=(*mechanism.points, *_latches(ring, port)),
        extras=(*mechanism.extras, *_hull(port)),
    )


def _name(one: Coordinate | QuaternionCoordinates) -> str:
    return one.name if isinstance(one, Coordinate) else ""


def _position(one: Coordinate | QuaternionCoordinates) -> Expression:
    assert isinstance(one, Coordinate)
    return one.position


def _coordinates(letter: str, ring: list[Expression], port: Port) -> tuple[Coordinate | QuaternionCoordinates, ...]:
    """The target before the ring, approaching."""
    x, y, z = ring
    names = [f"{letter}{k}" for k in range(4)]
    return (
        Coordinate(f"{letter}x", x),
        Coordinate(f"{letter}y", y),
        Coordinate(f"{letter}z", z + expression(port.ahead), -expression(port.closing)),
        QuaternionCoordinates(
            (names[0], names[1], names[2], names[3]),
            (f"{letter}wx", f"{letter}wy", f"{letter}wz"),
            (ONE, ZERO, ZERO, ZERO),
        ),
    )


def _spacecraft(letter: str, port: Port) -> Body:
    shifts = (Sx(Name(f"{letter}x")), Sy(Name(f"{letter}y")), Sz(Name(f"{letter}z")))
    turn = Q(*(Name(f"{letter}{k}") for k in range(4)))
    own = inertia(port.mass, port.across, port.across, port.along, at=(Sz(port.center),))
    return Body("Target", None, (*shifts, turn), own)


def _hull(port: Port) -> Iterator[Shape]:
    """What pages draw of the spacecraft: a hull and a neck behind the ring."""
    for start, length, radius in ((0.5, 1.8, 0.9), (0.0, 0.5, 0.3)):
        sizes = tuple(expression(part * port.radius / Port.radius) for part in (radius, length))
        middle = expression((start + length / 2) * port.radius / Port.radius)
        yield Shape(ShapeKind.CYLINDER, "Target", sizes, (Sz(middle),), color=(0.86, 0.84, 0.78, 1.0))


def _guides(ring: str, port: Port) -> Iterator[Element]:
    """Edges of petals that touch those of the other side, and pads of the ring on the target's face."""
    for k in range(port.latches):
        for side, sign in (("a", -1), ("b", 1)):
            root, tip, other = (f"{2 * k}+({sign})*{part}" for part in ("1/2", "1/6", "5/6"))
            yield _compliant_contact(
                f"edge{k + 1}{side}",
                Capsule(
                    _at(ring, port.root, root, 0, port), _at(ring, port.tip, tip, port.height, port), _n(port.edge)
                ),
                Capsule(
                    _at("Target", port.root, root, 0, port),
                    _at("Target", port.tip, other, -port.height, port),
                    _n(port.edge),
                ),
                port,
            )
        yield _compliant_contact(
            f"pad{k + 1}",
            Sphere(_at(ring, port.radius, f"{2 * k + 1}", 0, port), _n(port.pad)),
            Plane(Anchor("Target", (ZERO, ZERO, _n(-port.pad))), (ZERO, ZERO, _n(-1))),
            port,
        )


def _compliant_contact(name: str, first: Capsule | Sphere, second: Capsule | Plane, port: Port) -> CompliantContact:
    return CompliantContact(name, (first, second), _n(port.stiffness), ONE, _n(port.damping), _n(port.friction))


def _latches(ring: str, port: Port) -> Iterator[Point]:
    for k in range(port.latches):
        for letter, body, height in (("R", ring, port.pad), ("T", "Target", -port.pad)):
            yield Point(f"{letter}{k + 1}", body, _at(body, port.radius, f"{2 * k + 1}", height, port).position)


def _at(body: str, radius: float, halves: str, height: float, port: Port) -> Anchor:
    """A point on a body, at an angle in units of half the sector of a latch."""
    angle = f"({halves})*pi/{port.latches}"
    return Anchor(body, (formula(f"{radius!r}*cos({angle})"), formula(f"{radius!r}*sin({angle})"), _n(height)))


def _n(value: float) -> Expression:
    return expression(value)
