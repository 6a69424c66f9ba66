"""Operations of the formulas of the document, record by record, as they stand: nothing is rearranged or merged.

Zeros and ones are left out, everything else counts: a rotation turns every vector it meets by four products, a shift
adds what it brings. So the two forms of records differ here, as they do in the document; in the graphs of this package
they do not. Vectors are in body axes, positions in the fixed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from kinegraph.model.expression import names
from kinegraph.model.mechanism import ZERO, Mechanism, Rotation, Shift, Transform


class Result(Enum):
    """What is computed; the value is how pages say it. All but positions and structure need velocities too."""

    POSITIONS = "positions and axes of all bodies"
    STRUCTURE = "structure matrices W_R, W_M"
    VELOCITIES = "velocities"
    ACCELERATIONS = "accelerations"
    MASS = "mass matrix from W_R, W_M"
    FORCES = "inertial forces W^T (m a, J eps + w x J w)"


#: What has to be computed before.
_NEEDS = {
    Result.POSITIONS: {Result.POSITIONS},
    Result.STRUCTURE: {Result.STRUCTURE},
    Result.VELOCITIES: {Result.VELOCITIES},
    Result.ACCELERATIONS: {Result.VELOCITIES, Result.ACCELERATIONS},
    Result.MASS: {Result.STRUCTURE, Result.MASS},
    Result.FORCES: {Result.VELOCITIES, Result.ACCELERATIONS, Result.STRUCTURE, Result.FORCES},
}


class Kind(IntEnum):
    """What is known of a number: zero, one, made of parameters alone, or moving."""

    ZERO = 0
    ONE = 1
    STATIC = 2
    MOVING = 3


Vector = list[Kind]


@dataclass
class Ledger:
    """Counts operations; of those between parameters alone only where `statics` count."""

    statics: bool = False
    mul: int = 0
    add: int = 0
    functions: int = 0

    def times(self, a: Kind, b: Kind) -> Kind:
        """The kind of a product, which is counted."""
        if Kind.ZERO in (a, b):
            return Kind.ZERO
        if Kind.ONE in (a, b):
            return max(a, b)
        kind = max(a, b)
        self.mul += kind is Kind.MOVING or self.statics
        return kind

    def plus(self, *terms: Kind) -> Kind:
        """Count the additions of a sum, and return what kind of value it is."""
        present = [term for term in terms if term is not Kind.ZERO]
        if len(present) < 2:
            return present[0] if present else Kind.ZERO
        kind = max(Kind.STATIC, *present)
        self.add += (len(present) - 1) * (kind is Kind.MOVING or self.statics)
        return kind

    def dot(self, a: Sequence[Kind], b: Sequence[Kind]) -> Kind:
        """A scalar product."""
        return self.plus(*(self.times(x, y) for x, y in zip(a, b, strict=True)))

    def cross(self, a: Vector, b: Vector) -> Vector:
        """A vector product."""
        pairs = ((1, 2), (2, 0), (0, 1))
        return [self.plus(self.times(a[i], b[j]), self.times(a[j], b[i])) for i, j in pairs]

    def sum(self, *vectors: Vector) -> Vector:
        """A sum of vectors."""
        return [self.plus(*parts) for parts in zip(*vectors, strict=True)]


def _nothing() -> Vector:
    return [Kind.ZERO] * 3


def _unit(axis: int) -> Vector:
    return [Kind.ONE if place == axis else Kind.ZERO for place in range(3)]


@dataclass
class Frame:
    """What is known of a frame: axes as rows, place, velocities, accelerations, and a column for every coordinate."""

    axes: list[Vector] = field(default_factory=lambda: [_unit(row) for row in range(3)])
    place: Vector = field(default_factory=_nothing)
    angular_velocity: Vector = field(default_factory=_nothing)
    velocity: Vector = field(default_factory=_nothing)
    angular: Vector = field(default_factory=_nothing)
    #: Less gravity, so that its weight acts on every body.
    acceleration: Vector = field(default_factory=lambda: [Kind.ZERO, Kind.ZERO, Kind.STATIC])
    turns: list[Vector] = field(default_factory=list)
    shifts: list[Vector] = field(default_factory=list)


@dataclass
class Counting:
    """One pass over the records."""

    mechanism: Mechanism
    wanted: set[Result]
    ledger: Ledger

    def run(self) -> Ledger:
        """Count all records."""
        frames: dict[str | None, Frame] = {None: Frame()}
        for body in self.mechanism.bodies:
            frame = deepcopy(frames[body.base])
            self._apply(frame, body.transforms)
            frames[body.name] = frame
            centre = deepcopy(frame)
            self._apply(centre, body.inertia.central)
            self._dynamics(centre)
        return self.ledger

    def _apply(self, frame: Frame, transforms: Sequence[Transform]) -> None:
        for one in transforms:
            if isinstance(one, Rotation):
                self._rotate(frame, one)
            elif isinstance(one, Shift) and one.distance != ZERO:
                self._shift(frame, one.axis.value, self._kind(names(one.distance)))

    def _kind(self, used: frozenset[str]) -> Kind:
        return Kind.MOVING if used & set(self.mechanism.layout.positions) else Kind.STATIC

    def _rotate(self, frame: Frame, rotation: Rotation) -> None:
        axis, kind = rotation.axis.value, self._kind(names(rotation.angle))
        self.ledger.functions += 2
        turn = self._turn(axis, kind)
        for vector in self._vectors(frame):
            turn(vector)
        if kind is Kind.MOVING:
            self._joint(frame, axis)

    def _vectors(self, frame: Frame) -> list[Vector]:
        """All that a rotation turns."""
        found = list(frame.axes) if Result.POSITIONS in self.wanted else []
        found += [frame.angular_velocity, frame.velocity] if Result.VELOCITIES in self.wanted else []
        found += [frame.angular, frame.acceleration] if Result.ACCELERATIONS in self.wanted else []
        return [*found, *frame.turns, *frame.shifts]

    def _turn(self, axis: int, kind: Kind) -> Callable[[Vector], None]:
        first, second, ledger = (axis + 1) % 3, (axis + 2) % 3, self.ledger

        def turn(vector: Vector) -> None:
            a, b = vector[first], vector[second]
            vector[first] = ledger.plus(ledger.times(a, kind), ledger.times(b, kind))
            vector[second] = ledger.plus(ledger.times(b, kind), ledger.times(a, kind))

        return turn

    def _joint(self, frame: Frame, axis: int) -> None:
        """A coordinate turns the frame: its rate and acceleration come in."""
        first, second, ledger = (axis + 1) % 3, (axis + 2) % 3, self.ledger
        if Result.ACCELERATIONS in self.wanted:
            for place, other in ((first, second), (second, first)):
                share = ledger.times(frame.angular_velocity[other], Kind.MOVING)
                frame.angular[place] = ledger.plus(frame.angular[place], share)
            frame.angular[axis] = ledger.plus(frame.angular[axis], Kind.MOVING)
        if Result.VELOCITIES in self.wanted:
            frame.angular_velocity[axis] = ledger.plus(frame.angular_velocity[axis], Kind.MOVING)
        if Result.STRUCTURE in self.wanted:
            frame.turns.append(_unit(axis))
            frame.shifts.append(_nothing())

    def _shift(self, frame: Frame, axis: int, kind: Kind) -> None:
        ledger = self.ledger
        arm = [kind if place == axis else Kind.ZERO for place in range(3)]
        if Result.POSITIONS in self.wanted:
            frame.place = ledger.sum(frame.place, [ledger.times(row[axis], kind) for row in frame.axes])
        across = ledger.cross(frame.angular_velocity, arm) if Result.VELOCITIES in self.wanted else _nothing()
        if Result.ACCELERATIONS in self.wanted:
            parts = (ledger.cross(frame.angular, arm), ledger.cross(frame.angular_velocity, across))
            frame.acceleration = ledger.sum(frame.acceleration, *parts)
        frame.velocity = ledger.sum(frame.velocity, across)
        frame.shifts = [
            ledger.sum(shift, ledger.cross(turn, arm)) for turn, shift in zip(frame.turns, frame.shifts, strict=True)
        ]

    def _dynamics(self, centre: Frame) -> None:
        """Mass and principal moments act on what the central frame does."""
        columns = list(zip(centre.shifts, centre.turns, strict=True))
        if Result.FORCES in self.wanted:
            force, moment = self._scaled(centre.acceleration), self._euler(centre)
            for shift, turn in columns:
                self.ledger.dot((*shift, *turn), (*force, *moment))
        if Result.MASS in self.wanted:
            for place, (shift, turn) in enumerate(columns):
                scaled = (*self._scaled(shift), *self._scaled(turn))
                for other in columns[: place + 1]:
                    self.ledger.dot(scaled, (*other[0], *other[1]))

    def _scaled(self, vector: Vector) -> Vector:
        return [self.ledger.times(Kind.STATIC, part) for part in vector]

    def _euler(self, centre: Frame) -> Vector:
        """J eps + w x J w with the differences of principal moments computed before."""
        w, ledger = centre.angular_velocity, self.ledger
        gyroscopic = [ledger.times(Kind.STATIC, ledger.times(w[i], w[j])) for i, j in ((1, 2), (2, 0), (0, 1))]
        return ledger.sum(self._scaled(centre.angular), gyroscopic)


def counted(mechanism: Mechanism, results: Sequence[Result], statics: bool = False) -> Ledger:
    """The operations of some results, each computed once; `statics`: also those between parameters alone."""
    wanted = {need for result in results for need in _NEEDS[result]}
    return Counting(mechanism, wanted, Ledger(statics)).run()
