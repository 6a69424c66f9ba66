"""From the rows of a leg table to ordinary coordinates, bodies, loops and elements."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinegraph.errors import ModelError
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import Frame, Joint, Loop
from kinegraph.model.elements import Damper, Element, Force, Friction, Input, Limit, Linear, Spring
from kinegraph.model.expression import PI, Call, Defined, Expression, Name, expression, renamed
from kinegraph.model.mechanism import ONE, ZERO, Axis, Body, Coordinate, Mechanism, Rotation, Shift, Transform
from kinegraph.model.platforms.checks import check_tables
from kinegraph.model.platforms.records import Drive, LegKind, LegRow, LegType

_X, _Y, _Z = Axis.X, Axis.Y, Axis.Z


@dataclass(frozen=True)
class Leg:
    """One leg written out."""

    drive: Coordinate
    passive: tuple[Coordinate, ...]
    bodies: tuple[Body, Body]
    loop: Loop
    elements: tuple[Element, ...]
    inputs: tuple[Input, ...]


def written_out(kind: LegKind, row: LegRow) -> Leg:
    """The coordinates, bodies, loop and elements of one leg; their names begin with the leg's."""
    _check_lengths(kind, row)
    if row.base == kind.ring:
        message = f"the leg {row.name} stands on {kind.ring}, which it carries"
        raise ModelError(message, remedy=f"name another body, `{row.name}~Base: ...`, or none for the fixed frame")
    drive = kind.drive
    armature = ZERO if drive.screw is None else drive.screw.inertia * _turns(drive) ** expression(2)
    driven = Coordinate(_name(row, kind.type.drive), ZERO if kind.type.has_crank else ONE, armature=armature)
    passive = tuple(Coordinate(_name(row, word)) for word in kind.type.passive)
    bodies = _crank_and_rod(kind, row) if kind.type.has_crank else _prismatic_parts(kind, row)
    elements, inputs = _acting(kind, row.name, Name(driven.name))
    return Leg(driven, passive, bodies, _loop(kind, row, bodies[1]), elements, inputs)


def with_legs(mechanism: Mechanism, tables: tuple[tuple[LegKind, tuple[LegRow, ...]], ...]) -> Mechanism:
    """The mechanism with all legs of these tables; driven coordinates come first, passive ones last."""
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
    if not kind.type.universal_at_ring:
        joint = Joint(JointType.SPHERICAL)
    else:
        joint = Joint(JointType.UNIVERSAL, (_Y if kind.type.has_crank else _X, _Y))
    return Loop(_name(row, "joint"), joint, Frame(last.name, end), Frame(kind.ring, row.at_ring))


# what acts in the driven joint


def _turns(drive: Drive) -> Expression:
    """How far the screw turns when the leg grows by one metre."""
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
    """The effort as a formula of this leg's own driven coordinate and its rate."""
    meanings = {kind.type.drive: on.text, kind.type.drive + "'": on.text + "'"}

    def change(name: Name | Defined) -> Expression:
        return Name(meanings[name.text]) if isinstance(name, Name) and name.text in meanings else name

    return renamed(kind.drive.effort, change)


def _effort(drive: Drive, given: Expression, rate: Expression) -> Expression:
    """The force or torque of the drive: the input within its limit, through the screw with its losses."""
    effort = given
    if drive.limit is not None:
        effort = Call("max", (-drive.limit, Call("min", (drive.limit, effort))))
    if drive.screw is None:
        return effort
    force, screw = effort * _turns(drive), drive.screw
    if screw.efficiency == ONE and screw.back_driving == ONE:
        return force
    # Losses are dry friction in proportion to the force. It acts against the rate and is smoothed about zero.
    lost = Call("select", (force * rate, ONE - screw.efficiency, ONE / screw.back_driving - ONE))
    return force - Call("abs", (force,)) * lost * Call("tanh", (rate / drive.width,))
