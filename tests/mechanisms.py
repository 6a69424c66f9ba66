"""Random mechanisms with every kind of elementary transform, the same for the same seed. Shared by all test folders."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from random import Random

import numpy as np
from numpy.typing import NDArray

from kinegraph.model.expressions import Call, Expression, Name, Operation, expression, names
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Parameter,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
)

Floats = NDArray[np.float64]
State = tuple[Floats, Floats, Floats, float]


class Joint(Enum):
    """How a random body moves on its base; the value says it in the model language."""

    REVOLUTE = "R(q)"
    PRISMATIC = "S(q)"
    UNIVERSAL = "R(q1), R(q2)"
    CYLINDRICAL = "R(q1), S(q2)"
    SCREW = "R(q), S(h*q)"
    AFFINE = "R(2*q - 0.3)"
    NONLINEAR = "R(q + 0.2*sin(q)), S(0.3*q^2)"
    COUPLED = "R(q + c*other)"
    ABSOLUTE = "R(q - other)"
    GEARED = "R(c*other)"
    PRESCRIBED = "R(0.4*sin(2*t)), S(0.2*t^2), R(q)"
    DRIVEN = "R(q + 0.3*t)"
    SPHERICAL = "Q(e0,e1,e2,e3)"
    FREE = "Sx(x), Sy(y), Sz(z), Q(e0,e1,e2,e3)"
    FIXED = ""


ALL_JOINTS = tuple(Joint)

#: The coordinates of one body only occur in its own transforms, each in one transform with a constant factor.
PLAIN_JOINTS = (
    Joint.REVOLUTE, Joint.PRISMATIC, Joint.UNIVERSAL, Joint.CYLINDRICAL,
    Joint.AFFINE, Joint.SPHERICAL, Joint.FREE, Joint.FIXED,
)  # fmt: skip


def random_tree(
    seed: int, bodies: int = 6, joints: Sequence[Joint] = ALL_JOINTS, branching: float = 0.3, parameters: bool = True
) -> Mechanism:
    """A random tree of physical bodies: masses, lengths and moments within a few orders of one.

    `branching` is the chance of a body to stand on any earlier body (or the ground) and not on the last. With
    `parameters` some numbers are parameters of the model. Bodies and coordinates are in no particular order.
    """
    tree = _Generator(Random(seed), tuple(joints), branching, parameters).mechanism(f"random-{seed}", bodies)
    return with_armature(tree, seed) if seed % 3 == 1 else tree


def with_armature(mechanism: Mechanism, seed: int, everywhere: bool = False) -> Mechanism:
    """The mechanism with inertia in some of its coordinates themselves, or in all of them."""
    random = Random(f"armature {seed}")
    known = [Name(parameter.name) for parameter in mechanism.parameters]

    def armature() -> Expression:
        """None, a number, or one with a parameter in it."""
        amount = expression(round(random.uniform(0.01, 2), 3))
        k = random.choice(known) if known else ZERO
        return random.choice([amount if everywhere else ZERO, amount, amount, amount + k * k if known else amount])

    coordinates = tuple(replace(coordinate, armature=armature()) for coordinate in mechanism.coordinates)
    return replace(mechanism, coordinates=coordinates)


def random_state(mechanism: Mechanism, seed: int) -> State:
    """Random q (quaternions of unit length), v, a and t."""
    random = Random(seed)
    q: list[float] = []
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            q.append(random.uniform(-1.2, 1.2))
        else:
            q.extend(_unit_quaternion(random))
    v, a = ([random.uniform(-1.5, 1.5) for _ in mechanism.layout.velocities] for _ in range(2))
    return np.array(q), np.array(v), np.array(a), random.uniform(0.1, 1.5)


def _unit_quaternion(random: Random) -> list[float]:
    parts = [random.gauss(0, 1) for _ in range(4)]
    length = math.hypot(*parts)
    return [part / length for part in parts]


class _Generator:
    def __init__(self, random: Random, joints: tuple[Joint, ...], branching: float, with_parameters: bool) -> None:
        self.random = random
        self.joints = joints
        self.branching = branching
        self.with_parameters = with_parameters
        self.coordinates: list[Coordinate | QuaternionCoordinates] = []
        self.parameters: list[Parameter] = []

    def mechanism(self, name: str, count: int) -> Mechanism:
        bodies: list[Body] = []
        for index in range(count):
            bodies.append(self._body(index))
        if not self.coordinates:  # all joints were fixed or prescribed: something must move
            bodies.append(self._moving_body(count, Joint.REVOLUTE))
        gravity = (self.constant(-3, 3), self.constant(-3, 3), self.constant(-9.9, -9.7))
        self.random.shuffle(bodies)
        self.random.shuffle(self.coordinates)
        return Mechanism(name, tuple(bodies), tuple(self.coordinates), tuple(self.parameters), gravity)

    def _body(self, index: int) -> Body:
        return self._moving_body(index, self.random.choice(self.joints))

    def _moving_body(self, index: int, joint: Joint) -> Body:
        base = f"B{index - 1}" if index else None
        if index and self.random.random() < self.branching:
            base = self.random.choice([None, *(f"B{i}" for i in range(index))])
        transforms = (*self._fixed(), *self._joint(index, joint), *self._fixed())
        massless = joint is Joint.FIXED and self.random.random() < 0.3
        return Body(f"B{index}", base, transforms, Inertia() if massless else self._inertia())

    def _joint(self, index: int, joint: Joint) -> tuple[Transform, ...]:
        if joint in (Joint.COUPLED, Joint.ABSOLUTE, Joint.GEARED) and not self._ordinary():
            joint = Joint.REVOLUTE
        return _JOINTS[joint](self, index)

    # pieces

    def constant(self, low: float, high: float) -> Expression:
        """A number of three decimals, sometimes as a parameter."""
        value = expression(round(self.random.uniform(low, high), 3))
        if not self.with_parameters or self.random.random() < 0.7:
            return value
        self.parameters.append(Parameter(f"k{len(self.parameters)}", value))
        return Name(self.parameters[-1].name)

    def coordinate(self, name: str) -> Name:
        self.coordinates.append(Coordinate(name))
        return Name(name)

    def other(self) -> Name:
        """A coordinate that moves some earlier body."""
        return Name(self.random.choice(self._ordinary()))

    def _ordinary(self) -> list[str]:
        return [c.name for c in self.coordinates if isinstance(c, Coordinate)]

    def turn(self, angle: Expression) -> Rotation:
        return Rotation(self.random.choice(list(Axis)), angle)

    def shift(self, distance: Expression) -> Shift:
        return Shift(self.random.choice(list(Axis)), distance)

    def quaternion(self, index: int) -> Quaternion:
        e0, e1, e2, e3 = (f"e{index}_{i}" for i in range(4))
        w1, w2, w3 = (f"w{index}_{i}" for i in range(3))
        self.coordinates.append(QuaternionCoordinates((e0, e1, e2, e3), (w1, w2, w3)))
        return Quaternion((Name(e0), Name(e1), Name(e2), Name(e3)))

    def _fixed(self) -> tuple[Transform, ...]:
        """A constant placement: none, some shifts, and now and then a rotation of each kind."""
        transforms: list[Transform] = [self.shift(self.constant(-1, 1)) for _ in range(self.random.randrange(3))]
        kind = self.random.randrange(6)
        if kind == 0:
            transforms.append(self.turn(self.constant(-3, 3)))
        elif kind == 1:
            transforms.append(self.turn(Name("pi") * self.random.choice([-1, 1]) / 2))
        elif kind == 2:
            w, x, y, z = (self.constant(0.1, 1) for _ in range(4))
            transforms.append(Quaternion((w, x, y, z)))
        return tuple(transforms)

    def _inertia(self) -> Inertia:
        """Mass, and the moments of four equal points: always physical."""
        mass = self.random.uniform(0.5, 2)
        points = np.array([[self.random.uniform(-0.5, 0.5) for _ in range(3)] for _ in range(4)])
        points -= points.mean(axis=0)
        second = mass / 4 * points.T @ points + 0.01 * np.eye(3)
        x, y, z = np.diag(second)
        moments = {"Jx": y + z, "Jy": z + x, "Jz": x + y}
        if self.random.random() < 0.6:
            moments |= {"Jxy": second[0, 1], "Jyz": second[1, 2], "Jxz": second[0, 2]}
        rounded = {name: expression(round(float(moment), 6)) for name, moment in moments.items()}
        return Inertia(mass=expression(round(mass, 3)), central=self._fixed(), **rounded)


_Build = Callable[[_Generator, int], tuple[Transform, ...]]


def _sine(argument: Expression) -> Expression:
    return Call("sin", (argument,))


def _universal(g: _Generator, i: int) -> tuple[Transform, ...]:
    first, second = g.random.sample(list(Axis), 2)
    return Rotation(first, g.coordinate(f"q{i}")), Rotation(second, g.coordinate(f"r{i}"))


def _cylindrical(g: _Generator, i: int) -> tuple[Transform, ...]:
    axis = g.random.choice(list(Axis))
    return Rotation(axis, g.coordinate(f"q{i}")), Shift(axis, g.coordinate(f"r{i}"))


def _screw(g: _Generator, i: int) -> tuple[Transform, ...]:
    axis, q = g.random.choice(list(Axis)), g.coordinate(f"q{i}")
    return Rotation(axis, q), Shift(axis, g.constant(0.1, 0.5) * q)


def _nonlinear(g: _Generator, i: int) -> tuple[Transform, ...]:
    q = g.coordinate(f"q{i}")
    return g.turn(q + 0.2 * _sine(q)), g.shift(g.constant(0.1, 0.4) * Operation("^", (q, expression(2))))


def _coupled(g: _Generator, i: int) -> tuple[Transform, ...]:
    other = g.other()
    return (g.turn(g.coordinate(f"q{i}") + g.constant(0.2, 1) * other),)


def _absolute(g: _Generator, i: int) -> tuple[Transform, ...]:
    other = g.other()
    return (g.turn(g.coordinate(f"q{i}") - other),)


def _prescribed(g: _Generator, i: int) -> tuple[Transform, ...]:
    t = Name("t")
    return (
        g.turn(0.4 * _sine(2 * t)),
        g.shift(g.constant(0.1, 0.3) * Operation("^", (t, expression(2)))),
        g.turn(g.coordinate(f"q{i}")),
    )


def _free(g: _Generator, i: int) -> tuple[Transform, ...]:
    x, y, z = (Shift(axis, g.coordinate(f"{axis.name.lower()}{i}")) for axis in Axis)
    return x, y, z, g.quaternion(i)


_JOINTS: dict[Joint, _Build] = {
    Joint.REVOLUTE: lambda g, i: (g.turn(g.coordinate(f"q{i}")),),
    Joint.PRISMATIC: lambda g, i: (g.shift(g.coordinate(f"q{i}")),),
    Joint.UNIVERSAL: _universal,
    Joint.CYLINDRICAL: _cylindrical,
    Joint.SCREW: _screw,
    Joint.AFFINE: lambda g, i: (g.turn(2 * g.coordinate(f"q{i}") - expression(0.3)),),
    Joint.NONLINEAR: _nonlinear,
    Joint.COUPLED: _coupled,
    Joint.ABSOLUTE: _absolute,
    Joint.GEARED: lambda g, i: (g.turn(g.constant(0.2, 2) * g.other()),),
    Joint.PRESCRIBED: _prescribed,
    Joint.DRIVEN: lambda g, i: (g.turn(g.coordinate(f"q{i}") + 0.3 * Name("t")),),
    Joint.SPHERICAL: lambda g, i: (g.quaternion(i),),
    Joint.FREE: _free,
    Joint.FIXED: lambda g, i: (),
}


def random_limbs(seed: int, limbs: int = 2, joints: int = 3, free: bool = True) -> Mechanism:
    """A torso with limbs of one shape, whose numbers are equal, of the other sign, zero or quite different."""
    random = Random(seed)
    generator = _Generator(random, (Joint.REVOLUTE, Joint.REVOLUTE, Joint.PRISMATIC), 0.3, False)
    torso = Body("torso", None, _JOINTS[Joint.FREE if free else Joint.REVOLUTE](generator, 99), generator._inertia())
    carried = len(generator.coordinates)
    pattern = [generator._body(index) for index in range(joints)]
    moved = {c.name for c in generator.coordinates[carried:] if isinstance(c, Coordinate)}
    coordinates, bodies = generator.coordinates[:carried], [torso]
    for limb in range(limbs):
        copy = _Copy(generator, limb, moved)
        bodies += [copy.body(body) for body in pattern]
        coordinates += [Coordinate(f"{name}_{limb}") for name in sorted(moved)]
    gravity = (ZERO, ZERO, expression(-9.81))
    whole = Mechanism(f"limbs-{seed}", tuple(bodies), tuple(coordinates), (), gravity)
    # Limbs on whose last joint nothing acts in one and armature in another are of different shapes.
    return with_armature(whole, seed, everywhere=True) if seed % 3 == 1 else whole


class _Copy:
    """One limb after a pattern."""

    def __init__(self, generator: _Generator, limb: int, moved: set[str]) -> None:
        self.generator = generator
        self.random = generator.random
        self.limb = limb
        self.moved = moved

    def body(self, body: Body) -> Body:
        base = "torso" if body.base is None else f"{body.base}_{self.limb}"
        inertia = body.inertia if self.random.random() < 0.5 else self.generator._inertia()
        return Body(f"{body.name}_{self.limb}", base, tuple(map(self._transform, body.transforms)), inertia)

    def _transform(self, transform: Transform) -> Transform:
        if isinstance(transform, Rotation):
            return Rotation(transform.axis, self._amount(transform.angle))
        return Shift(transform.axis, self._amount(transform.distance)) if isinstance(transform, Shift) else transform

    def _amount(self, amount: Expression) -> Expression:
        for name in names(amount):
            if name in self.moved:
                amount = Name(f"{name}_{self.limb}")
        if names(amount):
            return -amount if self.random.random() < 0.4 else amount
        other = expression(round(self.random.uniform(-1, 1), 3))
        return self.random.choice([amount, -amount, ZERO, other])


def chain(links: int, absolute: bool = False) -> Mechanism:
    """Equal rods of mass and length one, hanging in a row and turning about y, by relative or absolute angles."""
    half, inertia = expression(-0.5), expression(0.08)
    rod = Inertia(expression(1), inertia, inertia, expression(0.001), central=(Shift(Axis.Z, half),))
    bodies: list[Body] = []
    for i in range(links):
        q = Name(f"q{i}")
        turn = Rotation(Axis.Y, q - Name(f"q{i - 1}") if absolute and i else q)
        hinge = (Shift(Axis.Z, expression(-1)), turn) if i else (turn,)
        bodies.append(Body(f"B{i}", f"B{i - 1}" if i else None, hinge, rod))
    coordinates = tuple(Coordinate(f"q{i}") for i in range(links))
    return Mechanism(f"chain-{links}", tuple(bodies), coordinates, gravity=(ZERO, ZERO, expression(-9.81)))
