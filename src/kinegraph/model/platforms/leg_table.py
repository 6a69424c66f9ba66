"""Leg tables of parallel manipulators: rows, checks, and expansion to bodies, coordinates, loops and elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.errors import ModelError
from kinegraph.model.constraints import Frame, Joint, JointType, Loop
from kinegraph.model.elements import DEFAULT_WIDTH, Damper, Element, Force, Friction, Input, Limit, Linear, Spring
from kinegraph.model.evaluate import Value, known_parameter_values, number
from kinegraph.model.expressions import PI, Call, Defined, Expression, Name, expression, names, renamed
from kinegraph.model.mechanism import ONE, ZERO, Axis, Body, Coordinate, Inertia, Mechanism, Rotation, Shift, Transform


class LegType(Enum):
    """The joints of a leg from base to platform: universal, prismatic, spherical, cylindrical, revolute.

    The first three change their length (Gough-Stewart); the last two have a crank and a rod (Hunt).
    """

    UPS = "UPS"
    SPU = "SPU"
    UCU = "UCU"
    RUS = "RUS"
    RSU = "RSU"

    @property
    def has_crank(self) -> bool:
        """Whether the leg has a driven crank and a rod; otherwise two parts that slide along each other."""
        return self in (LegType.RUS, LegType.RSU)

    @property
    def universal_at_platform(self) -> bool:
        """Whether the joint at the platform is universal; otherwise it is spherical."""
        return self in (LegType.SPU, LegType.UCU, LegType.RSU)

    @property
    def parts(self) -> tuple[str, str]:
        """The names of its two bodies."""
        return ("crank", "rod") if self.has_crank else ("lower", "upper")

    @property
    def drive(self) -> str:
        """The name of its driven coordinate."""
        return "theta" if self.has_crank else "l"

    @property
    def passive(self) -> tuple[str, ...]:
        """The names of its other coordinates."""
        twist = {LegType.SPU: ("gamma",), LegType.UCU: ("phi",), LegType.RSU: ("gamma",)}
        return ("alpha", "beta", *twist.get(self, ()))


def leg_type(word: str) -> LegType:
    """The leg type of this name; UUU, which is not supported, has a separate message."""
    if word in LegType.__members__:
        return LegType[word]
    known = ", ".join(LegType.__members__)
    if word == "UUU":
        message = "legs UUU have no closed form, and six of them do not allow six degrees of freedom in general"
        raise ModelError(message, remedy=f"write the bodies and loops of the legs, or choose one of {known}")
    raise ModelError(f"unknown leg type '{word}'", remedy=f"choose one of {known}")


@dataclass(frozen=True, slots=True)
class Screw:
    """A ball screw between motor and leg: `lead` in meters per revolution, `inertia` of the rotating parts.

    `efficiency` applies when the motor drives the leg, `back_driving` when the leg drives the motor.
    """

    lead: Expression
    inertia: Expression = ZERO
    efficiency: Expression = ONE
    back_driving: Expression = ONE


@dataclass(frozen=True, slots=True)
class Drive:
    """The forces in the driven joint of a leg; the default is none.

    damping, stiffness (about `rest`): of the joint. coulomb: dry friction, smoothed over rates of about `width`.
    powered: the leg has an input, a force or torque (with a screw, the motor torque). effort: the same as a formula, in
    which `l` (for a crank `theta`) is the leg's coordinate and `l'` its rate. limit: saturation of both together.
    stop: the stiffness at the ends of the stroke, from `shortest` to `longest`.
    """

    damping: Expression = ZERO
    stiffness: Expression = ZERO
    rest: Expression = ZERO
    coulomb: Expression = ZERO
    width: Expression = DEFAULT_WIDTH
    powered: bool = False
    effort: Expression = ZERO
    limit: Expression | None = None
    screw: Screw | None = None
    shortest: Expression | None = None
    longest: Expression | None = None
    stop: Expression = ZERO


@dataclass(frozen=True, slots=True)
class LegKind:
    """The common data of the legs of a table: type, platform, inertia of both parts, lengths, drive."""

    type: LegType
    platform: str
    first: Inertia = field(default_factory=Inertia)
    second: Inertia = field(default_factory=Inertia)
    lengths: tuple[Expression, ...] = ()
    drive: Drive = field(default_factory=Drive)


@dataclass(frozen=True, slots=True)
class LegRow:
    """One leg: the frames of its joints on the base (a body, or the fixed frame) and on the platform.

    The first universal joint of a sliding leg rotates about x of the base frame; a crank rotates about z. A universal
    joint at the platform rotates about y of its frame.
    """

    name: str
    at_base: tuple[Transform, ...]
    at_platform: tuple[Transform, ...]
    base: str | None = None


Tables: TypeAlias = Sequence[tuple[LegKind, Sequence[LegRow]]]
Floats: TypeAlias = npt.NDArray[np.float64]

#: Joints nearer than this, relative to the platform's size, coincide.
_NEAR = 1e-9
#: The number of legs that fix a platform.
_LEGS = 6


def check_tables(mechanism: Mechanism, tables: Tables) -> None:
    """Raise a ModelError for invalid numbers, as far as parameters have values; errors name the leg."""
    _check_names(tables)
    values = _known_values(mechanism)
    for kind, rows in tables:
        leg = f"the leg {rows[0].name}" if len(rows) == 1 else f"the legs {rows[0].name} to {rows[-1].name}"
        for what, amount in zip(("crank", "rod"), kind.lengths, strict=False):
            if not _within(amount, values, above=0):
                raise ModelError(
                    f"the {what} of {leg} is {number(amount, values):g} long",
                    remedy=f"write a positive length; to reverse the {what}, rotate the frame of its joint",
                )
        _check_drive(leg, kind.drive, values)


def _check_names(tables: Tables) -> None:
    found: set[str] = set()
    for _, rows in tables:
        for row in rows:
            if row.name in found:
                raise ModelError(f"two legs have the name {row.name}", remedy="rename one of them")
            found.add(row.name)


def _known_values(mechanism: Mechanism) -> dict[str, Value]:
    try:
        return {**known_parameter_values(mechanism), "pi": np.pi}
    except ModelError:  # validation reports it with the parameter's place
        return {}


def _within(amount: Expression | None, values: Mapping[str, Value], above: float, most: float = np.inf) -> bool:
    """Whether a value is unknown, or above `above` and at most `most`."""
    if amount is None or not names(amount) <= values.keys():
        return True
    try:
        return above < number(amount, values) <= most
    except ModelError:  # division by zero: validation reports the place
        return True


def _check_drive(leg: str, drive: Drive, values: Mapping[str, Value]) -> None:
    for word, amount in (("damping", drive.damping), ("coulomb", drive.coulomb), ("limit", drive.limit)):
        if amount is not None and amount != ZERO and not _within(amount, values, above=-1e-300):
            message = f"`{word}` of {leg} is negative: {number(amount, values):g}"
            raise ModelError(message, remedy="write a number that is zero or positive, or a formula as `effort(...)`")
    if not _within(drive.width, values, above=0):
        message = f"`width` of {leg} is {number(drive.width, values):g}"
        raise ModelError(message, remedy="write the positive rate over which dry friction is smoothed")
    for word, partner in _without_effect(drive):
        message = f"`{word}` of {leg} has no effect without `{partner}`"
        raise ModelError(message, remedy=f"add `{partner}(...)`, or remove `{word}`")
    if drive.screw is not None:
        _check_screw(leg, drive.screw, values)


def _without_effect(drive: Drive) -> Iterator[tuple[str, str]]:
    usual = Drive()
    if drive.stiffness == ZERO and drive.rest != usual.rest:
        yield "rest", "stiffness"
    if drive.coulomb == ZERO and drive.screw is None and drive.width != usual.width:
        yield "width", "coulomb"
    if drive.stop == ZERO and drive.shortest is not None:
        yield "stroke", "stop"
    if drive.stop != ZERO and drive.shortest is None:
        yield "stop", "stroke"


def _check_screw(leg: str, screw: Screw, values: Mapping[str, Value]) -> None:
    if not _within(screw.lead, values, above=0):
        message = f"the lead of the screw of {leg} is {number(screw.lead, values):g} m"
        raise ModelError(message, remedy="write the positive travel per revolution; `effort(-...)` reverses it")
    if not _within(screw.inertia, values, above=-1e-300):
        message = f"the inertia of the screw of {leg} is {number(screw.inertia, values):g} kg m^2"
        raise ModelError(message, remedy="write a number that is zero or positive")
    if not _within(screw.efficiency, values, 0, 1):
        message = f"the efficiency of the screw of {leg} is {number(screw.efficiency, values):g}"
        raise ModelError(message, remedy="write a number above 0 and at most 1")
    if not _within(screw.back_driving, values, 0, 1):
        raise ModelError(
            f"the back-driving efficiency of the screw of {leg} is {number(screw.back_driving, values):g}",
            remedy="write a number above 0 and at most 1; for a self-locking screw, write dry friction above its load, "
            "`coulomb(f)`",
        )


# numeric positions of the joints


def check_places(names_of_legs: Sequence[str], base: Floats, platform: Floats) -> None:
    """Raise a ModelError for coincident legs, and for six joints on one line; rows are points in fixed axes."""
    size = float(max(np.max(np.ptp(base, axis=0)), np.max(np.ptp(platform, axis=0)), 1e-300))
    for j, k in combinations(range(len(base)), 2):
        if max(np.linalg.norm(base[j] - base[k]), np.linalg.norm(platform[j] - platform[k])) < _NEAR * size:
            message = f"the legs {names_of_legs[j]} and {names_of_legs[k]} coincide: their joints have equal positions"
            raise ModelError(message, remedy=f"move a joint of {names_of_legs[k]}, or remove that leg")
    if len(base) < _LEGS:
        return
    for what, points in (("base", base), ("platform", platform)):
        if np.linalg.svd(points - np.mean(points, axis=0), compute_uv=False)[1] < _NEAR * size:
            message = f"the joints of the legs {', '.join(names_of_legs)} on the {what} are collinear"
            raise ModelError(message, remedy="move some of them: the drives cannot prevent a rotation about this line")


# Expansion of a leg table to coordinates, bodies, loops and elements

_X, _Y, _Z = Axis.X, Axis.Y, Axis.Z


@dataclass(frozen=True)
class Leg:
    """The records of one leg."""

    drive: Coordinate
    passive: tuple[Coordinate, ...]
    bodies: tuple[Body, Body]
    loop: Loop
    elements: tuple[Element, ...]
    inputs: tuple[Input, ...]


def written_out(kind: LegKind, row: LegRow) -> Leg:
    """The coordinates, bodies, loop and elements of one leg; their names begin with the leg's name."""
    _check_lengths(kind, row)
    if row.base == kind.platform:
        message = f"the leg {row.name} has the platform {kind.platform} as its base"
        raise ModelError(message, remedy=f"name another base, `{row.name}~Base: ...`, or none for the fixed frame")
    drive = kind.drive
    armature = ZERO if drive.screw is None else drive.screw.inertia * _turns(drive) ** expression(2)
    driven = Coordinate(_name(row, kind.type.drive), ZERO if kind.type.has_crank else ONE, armature=armature)
    passive = tuple(Coordinate(_name(row, word)) for word in kind.type.passive)
    bodies = _crank_and_rod(kind, row) if kind.type.has_crank else _prismatic_parts(kind, row)
    elements, inputs = _acting(kind, row.name, Name(driven.name))
    return Leg(driven, passive, bodies, _loop(kind, row, bodies[1]), elements, inputs)


def with_legs(mechanism: Mechanism, tables: tuple[tuple[LegKind, tuple[LegRow, ...]], ...]) -> Mechanism:
    """The mechanism with all legs of these tables; driven coordinates come first, passive coordinates last."""
    check_tables(mechanism, tables)
    legs = [written_out(kind, row) for kind, rows in tables for row in rows]
    driven = tuple(leg.drive for leg in legs)
    passive = tuple(coordinate for leg in legs for coordinate in leg.passive)
    return replace(
        mechanism,
        coordinates=(*driven, *mechanism.coordinates, *passive),
        bodies=(*mechanism.bodies, *(body for leg in legs for body in leg.bodies)),
        loops=(*mechanism.loops, *(leg.loop for leg in legs)),
        elements=(*mechanism.elements, *(one for leg in legs for one in leg.elements)),
        inputs=(*mechanism.inputs, *(one for leg in legs for one in leg.inputs)),
    )


def _name(row: LegRow, word: str) -> str:
    return f"{row.name}_{word}"


def _check_lengths(kind: LegKind, row: LegRow) -> None:
    wanted = 2 if kind.type.has_crank else 0
    if len(kind.lengths) != wanted:
        example = f"`{kind.type.value}(crank, rod)`" if wanted else f"`{kind.type.value}` alone"
        message = f"the leg {row.name} of type {kind.type.value} takes {wanted} lengths, found {len(kind.lengths)}"
        raise ModelError(message, remedy=f"write {example}")


def _prismatic_parts(kind: LegKind, row: LegRow) -> tuple[Body, Body]:
    def angle(word: str) -> Name:
        return Name(_name(row, word))

    turns: list[Transform] = [Rotation(_X, angle("alpha")), Rotation(_Y, angle("beta"))]
    shift: list[Transform] = [Shift(_Z, angle("l"))]
    if kind.type is LegType.SPU:
        turns.append(Rotation(_Z, angle("gamma")))
    if kind.type is LegType.UCU:
        shift.insert(0, Rotation(_Z, angle("phi")))
    lower = Body(_name(row, "lower"), row.base, (*row.at_base, *turns), kind.first)
    return lower, Body(_name(row, "upper"), lower.name, tuple(shift), kind.second)


def _crank_and_rod(kind: LegKind, row: LegRow) -> tuple[Body, Body]:
    def angle(word: str) -> Name:
        return Name(_name(row, word))

    turns: list[Transform] = [Rotation(_Z, angle("alpha")), Rotation(_Y, angle("beta"))]
    if kind.type is LegType.RSU:
        turns.append(Rotation(_X, angle("gamma")))
    crank = Body(_name(row, "crank"), row.base, (*row.at_base, Rotation(_Z, angle("theta"))), kind.first)
    rod = Body(_name(row, "rod"), crank.name, (Shift(_X, kind.lengths[0]), *turns), kind.second)
    return crank, rod


def _loop(kind: LegKind, row: LegRow, last: Body) -> Loop:
    end: tuple[Transform, ...] = (Shift(_X, kind.lengths[1]),) if kind.type.has_crank else ()
    if not kind.type.universal_at_platform:
        joint = Joint(JointType.SPHERICAL)
    else:
        joint = Joint(JointType.UNIVERSAL, (_Y if kind.type.has_crank else _X, _Y))
    return Loop(_name(row, "joint"), joint, Frame(last.name, end), Frame(kind.platform, row.at_platform))


# forces in the driven joint


def _turns(drive: Drive) -> Expression:
    """The rotation of the screw per meter of leg extension."""
    assert drive.screw is not None
    return 2 * Name(PI) / drive.screw.lead


def _acting(kind: LegKind, leg: str, on: Name) -> tuple[tuple[Element, ...], tuple[Input, ...]]:
    drive = kind.drive
    found: list[Element] = []
    if drive.damping != ZERO:
        found.append(Damper(f"{leg}_damper", on, Linear(drive.damping)))
    if drive.stiffness != ZERO:
        found.append(Spring(f"{leg}_spring", on, Linear(drive.stiffness), drive.rest))
    if drive.coulomb != ZERO:
        found.append(Friction(f"{leg}_friction", on, drive.coulomb, ZERO, drive.width))
    inputs = (Input(f"{leg}_u"),) if drive.powered else ()
    given = [Name(one.name) for one in inputs] + ([] if drive.effort == ZERO else [_law(kind, on)])
    if given:
        effort = given[0] if len(given) == 1 else given[0] + given[1]
        found.append(Force(f"{leg}_drive", _effort(drive, effort, Name(on.text + "'")), on))
    if drive.stop != ZERO:
        found.append(Limit(f"{leg}_stop", on, drive.stop, drive.shortest, drive.longest))
    return tuple(found), inputs


def _law(kind: LegKind, on: Name) -> Expression:
    """The effort as a formula of this leg's driven coordinate and its rate."""
    meanings = {kind.type.drive: on.text, kind.type.drive + "'": on.text + "'"}

    def change(name: Name | Defined) -> Expression:
        return Name(meanings[name.text]) if isinstance(name, Name) and name.text in meanings else name

    return renamed(kind.drive.effort, change)


def _effort(drive: Drive, given: Expression, rate: Expression) -> Expression:
    """The force or torque of the drive: the limited input, transmitted by the screw with its losses."""
    effort = given
    if drive.limit is not None:
        effort = Call("max", (-drive.limit, Call("min", (drive.limit, effort))))
    if drive.screw is None:
        return effort
    force, screw = effort * _turns(drive), drive.screw
    if screw.efficiency == ONE and screw.back_driving == ONE:
        return force
    # Losses are dry friction proportional to the force. It opposes the rate and is smoothed about zero.
    lost = Call("select", (force * rate, ONE - screw.efficiency, ONE / screw.back_driving - ONE))
    return force - Call("abs", (force,)) * lost * Call("tanh", (rate / drive.width,))
