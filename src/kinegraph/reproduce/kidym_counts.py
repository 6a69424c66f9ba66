"""KiDyM's published operation counts, compared with several outputs and counting rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from functools import cache, cached_property
from math import log

from kinegraph.compiler.derive import Derivations, derived
from kinegraph.compiler.mechanism_source import load
from kinegraph.compiler.reduce import reduced
from kinegraph.compiler.request import request_of
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.model.expressions import names
from kinegraph.model.mechanism import ZERO, Mechanism, Rotation, Shift, Transform
from kinegraph.passes.effort import Effort

# Operations of the document's formulas, record by record, as written: nothing is rearranged or merged. Zeros and ones
# are omitted, everything else counts: a rotation rotates every vector by four products, a translation adds its terms.
# So the two forms of records differ here, as they do in the document; in the graphs of this package they do not.
# Vectors are in body axes, positions in the fixed ones.


class Result(Enum):
    """The computed quantity; the value is its name on pages. All but positions and structure also need velocities."""

    POSITIONS = "positions and axes of all bodies"
    STRUCTURE = "structure matrices W_R, W_M"
    VELOCITIES = "velocities"
    ACCELERATIONS = "accelerations"
    MASS = "mass matrix from W_R, W_M"
    FORCES = "inertial forces W^T (m a, J eps + w x J w)"


#: The prerequisites of each result.
_NEEDS = {
    Result.POSITIONS: {Result.POSITIONS},
    Result.STRUCTURE: {Result.STRUCTURE},
    Result.VELOCITIES: {Result.VELOCITIES},
    Result.ACCELERATIONS: {Result.VELOCITIES, Result.ACCELERATIONS},
    Result.MASS: {Result.STRUCTURE, Result.MASS},
    Result.FORCES: {Result.VELOCITIES, Result.ACCELERATIONS, Result.STRUCTURE, Result.FORCES},
}


class Known(IntEnum):
    """The kind of a number: zero, one, made of parameters alone, or moving."""

    ZERO = 0
    ONE = 1
    STATIC = 2
    MOVING = 3


Vector = list[Known]


@dataclass
class Ledger:
    """Counts operations; those between parameters alone only if `statics` counts them."""

    statics: bool = False
    mul: int = 0
    add: int = 0
    functions: int = 0

    def times(self, a: Known, b: Known) -> Known:
        """The kind of a product, which is counted."""
        if Known.ZERO in (a, b):
            return Known.ZERO
        if Known.ONE in (a, b):
            return max(a, b)
        kind = max(a, b)
        self.mul += kind is Known.MOVING or self.statics
        return kind

    def plus(self, *terms: Known) -> Known:
        """Count the additions of a sum, and return the kind of its value."""
        present = [term for term in terms if term is not Known.ZERO]
        if len(present) < 2:
            return present[0] if present else Known.ZERO
        kind = max(Known.STATIC, *present)
        self.add += (len(present) - 1) * (kind is Known.MOVING or self.statics)
        return kind

    def dot(self, a: Sequence[Known], b: Sequence[Known]) -> Known:
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
    return [Known.ZERO] * 3


def _unit(axis: int) -> Vector:
    return [Known.ONE if place == axis else Known.ZERO for place in range(3)]


@dataclass
class Frame:
    """The data of a frame: axes as rows, position, velocities, accelerations, and a column for every coordinate."""

    axes: list[Vector] = field(default_factory=lambda: [_unit(row) for row in range(3)])
    place: Vector = field(default_factory=_nothing)
    angular_velocity: Vector = field(default_factory=_nothing)
    velocity: Vector = field(default_factory=_nothing)
    angular: Vector = field(default_factory=_nothing)
    #: Minus gravity, so that its weight acts on every body.
    acceleration: Vector = field(default_factory=lambda: [Known.ZERO, Known.ZERO, Known.STATIC])
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
            center = deepcopy(frame)
            self._apply(center, body.inertia.central)
            self._dynamics(center)
        return self.ledger

    def _apply(self, frame: Frame, transforms: Sequence[Transform]) -> None:
        for one in transforms:
            if isinstance(one, Rotation):
                self._rotate(frame, one)
            elif isinstance(one, Shift) and one.distance != ZERO:
                self._shift(frame, one.axis.value, self._kind(names(one.distance)))

    def _kind(self, used: frozenset[str]) -> Known:
        return Known.MOVING if used & set(self.mechanism.layout.positions) else Known.STATIC

    def _rotate(self, frame: Frame, rotation: Rotation) -> None:
        axis, kind = rotation.axis.value, self._kind(names(rotation.angle))
        self.ledger.functions += 2
        turn = self._turn(axis, kind)
        for vector in self._vectors(frame):
            turn(vector)
        if kind is Known.MOVING:
            self._joint(frame, axis)

    def _vectors(self, frame: Frame) -> list[Vector]:
        """Everything that a rotation rotates."""
        found = list(frame.axes) if Result.POSITIONS in self.wanted else []
        found += [frame.angular_velocity, frame.velocity] if Result.VELOCITIES in self.wanted else []
        found += [frame.angular, frame.acceleration] if Result.ACCELERATIONS in self.wanted else []
        return [*found, *frame.turns, *frame.shifts]

    def _turn(self, axis: int, kind: Known) -> Callable[[Vector], None]:
        first, second, ledger = (axis + 1) % 3, (axis + 2) % 3, self.ledger

        def turn(vector: Vector) -> None:
            a, b = vector[first], vector[second]
            vector[first] = ledger.plus(ledger.times(a, kind), ledger.times(b, kind))
            vector[second] = ledger.plus(ledger.times(b, kind), ledger.times(a, kind))

        return turn

    def _joint(self, frame: Frame, axis: int) -> None:
        """A coordinate rotates the frame: its rate and acceleration enter."""
        first, second, ledger = (axis + 1) % 3, (axis + 2) % 3, self.ledger
        if Result.ACCELERATIONS in self.wanted:
            for place, other in ((first, second), (second, first)):
                share = ledger.times(frame.angular_velocity[other], Known.MOVING)
                frame.angular[place] = ledger.plus(frame.angular[place], share)
            frame.angular[axis] = ledger.plus(frame.angular[axis], Known.MOVING)
        if Result.VELOCITIES in self.wanted:
            frame.angular_velocity[axis] = ledger.plus(frame.angular_velocity[axis], Known.MOVING)
        if Result.STRUCTURE in self.wanted:
            frame.turns.append(_unit(axis))
            frame.shifts.append(_nothing())

    def _shift(self, frame: Frame, axis: int, kind: Known) -> None:
        ledger = self.ledger
        arm = [kind if place == axis else Known.ZERO for place in range(3)]
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

    def _dynamics(self, center: Frame) -> None:
        """Mass and principal moments act on the motion of the central frame."""
        columns = list(zip(center.shifts, center.turns, strict=True))
        if Result.FORCES in self.wanted:
            force, moment = self._scaled(center.acceleration), self._euler(center)
            for shift, turn in columns:
                self.ledger.dot((*shift, *turn), (*force, *moment))
        if Result.MASS in self.wanted:
            for place, (shift, turn) in enumerate(columns):
                scaled = (*self._scaled(shift), *self._scaled(turn))
                for other in columns[: place + 1]:
                    self.ledger.dot(scaled, (*other[0], *other[1]))

    def _scaled(self, vector: Vector) -> Vector:
        return [self.ledger.times(Known.STATIC, part) for part in vector]

    def _euler(self, center: Frame) -> Vector:
        """J eps + w x J w with precomputed differences of principal moments."""
        w, ledger = center.angular_velocity, self.ledger
        gyroscopic = [ledger.times(Known.STATIC, ledger.times(w[i], w[j])) for i, j in ((1, 2), (2, 0), (0, 1))]
        return ledger.sum(self._scaled(center.angular), gyroscopic)


def counted(mechanism: Mechanism, results: Sequence[Result], statics: bool = False) -> Ledger:
    """The operations of some results, each computed once; `statics`: also those between parameters alone."""
    wanted = {need for result in results for need in _NEEDS[result]}
    return Counting(mechanism, wanted, Ledger(statics)).run()


# Outputs and counting rules beside the printed counts of the walking legs. The document gives 724, 695, 2 and 28 for
# the old form of records, 364, 421, 2 and 28 for the new one, and does not say what is computed or counted.

MODELS = {"old": "kidym-biped-old", "new": "kidym-biped-new"}
PRINTED = {"old": Operations(mul=724, add=695, div=2), "new": Operations(mul=364, add=421, div=2)}
FUNCTIONS = 28

#: Possible outputs, by the names of quantities.
OUTPUTS = ("H", "gravity", "bias", "tau", "H,gravity", "H,bias", "qdd", "energy", "momentum", "pose", "jacobian")

#: Outputs that are equations of motion or part of them.
EQUATIONS = ("H", "gravity", "bias", "tau", "H,gravity", "H,bias", "qdd")

#: The rule of counting that `kinegraph count` has.
REDUCED = "reduced"

#: The suffix of a rule that also counts operations between parameters alone.
COUNTED = "parameters counted"

#: The same by the formulas of the document, record by record.
FORMULAS = (
    (Result.POSITIONS,),
    (Result.STRUCTURE,),
    (Result.POSITIONS, Result.STRUCTURE),
    (Result.VELOCITIES,),
    (Result.ACCELERATIONS,),
    (Result.POSITIONS, Result.VELOCITIES, Result.STRUCTURE),
    (Result.ACCELERATIONS, Result.STRUCTURE),
    (Result.MASS,),
    (Result.FORCES,),
    (Result.MASS, Result.FORCES),
)


@dataclass(frozen=True)
class Tally:
    """Operations of one output by one counting rule."""

    output: str
    rule: str
    mul: int
    add: int
    functions: int

    def distance(self, printed: Operations) -> float:
        """The distance of both counts from the printed ones, in logarithms: 0.1 is about ten percent."""
        return abs(log(self.mul / printed.mul)) + abs(log(self.add / printed.add))

    def __str__(self) -> str:
        total = self.mul + self.add + self.functions
        return f"{self.mul} + {self.add}, {self.functions} functions, {total} with each function as one"


@dataclass(frozen=True)
class Form:
    """All tallies for one form of the records."""

    name: str

    @cached_property
    def mechanism(self) -> Mechanism:
        """The legs in this form."""
        return load(MODELS[self.name])

    @property
    def printed(self) -> Operations:
        """The printed counts."""
        return PRINTED[self.name]

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """Every output by every rule."""
        return (*self.graphs, *self.formulas)

    @property
    def nearest(self) -> Tally:
        """The tally nearest to the printed counts."""
        return min(self.tallies, key=lambda one: one.distance(self.printed))

    @cached_property
    def graphs(self) -> tuple[Tally, ...]:
        """By our graphs."""
        return tuple(self._graphs())

    @property
    def equations(self) -> tuple[Tally, ...]:
        """Equations of motion, reduced, without operations on parameters alone."""
        return tuple(one for one in self.graphs if one.rule == REDUCED and one.output in EQUATIONS)

    @cached_property
    def formulas(self) -> tuple[Tally, ...]:
        """By the formulas of the document."""
        return tuple(self._formulas())

    def _graphs(self) -> Iterator[Tally]:
        for output in OUTPUTS:
            request = request_of(self.mechanism, self._words(output), numeric=False, effort=Effort.QUICK)
            derivations = Derivations(request)
            first, _ = derivations.first(derived(derivations).plan)
            for rule, graph in ((REDUCED, reduced(derivations).graph), ("as first derived", first)):
                yield _tally(output, rule, count(graph))
                yield _tally(output, f"{rule}, {COUNTED}", count(_moving(graph)))

    def _words(self, output: str) -> str:
        """Poses and Jacobians are of all bodies."""
        if output not in ("pose", "jacobian"):
            return output
        return ",".join(f"{output}:{body.name}" for body in self.mechanism.bodies)

    def _formulas(self) -> Iterator[Tally]:
        for results in FORMULAS:
            for statics in (False, True):
                found = counted(self.mechanism, results, statics)
                rule = "record by record" + (f", {COUNTED}" if statics else "")
                yield Tally(" and ".join(one.value for one in results), rule, found.mul, found.add, found.functions)


@cache
def both_forms() -> Mapping[str, Form]:
    """The old and the new form; their tallies are cached."""
    return {name: Form(name) for name in MODELS}


def both_nearest(forms: Mapping[str, Form]) -> tuple[str, str, float]:
    """Output and rule that are nearest to both printed pairs at once, and their distance."""
    tables = {name: {(one.output, one.rule): one for one in form.tallies} for name, form in forms.items()}
    old, new = tables["old"], tables["new"]

    def distance(key: tuple[str, str]) -> float:
        return old[key].distance(PRINTED["old"]) + new[key].distance(PRINTED["new"])

    best = min(old.keys() & new.keys(), key=distance)
    return (*best, distance(best))


def _tally(output: str, rule: str, operations: Operations) -> Tally:
    return Tally(output, rule, operations.mul, operations.add, operations.sin + operations.cos)


def _moving(graph: Graph) -> Graph:
    """The graph with parameters as coordinates: then nothing is precomputed, and everything counts."""
    builder = GraphBuilder()

    def symbol(one: Symbol) -> int:
        return builder.symbol(Kind.COORDINATE if one.kind is Kind.PARAMETER else one.kind, one.name)

    return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))
