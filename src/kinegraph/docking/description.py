"""The description of a docking: three bodies, the latches between two of them, the legs, and the limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import SolveError
from kinegraph.model.elements import Anchor, CompliantContact, Damper, Element, Span, Spring, anchors_of
from kinegraph.model.expressions import Name, names
from kinegraph.model.mechanism import Mechanism, Point, amounts
from kinegraph.model.names import did_you_mean
from kinegraph.model.platforms.recognition import RecognizedLeg, legs_of

_LATCH = re.compile(r"R(\d+)")
_PROBE = "Probe"
_NO_TARGET = "kg.with_target(model) adds a passive spacecraft with guides and latches, as `kinegraph dock` does"


@dataclass(frozen=True)
class Latch:
    """A point of the ring and its counterpart on the target; it engages if both are close and slow.

    ring, target: output points of the model. distance [m], speed [m/s], angle [rad] between the axes of both rings:
    it engages below these. stiffness [N/m], damping [N s/m]: of the hook that holds the point, first where it
    engaged, after `time` [s] at the ring's own point. All these values are our assumptions.
    """

    ring: str
    target: str
    distance: float = 0.015
    speed: float = 0.05
    angle: float = 0.09
    stiffness: float = 1e5
    damping: float = 2e3
    time: float = 1.0


@dataclass(frozen=True)
class Leg:
    """A leg of the ring, as formulas of the state.

    load: the force along it, positive if it pushes. along: the direction from chaser to ring, in fixed axes.
    turns: it is a crank with a rod; length is then the angle of its drive, load the force along the rod.
    foot: the point of the chaser at the end of a massless leg; empty for the legs of a platform.
    """

    name: str
    length: str
    rate: str
    load: str
    along: tuple[str, str, str]
    turns: bool = False
    foot: str = ""


@dataclass(frozen=True)
class Limits:
    """Limits that end a docking. They are our assumptions, except for the loads of soft capture, from one secondary
    source.

    shortest, longest [m]: of a leg. lowest, highest [rad]: of a crank's drive. leg [N]: the force along it.
    interface [N], bending [N m]: between the rings. latch [N]: of a single latch. away [m]: rings this far apart
    have bounced off.
    """

    shortest: float = 0.3
    longest: float = 0.85
    leg: float = 2000.0
    interface: float = 3900.0
    bending: float = 2800.0
    latch: float = 2000.0
    away: float = 0.25
    lowest: float = -1.0
    highest: float = 2.6

    def __post_init__(self) -> None:
        for name in ("leg", "interface", "bending", "latch", "away"):
            if not getattr(self, name) > 0:
                raise SolveError(f"Limits: {name} is {getattr(self, name)!r}: give a positive number")
        if not (self.shortest < self.longest and self.lowest < self.highest):
            raise SolveError("Limits: a stroke has a negative range: give shortest < longest and lowest < highest")


@dataclass(frozen=True)
class Schedule:
    """The events after capture, and their times.

    settle [s]: from capture until retraction starts. begin, time: the parameters of the model for its start and its
    duration. draw [s]: the longest wait for it. still [m/s], even [m]: the hard joint closes if no leg is faster and
    no two lengths differ by more. after [s]: how long the joined spacecraft are simulated.
    """

    settle: float = 10.0
    begin: str = "begin"
    time: str = "time"
    draw: float = 90.0
    still: float = 1e-3
    even: float = 5e-3
    after: float = 2.0


@dataclass(frozen=True)
class Docking:
    """Two spacecraft that dock: the bodies by name, latches and legs of the model.

    at_once: the latches close together, when all of them fit; otherwise each holds from when it fits, until all do.
    springs: latches hold by springs and dampers until all do; otherwise exactly.
    """

    mechanism: Mechanism
    latches: tuple[Latch, ...]
    legs: tuple[Leg, ...]
    chaser: str = "Chaser"
    ring: str = "Ring"
    target: str = "Target"
    limits: Limits = field(default_factory=Limits)
    schedule: Schedule = field(default_factory=Schedule)
    at_once: bool = False
    springs: bool = False

    @property
    def guides(self) -> tuple[CompliantContact, ...]:
        """The compliant contacts between ring and target."""
        sides = {self.ring, self.target}
        return tuple(
            one
            for one in self.mechanism.elements
            if isinstance(one, CompliantContact)
            and {body_of(self.mechanism, anchors_of(s)[0]) for s in one.shapes} == sides
        )

    def coordinates(self, body: str) -> tuple[str, ...]:
        """The positions that move a body relative to its parent."""
        used = {name for one in self.mechanism.body(body).transforms for part in amounts(one) for name in names(part)}
        return tuple(name for name in self.mechanism.layout.positions if name in used)


def fields_from_texts(record: type, given: Mapping[str, str], what: str) -> dict[str, float]:
    """Numbers by name of a record's fields; SolveError for an unknown name or a text that is not a number."""
    known = [one.name for one in fields(record)]
    found: dict[str, float] = {}
    for name, text in given.items():
        if name not in known:
            raise SolveError(f"{what}: no {name!r}\n  {did_you_mean(name, known) or ', '.join(known)}")
        try:
            found[name] = float(text)
        except ValueError:
            raise SolveError(f"{what}: {name} is {text!r}: give a number") from None
    return found


def limits_of(given: Mapping[str, str]) -> Limits:
    """Limits of a docking from texts by name."""
    return Limits(**fields_from_texts(Limits, given, "limits"))


def schedule_of(given: Mapping[str, str]) -> Schedule:
    """A schedule from texts by name; `begin` and `time` are names of parameters."""
    names = {name: given[name] for name in ("begin", "time") if name in given}
    numbers = {name: text for name, text in given.items() if name not in names}
    return Schedule(**names, **fields_from_texts(Schedule, numbers, "schedule"))  # type: ignore[arg-type]


def docking_of(
    model: MechanismSource,
    *,
    chaser: str = "Chaser",
    ring: str = "Ring",
    target: str = "Target",
    distance: float = Latch.distance,
    speed: float = Latch.speed,
    angle: float = Latch.angle,
    limits: Limits | None = None,
    schedule: Schedule | None = None,
    at_once: bool = False,
    springs: bool = False,
) -> Docking:
    """The docking that a model describes.

    Latches are the output points R1, R2, ... on the ring with T1, T2, ... on the target. Legs are the springs
    between chaser and ring, with the dampers between the same points, or the legs of a platform. A model without a
    `Ring` may have a `Probe` in its place. distance [m], speed [m/s], angle [rad]: latches engage below these.
    at_once, springs: as in `Docking`.
    """
    mechanism = mechanism_of(model)
    bodies = [body.name for body in mechanism.bodies]
    ring = _PROBE if ring == Docking.ring and ring not in bodies and _PROBE in bodies else ring
    for name in (chaser, ring, target):
        if name not in bodies:
            remedy = did_you_mean(name, bodies) if name != "Target" else _NO_TARGET
            raise SolveError(f"docking: {mechanism.name} has no body {name!r}\n  {remedy}")
    mechanism = _with_ends(mechanism, chaser, ring)
    latches = tuple(Latch(*pair, distance, speed, angle) for pair in _latch_points(mechanism, ring, target))
    if not latches:
        raise SolveError(
            f"docking: {mechanism.name} has no latches\n  write output points R1, R2, ... on {ring} and T1, T2, ... "
            f"on {target}"
        )
    legs = tuple(_legs(mechanism, chaser, ring))
    if not legs:
        raise SolveError(f"docking: {mechanism.name} has no legs: add springs between points of {chaser} and of {ring}")
    return Docking(
        mechanism, latches, legs, chaser, ring, target, limits or Limits(), schedule or Schedule(), at_once, springs
    )


def body_of(mechanism: Mechanism, anchor: Anchor) -> str | None:
    """The body of an anchor, directly or through an output point."""
    for point in mechanism.points:
        if point.name == anchor.of and all(body.name != anchor.of for body in mechanism.bodies):
            return point.body
    return anchor.of


def _latch_points(mechanism: Mechanism, ring: str, target: str) -> Iterator[tuple[str, str]]:
    bodies = {point.name: point.body for point in mechanism.points}
    for name, body in bodies.items():
        counterpart = "T" + name[1:]
        if _LATCH.fullmatch(name) and body == ring and bodies.get(counterpart) == target:
            yield name, counterpart


def _spans(mechanism: Mechanism, chaser: str, ring: str) -> Iterator[Spring]:
    for one in mechanism.elements:
        if isinstance(one, Spring) and isinstance(one.on, Span):
            sides = {body_of(mechanism, one.on.first), body_of(mechanism, one.on.second)}
            if sides == {chaser, ring}:
                yield one


def without_springs(mechanism: Mechanism, first: str, second: str) -> Mechanism:
    """The mechanism without springs and dampers between two bodies that do not move relative to each other."""
    spans = {one.on for one in _spans(mechanism, first, second)}
    retained = (one for one in mechanism.elements if not (isinstance(one, Spring | Damper) and one.on in spans))
    return replace(mechanism, elements=tuple(retained))


def _with_ends(mechanism: Mechanism, chaser: str, ring: str) -> Mechanism:
    """The mechanism with an output point at both ends of every leg, so that formulas can name them."""
    named = {point.name for point in mechanism.points}
    points, elements = list(mechanism.points), list(mechanism.elements)
    for spring in list(_spans(mechanism, chaser, ring)):
        assert isinstance(spring.on, Span)
        ends = [Anchor(one.of) if one.of in named else None for one in (spring.on.first, spring.on.second)]
        new = Span(*(
            known or _added(points, anchor, f"{spring.name}${side}")
            for known, anchor, side in zip(ends, (spring.on.first, spring.on.second), "01", strict=True)
        ))  # fmt: skip
        elements = [_moved(one, spring.on, new) for one in elements]
    return replace(mechanism, points=tuple(points), elements=tuple(elements))


def _moved(element: Element, old: Span, new: Span) -> Element:
    return replace(element, on=new) if isinstance(element, Spring | Damper) and element.on == old else element


def _added(points: list[Point], anchor: Anchor, name: str) -> Anchor:
    points.append(Point(name, anchor.of, anchor.position))
    return Anchor(name)


def _legs(mechanism: Mechanism, chaser: str, ring: str) -> Iterator[Leg]:
    for spring in _spans(mechanism, chaser, ring):
        assert isinstance(spring.on, Span)
        here, there = spring.on.first.of, spring.on.second.of
        square = "+".join(f"({here}.{axis}-{there}.{axis})^2" for axis in "xyz")
        growing = "+".join(f"({here}.{axis}-{there}.{axis})*({here}.{axis}'-{there}.{axis}')" for axis in "xyz")
        length = f"sqrt({square})"
        sign = "" if body_of(mechanism, spring.on.second) == ring else "-"
        x, y, z = (f"{sign}({there}.{axis}-{here}.{axis})/{length}" for axis in "xyz")
        foot = (there if sign else here) or ""
        yield Leg(spring.name, length, f"({growing})/{length}", _load(mechanism, spring.on), (x, y, z), foot=foot)
    for leg in legs_of(mechanism):
        if leg.first.base == chaser:
            yield _of_platform(mechanism, leg)


def _of_platform(mechanism: Mechanism, leg: RecognizedLeg) -> Leg:
    """A leg with mass. For a crank, its angle and the force along its rod that balances the drive's moment."""
    drive, second = leg.drive, leg.second.name
    effort = _load(mechanism, Name(drive))
    if not leg.type.has_crank:
        x, y, z = (f"pose:{leg.first.name}[{row},2]" for row in range(3))
        return Leg(leg.name, drive, f"{drive}'", effort, (x, y, z))
    x, y, z = rod = tuple(f"pose:{second}[{row},0]" for row in range(3))
    axis = [f"pose:{leg.first.name}[{row},2]" for row in range(3)]
    arm = [f"(pose:{second}[{row},3]-pose:{leg.first.name}[{row},3])" for row in range(3)]
    lever = "+".join(
        f"{axis[i]}*({arm[j]}*{rod[k]}-{arm[k]}*{rod[j]})" for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    )
    return Leg(leg.name, drive, f"{drive}'", f"({effort})/({lever})", (x, y, z), turns=True)


def _load(mechanism: Mechanism, target: object) -> str:
    """The force along a leg, from all elements that act on it."""
    acting = [one.name for one in mechanism.elements if getattr(one, "on", None) == target]
    return "+".join(f"effort:{name}[0]" for name in acting) or "0"
