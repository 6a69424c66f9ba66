"""One mechanism described otherwise: another mechanism, and how states and results of the first read in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

import kinegraph as kg
from kinegraph.model.axes import Axes
from kinegraph.model.constraints import AnyLoop, Coupling, Frame, Loop
from kinegraph.model.definitions import replaced, resolved, unresolved
from kinegraph.model.elements import (
    RATE,
    STRETCH,
    Anchor,
    Damper,
    Element,
    EnergyLaw,
    Force,
    ForceLaw,
    Friction,
    Limit,
    Linear,
    Moment,
    PointForce,
    Potential,
    Span,
    Spring,
    Target,
)
from kinegraph.model.expressions import Expression, Name, Number, expression, names, renamed
from kinegraph.model.mechanism import (
    Axis,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
)

Floats: TypeAlias = NDArray[np.float64]
#: Positions, velocities, forces (tau:q), inputs and time by name.
State: TypeAlias = Mapping[str, float]
Triple: TypeAlias = tuple[Expression, Expression, Expression]
T = TypeVar("T")


@dataclass(frozen=True)
class Units:
    """How many new units one old unit is."""

    mass: Fraction = Fraction(1)
    length: Fraction = Fraction(1)
    time: Fraction = Fraction(1)

    @property
    def energy(self) -> Fraction:
        return self.mass * self.length**2 / self.time**2


@dataclass(frozen=True)
class Description:
    """Another description of a mechanism.

    names: what bodies, joints, coordinates and velocities of the first are called here, if not the same.
    factors: what a position is multiplied by here. world: vectors in fixed axes are multiplied by it; `body` does the
    same in the axes of bodies. state: the state here, where that is more than names and factors. joints: how the
    reaction of a joint of the first is called here, and its sign; moments may be about other points then.
    """

    mechanism: Mechanism
    names: Mapping[str, str] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)
    world: Floats = field(default_factory=lambda: np.eye(3))
    body: Floats = field(default_factory=lambda: np.eye(3))
    units: Units = Units()
    state_map: Callable[[State], State] | None = None
    joints: Mapping[str, tuple[str, int]] | None = None
    #: Velocities of quaternions, which are rates without a prime.
    quasi: frozenset[str] = frozenset()

    def name(self, first: str) -> str:
        return self.names.get(first, first)

    def factor(self, position: str) -> float:
        return self.factors.get(position, 1.0)

    def state(self, first: State) -> State:
        """The state of the first description in this one."""
        if self.state_map:
            return self.state_map(first)
        return {self.renamed(name): value * self.scale(name) for name, value in first.items()}

    def renamed(self, name: str) -> str:
        """The name here of a position, velocity, acceleration or force."""
        if name.startswith("tau:"):
            return f"tau:{self.renamed(name[4:])}"
        bare = name.rstrip("'")
        return self.name(bare) + name[len(bare) :]

    def scale(self, name: str) -> float:
        """What a position, velocity, acceleration, force, or time is multiplied by here."""
        units = self.units
        if name == "t":
            return float(units.time)
        if name.startswith("tau:"):
            return float(units.energy) / self.factor(name[4:].rstrip("'"))
        bare = name.rstrip("'")
        rates = len(name) - len(bare) + (bare in self.quasi)
        return self.factor(bare) / float(units.time) ** rates


def quasi_velocities(mechanism: Mechanism) -> frozenset[str]:
    return frozenset(
        name for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates) for name in one.velocities
    )


def as_it_is(mechanism: Mechanism) -> Description:
    return Description(mechanism, quasi=quasi_velocities(mechanism))


# World turned


def turned(mechanism: Mechanism, random: Random) -> Description:
    """Everything turned in space, gravity with it, by a rotation of rational numbers."""
    parts = [random.choice([-3, -2, -1, 1, 2, 3]) for _ in range(4)]
    matrix = _rational_rotation(parts)
    turn = (Quaternion(tuple(map(expression, parts))),)  # type: ignore[arg-type]
    change: dict[str, Expression] = {}
    for name in _places(mechanism):
        for prime in ("", "'"):
            for i, axis in enumerate("xyz"):
                terms = [matrix[j][i] * Name(f"{name}.{other}{prime}") for j, other in enumerate("xyz")]
                change[f"{name}.{axis}{prime}"] = terms[0] + terms[1] + terms[2]
    new = replaced(mechanism, change)

    def vector(v: Triple) -> Triple:
        x, y, z = (r[0] * v[0] + r[1] * v[1] + r[2] * v[2] for r in matrix)
        return x, y, z

    def anchor(one: Anchor) -> Anchor:
        return replace(one, position=vector(one.position)) if one.of is None else one

    elements = tuple(_with_vectors(one, anchor, vector) for one in new.elements)
    bodies = tuple(replace(b, transforms=turn + b.transforms) if b.base is None else b for b in new.bodies)
    points = tuple(replace(p, position=vector(p.position)) if p.body is None else p for p in new.points)
    loops = tuple(_with_frames(one, lambda f: replace(f, transforms=turn + f.transforms) if f.body is None else f)
                  for one in new.loops)  # fmt: skip
    new = replace(
        new, bodies=bodies, gravity=vector(new.gravity), points=points, loops=loops, elements=elements,
    )  # fmt: skip
    numbers = np.array([[float(x) for x in row] for row in matrix])
    return Description(new, world=numbers, quasi=quasi_velocities(mechanism))


def _rational_rotation(parts: Sequence[int]) -> list[list[Fraction]]:
    w, x, y, z = map(Fraction, parts)
    n = w * w + x * x + y * y + z * z
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return [[value / n for value in row] for row in rows]


def _places(mechanism: Mechanism) -> list[str]:
    return [*(one.name for one in mechanism.bodies), *(one.name for one in mechanism.points)]


def _with_frames(loop: AnyLoop, change: Callable[[Frame], Frame]) -> AnyLoop:
    if isinstance(loop, Coupling):
        return loop
    return replace(loop, first=change(loop.first), second=change(loop.second))


def _with_vectors(element: Element, anchor: Callable[[Anchor], Anchor], vector: Callable[[Triple], Triple]) -> Element:
    """An element with its points and the vectors in fixed axes changed."""
    if isinstance(element, PointForce):
        components = vector(element.components) if element.axes is Axes.WORLD else element.components
        return replace(element, at=anchor(element.at), components=components)
    if isinstance(element, Moment) and element.axes is Axes.WORLD:
        return replace(element, components=vector(element.components))
    target = getattr(element, "on", None)
    if isinstance(target, Span):
        return replace(element, on=Span(anchor(target.first), anchor(target.second)))
    return element


# Mirrored


def mirrored(mechanism: Mechanism, random: Random) -> Description:
    """The image in a plane across one axis: angles about the other axes and lengths along it change their signs."""
    axis = random.choice(list(Axis))
    letter = axis.name.lower()
    flips = {name: -1.0 for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates)
             for k in range(3) if k != axis.value for name in (one.names[k + 1], one.velocities[k])}  # fmt: skip
    across = [f"{place}.{letter}{prime}" for place in _places(mechanism) for prime in ("", "'")]
    change: dict[str, Expression] = {name: -Name(name) for name in (*across, *flips)}
    new = replaced(mechanism, change)

    def polar(v: Triple) -> Triple:
        x, y, z = (-c if k == axis.value else c for k, c in enumerate(v))
        return x, y, z

    def axial(v: Triple) -> Triple:
        x, y, z = (c if k == axis.value else -c for k, c in enumerate(v))
        return x, y, z

    def anchor(one: Anchor) -> Anchor:
        return replace(one, position=polar(one.position))

    def image(transform: Transform) -> Transform:
        if isinstance(transform, Rotation):
            return transform if transform.axis is axis else Rotation(transform.axis, -transform.angle)
        if isinstance(transform, Shift):
            return Shift(transform.axis, -transform.distance) if transform.axis is axis else transform
        if is_quaternion(mechanism, transform):
            return transform
        w, *rest = transform.components
        return Quaternion((w, *axial((rest[0], rest[1], rest[2]))))

    def element(one: Element) -> Element:
        if isinstance(one, Moment):
            return replace(one, components=axial(one.components))
        changed = _with_vectors(one, anchor, polar)
        if isinstance(one, PointForce) and one.axes is Axes.BODY:
            return replace(changed, components=polar(one.components))
        return changed

    def inertia(one: Inertia) -> Inertia:
        products = {"xy": one.Jxy, "yz": one.Jyz, "xz": one.Jxz}
        signed = {f"J{name}": -value if letter in name else value for name, value in products.items()}
        return replace(one, central=tuple(map(image, one.central)), **signed)

    def coordinate(one: Coordinate | QuaternionCoordinates) -> Coordinate | QuaternionCoordinates:
        if isinstance(one, Coordinate):
            return one
        w, *rest = one.position
        return replace(one, position=(w, *axial((rest[0], rest[1], rest[2]))), velocity=axial(one.velocity))

    new = replace(
        new,
        bodies=tuple(replace(b, transforms=tuple(map(image, b.transforms)), inertia=inertia(b.inertia))
                     for b in mechanism.bodies),
        coordinates=tuple(map(coordinate, mechanism.coordinates)),
        gravity=polar(new.gravity),
        points=tuple(replace(p, position=polar(p.position)) for p in new.points),
        loops=tuple(_with_frames(one, lambda f: replace(f, transforms=tuple(map(image, f.transforms))))
                    for one in new.loops),
        elements=tuple(map(element, new.elements)),
    )  # fmt: skip
    flip = np.diag([-1.0 if k == axis.value else 1.0 for k in range(3)])
    return Description(new, factors=flips, world=flip, body=flip, quasi=quasi_velocities(mechanism))


def is_quaternion(mechanism: Mechanism, transform: Transform) -> bool:
    """Whether it is a quaternion of coordinates."""
    known = set(mechanism.layout.positions)
    return isinstance(transform, Quaternion) and any(
        isinstance(part, Name) and part.text in known for part in transform.components
    )


# Other units


def in_other_units(mechanism: Mechanism, random: Random, units: Units | None = None) -> Description:
    """The same numbers of other units. Inside expressions names are taken back to the old units, parameters stay."""
    factors = [Fraction(4), Fraction(1, 4), Fraction(9), Fraction(1, 100), Fraction(25, 16)]
    units = units or Units(*(random.choice(factors) for _ in range(3)))
    mass, length, time, energy = units.mass, units.length, units.time, units.energy
    mechanism = unresolved(mechanism)
    lengths = {name for name in mechanism.layout.positions if _is_length(mechanism, name)}
    known = dict.fromkeys(lengths, length)
    old: dict[str, Expression] = {name: Name(name) / length for name in lengths} | {"t": Name("t") / time}
    for name in mechanism.layout.positions:
        old[f"{name}'"] = Name(f"{name}'") * (time / known.get(name, Fraction(1)))
    old |= {name: Name(name) * time for name in quasi_velocities(mechanism)}
    for place in _places(mechanism):
        old |= {f"{place}.{axis}": Name(f"{place}.{axis}") / length for axis in "xyz"}
        old |= {f"{place}.{axis}'": Name(f"{place}.{axis}'") * (time / length) for axis in "xyz"}
    local = {STRETCH.text, RATE.text}

    def plain(value: Expression) -> Expression:
        return renamed(value, lambda name: old.get(name.text, name) if isinstance(name, Name) else name)

    def of(value: Expression, factor: Fraction) -> Expression:
        return plain(value) * factor if factor != 1 else plain(value)

    def transform(one: Transform) -> Transform:
        if isinstance(one, Shift):
            return Shift(one.axis, of(one.distance, length))
        return Rotation(one.axis, plain(one.angle)) if isinstance(one, Rotation) else one

    def place(v: Triple) -> Triple:
        return of(v[0], length), of(v[1], length), of(v[2], length)

    def anchor(one: Anchor) -> Anchor:
        return replace(one, position=place(one.position))

    def target(one: Target) -> tuple[Target, Fraction]:
        """A target, and how many new units of it one old unit is: expressions keep their old units."""
        if isinstance(one, Span):
            return Span(anchor(one.first), anchor(one.second)), length
        return plain(one), Fraction(1)

    rates = {*quasi_velocities(mechanism), *(w.name for w in mechanism.quasivelocities)}
    rates |= {d.name for d in mechanism.definitions if any(name.endswith("'") for name in names(d.value))}

    def rate_factor(one: Target, unit: Fraction) -> Fraction:
        """An expression of velocities is a rate as it is, in old units; else its rate is taken in the new time."""
        given = not isinstance(one, Span) and any(name.endswith("'") or name in rates for name in names(one))
        return Fraction(1) if given else unit / time

    def law(one: Linear | ForceLaw | EnergyLaw, unit: Fraction, per: Fraction) -> Linear | ForceLaw | EnergyLaw:
        """`unit`: of the variable of the law; `per`: of the force."""
        if isinstance(one, Linear):
            return Linear(of(one.coefficient, per / unit))
        back = {name: Name(name) / unit for name in local}

        def change(value: Expression) -> Expression:
            return renamed(plain(value), lambda name: back.get(getattr(name, "text", ""), name))

        if isinstance(one, ForceLaw):
            return ForceLaw(change(one.force) * per)
        return EnergyLaw(change(one.energy) * (per * unit))

    def element(one: Element) -> Element:
        if isinstance(one, PointForce | Moment):
            unit = energy / length if isinstance(one, PointForce) else energy
            x, y, z = (of(c, unit) for c in one.components)
            changed = replace(one, components=(x, y, z))
            return replace(changed, at=anchor(one.at)) if isinstance(changed, PointForce) else changed
        if isinstance(one, Potential):
            return replace(one, energy=of(one.energy, energy))
        assert isinstance(one, Spring | Damper | Friction | Force | Limit)
        on, unit = target(one.on)
        if isinstance(one, Spring):
            return replace(one, on=on, rest=of(one.rest, unit), law=law(one.law, unit, energy / unit))
        rate = rate_factor(one.on, unit)
        per = energy / time / rate  # force times rate is power
        if isinstance(one, Damper):
            return replace(one, on=on, law=law(one.law, rate, per))
        if isinstance(one, Friction):
            return replace(one, on=on, coulomb=of(one.coulomb, per), viscous=of(one.viscous, per / rate),
                           width=of(one.width, rate))  # fmt: skip
        if isinstance(one, Force):
            return replace(one, on=on, value=of(one.value, per))
        bounds = {side: of(value, unit) for side in ("lower", "upper") if (value := getattr(one, side)) is not None}
        per = energy / unit
        return replace(one, on=on, stiffness=of(one.stiffness, per / unit),
                       damping=of(one.damping, per / unit / (unit / time)), **bounds)  # fmt: skip

    def coordinate(one: Coordinate | QuaternionCoordinates) -> Coordinate | QuaternionCoordinates:
        armature = of(one.armature, energy * time**2 / known.get(getattr(one, "name", ""), Fraction(1)) ** 2)
        if isinstance(one, Coordinate):
            unit = known.get(one.name, Fraction(1))
            return replace(one, position=of(one.position, unit), velocity=of(one.velocity, unit / time),
                           armature=armature)  # fmt: skip
        x, y, z = (of(c, 1 / time) for c in one.velocity)
        return replace(one, velocity=(x, y, z), armature=armature)

    def inertia(one: Inertia) -> Inertia:
        moments = {name: of(getattr(one, name), mass * length**2) for name in ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")}
        return replace(one, mass=of(one.mass, mass), central=tuple(map(transform, one.central)), **moments)

    def loop(one: AnyLoop) -> AnyLoop:
        if isinstance(one, Coupling):
            first, second = (known.get(name, Fraction(1)) for name in (one.first, one.second))
            return replace(one, ratio=of(one.ratio, first / second), offset=of(one.offset, first))
        changed = _with_frames(one, lambda f: replace(f, transforms=tuple(map(transform, f.transforms))))
        assert isinstance(changed, Loop)
        if one.joint.length is None:
            return changed
        return replace(changed, joint=replace(one.joint, length=of(one.joint.length, length)))

    x, y, z = (of(c, length / time**2) for c in mechanism.gravity)
    new = replace(
        mechanism,
        bodies=tuple(replace(b, transforms=tuple(map(transform, b.transforms)), inertia=inertia(b.inertia))
                     for b in mechanism.bodies),
        coordinates=tuple(map(coordinate, mechanism.coordinates)),
        gravity=(x, y, z),
        points=tuple(replace(p, position=place(p.position)) for p in mechanism.points),
        elements=tuple(map(element, mechanism.elements)),
        inputs=tuple(replace(i, value=plain(i.value)) if i.value is not None else i for i in mechanism.inputs),
        loops=tuple(map(loop, mechanism.loops)),
        constraints=tuple(replace(c, left=plain(c.left), right=plain(c.right)) for c in mechanism.constraints),
        contacts=tuple(replace(c, gap=plain(c.gap), slip=tuple(of(s, 1 / time) for s in c.slip))
                       for c in mechanism.contacts),
        definitions=tuple(replace(d, value=plain(d.value)) for d in mechanism.definitions),
        quasivelocities=tuple(replace(w, value=plain(w.value)) for w in mechanism.quasivelocities),
    )  # fmt: skip
    return Description(
        resolved(new), factors={name: float(length) for name in lengths}, units=units, quasi=quasi_velocities(mechanism)
    )


def _is_length(mechanism: Mechanism, name: str) -> bool:
    """A coordinate that shifts alone mention, with constant factors."""
    turns = {n for b in mechanism.bodies for t in b.transforms if isinstance(t, Rotation) for n in names(t.angle)}
    shifts = {n for b in mechanism.bodies for t in b.transforms if isinstance(t, Shift) for n in names(t.distance)}
    return name in shifts - turns


def other_masses(mechanism: Mechanism, random: Random) -> Description:
    return in_other_units(mechanism, random, Units(mass=Fraction(9, 4)))


def other_lengths(mechanism: Mechanism, random: Random) -> Description:
    return in_other_units(mechanism, random, Units(length=Fraction(1, 25)))


def other_times(mechanism: Mechanism, random: Random) -> Description:
    return in_other_units(mechanism, random, Units(time=Fraction(16)))


# Names and order


def renamed_all(mechanism: Mechanism, random: Random) -> Description:
    """Every name another one, of another order in the alphabet."""
    parts = (mechanism.bodies, mechanism.points, mechanism.elements, mechanism.parameters, mechanism.inputs,
             mechanism.loops, mechanism.constraints, mechanism.contacts, mechanism.definitions, mechanism.states,
             mechanism.tables)  # fmt: skip
    old = [one.name for part in parts for one in part]
    for one in mechanism.coordinates:
        old += [one.name] if isinstance(one, Coordinate) else [*one.names, *one.velocities]
    old = list(dict.fromkeys(old))
    letters = "abcdfgjklnoruvwzθφ"
    numbers = random.sample(range(len(old)), len(old))
    new = {name: f"{letters[k % len(letters)]}{k}_" for name, k in zip(old, numbers, strict=True)}
    # A parameter may be called m, and m(m) has one of each.
    written = kg.write(replace(mechanism, name="m"))
    text = re.sub(r"(?<!\.)\b(?!m\()[^\W\d][\w$]*", lambda found: new.get(found[0], found[0]), written)
    return Description(kg.parse(text), names=new, quasi=quasi_velocities(mechanism))


def reordered(mechanism: Mechanism, random: Random) -> Description:
    """Bodies, coordinates and everything else in another order."""

    def shuffled(items: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(random.sample(items, len(items)))

    fields = ("bodies", "coordinates", "parameters", "points", "elements", "inputs", "loops", "constraints", "contacts",
              "states", "tables")  # fmt: skip
    new = replace(mechanism, **{name: shuffled(getattr(mechanism, name)) for name in fields})
    return Description(new, quasi=quasi_velocities(mechanism))


# Bodies split by fixed joints


def split(mechanism: Mechanism, random: Random) -> Description:
    """Every body carries a part of its inertia as a body of its own, and stands on a seat without mass."""
    bodies: list[Body] = []
    for body in mechanism.bodies:
        part = Fraction(random.randint(1, 9), 10)
        fixed = len(body.transforms) - len(_after_constants(mechanism, body.transforms))
        place = (Shift(random.choice(list(Axis)), expression(Fraction(random.randint(-9, 9), 10))),
                 Rotation(random.choice(list(Axis)), expression(Fraction(random.randint(-30, 30), 10))))  # fmt: skip
        seat = Body(f"{body.name}_seat", body.base, body.transforms[:fixed])
        inertia = body.inertia
        rest = Body(f"{body.name}_rest", body.name, place,
                    replace(_part(inertia, part), central=inverse(place) + inertia.central))  # fmt: skip
        bodies += [seat, replace(body, base=seat.name, transforms=body.transforms[fixed:],
                                 inertia=_part(inertia, 1 - part)), rest]  # fmt: skip
    random.shuffle(bodies)
    return Description(replace(mechanism, bodies=tuple(bodies)), quasi=quasi_velocities(mechanism))


def _part(inertia: Inertia, part: Fraction) -> Inertia:
    numbers = ("mass", "Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")
    return replace(inertia, **{name: getattr(inertia, name) * part for name in numbers})


def _after_constants(mechanism: Mechanism, transforms: tuple[Transform, ...]) -> tuple[Transform, ...]:
    for k, transform in enumerate(transforms):
        if is_moving(mechanism, transform):
            return transforms[k:]
    return ()


def is_moving(mechanism: Mechanism, transform: Transform) -> bool:
    fixed = {parameter.name for parameter in mechanism.parameters} | {"pi"}
    parts = transform.components if isinstance(transform, Quaternion) else (
        transform.angle if isinstance(transform, Rotation) else transform.distance,)  # fmt: skip
    return any(not names(part) <= fixed for part in parts)


def inverse(transforms: Sequence[Transform]) -> tuple[Transform, ...]:
    """The way back, where no quaternion of coordinates lies on it."""
    return tuple(_back(one) for one in reversed(transforms))


def _back(transform: Transform) -> Transform:
    if isinstance(transform, Rotation):
        return Rotation(transform.axis, _negative(transform.angle))
    if isinstance(transform, Shift):
        return Shift(transform.axis, _negative(transform.distance))
    w, x, y, z = transform.components
    return Quaternion((w, -x, -y, -z))


def _negative(value: Expression) -> Expression:
    return Number(-value.value) if isinstance(value, Number) else -value
