"""A mechanism with numbers for its parameters as flat arrays: the form that compiled recursions run over."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kinegraph.derive.tree.expressions import scalar_of
from kinegraph.errors import ModelError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import ForwardDerivative, gradient
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.model.constraints import Loop, refuse_constraints
from kinegraph.model.evaluate import Value, float_values, number, parameter_values
from kinegraph.model.expressions import PI, TIME, Call, Compound, Expression, Name, Number, names, postorder
from kinegraph.model.expressions import Scalar as ModelScalar
from kinegraph.model.mechanism import (
    ZERO,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Quaternion,
    Rotation,
    Shift,
    Transform,
    amounts,
)
from kinegraph.recursive import entries
from kinegraph.recursive.arrays import (
    AXIS,
    GROUND,
    INERTIA,
    KIND,
    MASS,
    MOMENT,
    OFFSET,
    PARENT,
    PLACEMENT,
    POSITION,
    QUATERNION,
    ROTATION,
    SHIFT,
    SLOT,
    VELOCITY,
    Displacement,
    Integers,
    Linear,
    Tree,
    Vector,
)

# What the constants of a mechanism are: doubles for the loops that run, nodes of a graph where loops are proved.


class Numbers:
    """Doubles; `proof.exact` has nodes of a graph in their place."""

    def __init__(self, parameters: Mapping[str, float]) -> None:
        self.parameters = parameters

    def constant(self, root: Expression) -> float:
        """The value of an expression in parameters. Most are plain numbers, and there may be a million of them."""
        if root is ZERO:
            return 0.0
        if isinstance(root, Number):
            try:
                return root.value.numerator / root.value.denominator
            except OverflowError:
                pass  # said in words below
        return number(root, self.parameters)

    def folded(self, here: Compound, parts: Sequence[float]) -> float:
        """An operator or function of known values."""
        operands = tuple(Number(Fraction(part)) for part in parts)
        return number(here.with_parts(operands), {})

    def cosine_and_sine(self, angle: float) -> tuple[float, float]:
        """Both of a constant angle."""
        return math.cos(angle), math.sin(angle)

    def array(self, values: Sequence[object]) -> Floats:
        """Values, or rows of them, as an array."""
        return np.array(values, dtype=np.float64)

    def zeros(self, *shape: int) -> Floats:
        """An array of zeros."""
        return np.zeros(shape)


def vanishes(value: float | Scalar) -> bool:
    """Whether a constant is zero."""
    return value.is_zero if isinstance(value, Scalar) else not value


# Expressions as linear forms with numeric coefficients, where they are linear.


def moves_with_time(loop: Loop) -> bool:
    """Does explicit time move a frame of this loop on its body? Recursive algorithms take fixed frames only."""
    transforms = (*loop.first.transforms, *loop.second.transforms)
    return any(TIME in names(amount) for transform in transforms for amount in amounts(transform))


@dataclass(slots=True)
class Affine:
    """constant + sum of slopes[name] * name; no slope is zero."""

    constant: float
    slopes: dict[str, float] = field(default_factory=dict)

    def scale(self, factor: float) -> Affine:
        """This form times a number."""
        slopes = {} if vanishes(factor) else {name: slope * factor for name, slope in self.slopes.items()}
        return Affine(self.constant * factor, slopes)

    def add(self, other: Affine, sign: int) -> Affine:
        """This form plus or minus another. Changes the form itself, so that a sum of n names takes n steps."""
        self.constant += sign * other.constant
        for name, slope in other.slopes.items():
            total = self.slopes.get(name, 0) + sign * slope
            if vanishes(total):
                self.slopes.pop(name, None)
            else:
                self.slopes[name] = total
        return self


def affine(root: Expression, numbers: Numbers, moving: Collection[str]) -> Affine | None:
    """The expression as a linear form in the names of `moving`, or None if it is not linear in them."""
    if isinstance(root, Number):
        return Affine(numbers.constant(root))
    results: list[Affine] = []
    for here in postorder(root):
        if isinstance(here, Compound):
            count = len(here.parts)
            result = _compound(here, results[len(results) - count :], numbers)
            if result is None:
                return None
            results[len(results) - count :] = [result]
        elif isinstance(here, Name) and here.text in moving:
            results.append(Affine(0, {here.text: 1}))
        else:
            results.append(Affine(numbers.constant(here)))
    return results[0]


def _compound(here: Compound, parts: list[Affine], numbers: Numbers) -> Affine | None:
    if not any(part.slopes for part in parts):
        return Affine(numbers.folded(here, [part.constant for part in parts]))
    if isinstance(here, Call):
        return None
    match here.head, parts:
        case "neg", [operand]:
            return operand.scale(-1)
        case "+" | "-", [left, right]:
            return left.add(right, 1 if here.head == "+" else -1)
        case "*", [left, right] if not right.slopes:
            return left.scale(right.constant)
        case "*", [left, right] if not left.slopes:
            return right.scale(left.constant)
        case "/", [left, right] if not right.slopes:
            return _quotient(left, right.constant)
    return None


def _quotient(form: Affine, divisor: float) -> Affine | None:
    if vanishes(divisor):
        return None  # the graph says what is wrong, with the expression in its message
    return Affine(form.constant / divisor, {name: slope / divisor for name, slope in form.slopes.items()})


# Constant places: frames fixed to a step, in plain floats (an array per frame would cost ten times as much).

Row = tuple[float, ...]

UNTURNED: Row = (1, 0, 0, 0, 1, 0, 0, 0, 1)
ORIGIN: Row = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame seen from a step: its axes (columns of a matrix, row by row) and its origin."""

    step: int = 0
    turn: Row = UNTURNED
    origin: Row = ORIGIN

    def moved(self, transform: Rotation | Shift, amount: float, numbers: Numbers) -> Frame:
        """The frame reached by one elementary transform."""
        x, y, z = transform.axis.value, (transform.axis.value + 1) % 3, (transform.axis.value + 2) % 3
        m = self.turn
        if isinstance(transform, Shift):
            a, b, c = self.origin
            return Frame(self.step, m, (a + m[x] * amount, b + m[x + 3] * amount, c + m[x + 6] * amount))
        cosine, sine = numbers.cosine_and_sine(amount)
        turned = list(m)
        for row in (0, 3, 6):
            turned[row + y] = cosine * m[row + y] + sine * m[row + z]
            turned[row + z] = cosine * m[row + z] - sine * m[row + y]
        return Frame(self.step, tuple(turned), self.origin)

    def turned(self, turn: Row) -> Frame:
        """The frame turned by a matrix given in its own axes."""
        m = self.turn
        product = (sum(m[row + k] * turn[3 * k + column] for k in range(3)) for row in (0, 3, 6) for column in range(3))
        return Frame(self.step, tuple(product), self.origin)


def quaternion_matrix(w: float, x: float, y: float, z: float) -> Row:
    """The rotation matrix of a quaternion of any length but zero."""
    square = w * w + x * x + y * y + z * z
    if vanishes(square):
        raise ModelError("a quaternion is zero and gives no direction", remedy="write e.g. `Q(1, 0, 0, 0)`")
    k = 2 / square
    return (
        1 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y),
        k * (x * y + w * z), 1 - k * (x * x + z * z), k * (y * z - w * x),
        k * (x * z - w * y), k * (y * z + w * x), 1 - k * (x * x + y * y),
    )  # fmt: skip


# Displacements that are no linear form: graphs with their derivatives, evaluated by the interpreter.
#
# Slow (microseconds per node) but exact in what it means; few transforms of a large mechanism are of this kind.

Floats = NDArray[np.float64]


class NonlinearDisplacements:
    """Values, rates, accelerations and partial derivatives of some displacements, in the order they were given."""

    def __init__(
        self, mechanism: Mechanism, expressions: Sequence[Expression], parameters: Mapping[str, Value]
    ) -> None:
        self._names = (mechanism.layout.positions, mechanism.layout.velocities, mechanism.layout.accelerations)
        ordinary = [c.name for c in mechanism.coordinates if isinstance(c, Coordinate)]
        self.graph = _graph(expressions, ordinary, parameters)

    def __call__(self, q: Floats, v: Floats, a: Floats, t: float) -> tuple[Floats, Floats, Floats, Floats]:
        """p, p', p'', and dp/dq by each coordinate of `depends_on`, one displacement after the other."""
        result = interpret(self.graph, self.named(q, v, a, t))
        return result["p"], result["p'"], result["p''"], result["slope"]

    def named(self, q: Floats, v: Floats, a: Floats, t: float) -> dict[str, float]:
        """The values of all symbols of the graph by name."""
        values: dict[str, float] = {TIME: t}
        for labels, numbers in zip(self._names, (q, v, a), strict=True):
            values.update(zip(labels, numbers.tolist(), strict=True))
        return values


def depends_on(expression: Expression, order: Mapping[str, int]) -> list[str]:
    """The coordinates an expression mentions, sorted by the place `order` gives each."""
    return sorted(names(expression) & order.keys(), key=order.__getitem__)


def _graph(expressions: Sequence[Expression], ordinary: Sequence[str], parameters: Mapping[str, Value]) -> Graph:
    builder = GraphBuilder()
    order = {name: index for index, name in enumerate(ordinary)}
    q, v, a = (
        [builder.symbol(kind, name + mark) for name in ordinary]
        for kind, mark in ((Kind.COORDINATE, ""), (Kind.VELOCITY, "'"), (Kind.ACCELERATION, "''"))
    )
    time = builder.symbol(Kind.TIME, TIME)
    leaves = {TIME: time, PI: builder.pi(), **dict(zip(ordinary, q, strict=True))}
    leaves |= {name: builder.number(Fraction(value)) for name, value in parameters.items()}
    p = [_node(builder, expression, leaves) for expression in expressions]
    along_motion = ForwardDerivative(builder, dict(zip(q + v, v + a, strict=True)) | {time: builder.number(1)})
    rate = [along_motion(root) for root in p]
    acceleration = [along_motion(root) for root in rate]
    slope = [
        derivative
        for root, expression in zip(p, expressions, strict=True)
        for derivative in gradient(builder, root, [leaves[name] for name in depends_on(expression, order)])
    ]
    outputs = {"p": p, "p'": rate, "p''": acceleration, "slope": slope}
    return builder.graph(Output(name, (len(nodes),), tuple(nodes)) for name, nodes in outputs.items())


def _node(builder: GraphBuilder, root: Expression, leaves: Mapping[str, int]) -> int:
    return scalar_of(builder, root, lambda name: Scalar(builder, leaves[name])).index


# A mechanism with numbers for its parameters as flat arrays: the form the compiled loops run over.
#
# Constant transforms are multiplied out here, and bodies join the moving step they are fixed to, so that the loops see
# one step per moving elementary transform. Time and memory are linear in the size of the mechanism.


@dataclass(frozen=True)
class FlatMechanism:
    """The arrays of the loops, and what must be asked for at every instant."""

    tree: Tree
    linear: Linear
    body: Integers  #: the body each step belongs to, -1 for the ground
    nonlinear: NonlinearDisplacements | None
    nonlinear_steps: Integers  #: steps whose displacement the interpreter gives
    nonlinear_entries: Integers  #: entries of dp/dq the interpreter gives
    constant_gravity: Vector | None  #: None if gravity depends on time
    gravity_at: Callable[[float], Vector]
    frames: Mapping[str | None, Frame]  #: where every body sits on its step
    numbers: Numbers

    def fixed(self, body: str | None, transforms: Sequence[Transform]) -> Frame:
        """A frame that constant transforms lead to from a body's."""
        return constant_frame(self.frames[body], transforms, self.numbers)

    def gravity(self, t: float) -> Vector:
        """The acceleration of free fall, in the fixed frame."""
        return self.gravity_at(t) if self.constant_gravity is None else self.constant_gravity

    def displaced(self, q: Floats, v: Floats, a: Floats, t: float) -> Displacement:
        """The displacements of all steps and their derivatives."""
        moved = entries.displacements(self.tree, self.linear, q, v, a, t)
        if self.nonlinear is None:
            return moved
        value, rate, acceleration, slope = self.nonlinear(q, v, a, t)
        moved.value[self.nonlinear_steps] = value
        moved.rate[self.nonlinear_steps] = rate
        moved.acceleration[self.nonlinear_steps] = acceleration
        slopes = moved.slope.copy()
        slopes[self.nonlinear_entries] = slope
        return moved._replace(slope=slopes)


@dataclass(slots=True)
class _Step:
    """A placement and the elementary transform that moves after it."""

    place: Frame
    kind: int
    body: int
    axis: int = 0
    position: int = -1
    velocity: int = -1
    form: Affine = field(default_factory=lambda: Affine(0))
    nonlinear: Expression | None = None


@dataclass(frozen=True, slots=True)
class _RigidBody:
    """Mass and moments as the model states them, along the axes of a frame in the center of mass."""

    frame: Frame
    mass: float
    moments: Row  #: Jx, Jy, Jz, Jxy, Jyz, Jxz


def flatten(mechanism: Mechanism, overrides: Mapping[str, ModelScalar] | None = None) -> FlatMechanism:
    """The flat form of a mechanism; `overrides` give or replace values of parameters."""
    refuse_constraints(mechanism, "recursive algorithms for mechanisms with loops or constraints")
    if mechanism.elements:
        message = f"{mechanism.name} has elements ({mechanism.elements[0].name}, ...): recursive algorithms take none"
        raise ModelError(message, remedy="compile it without loops (loops=False), or leave the elements out")
    return flattened_tree(mechanism, overrides)


def flattened_tree(
    mechanism: Mechanism, overrides: Mapping[str, ModelScalar] | None = None, numbers: Numbers | None = None
) -> FlatMechanism:
    """The flat form of a mechanism's tree, whatever ties or pulls it beside; doubles unless there are `numbers`."""
    exact = parameter_values(mechanism, overrides)
    flattener = _Flattener(mechanism, exact, numbers or Numbers(float_values(exact)))
    for index, body in _outwards(mechanism):
        flattener.add(index, body)
    return flattener.finish()


def _outwards(mechanism: Mechanism) -> Iterator[tuple[int, Body]]:
    """Bodies with their indices, each after its base, chains in one run."""
    standing: dict[str | None, list[int]] = {}
    for index, body in enumerate(mechanism.bodies):
        standing.setdefault(body.base, []).append(index)
    waiting = standing.pop(None, [])[::-1]
    while waiting:
        index = waiting.pop()
        yield index, mechanism.bodies[index]
        waiting.extend(reversed(standing.pop(mechanism.bodies[index].name, [])))
    if standing:
        lost = mechanism.bodies[next(iter(standing.values()))[0]]
        message = f"{lost.name} stands on {lost.base}, from which no way leads to the fixed frame"
        raise ModelError(message, remedy="name a body that exists, and let no bases go in a circle")


class _Flattener:
    """Goes outwards through the bodies and collects steps and inertias."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Value], numbers: Numbers) -> None:
        self.mechanism = mechanism
        self.exact = parameters
        self.numbers = numbers
        self.positions, self.velocities = _places(mechanism)
        self.moving = {c.name for c in mechanism.coordinates if isinstance(c, Coordinate)} | {TIME}
        self.quaternions = {c.names: c for c in mechanism.coordinates if not isinstance(c, Coordinate)}
        self.steps = [_Step(Frame(), GROUND, -1)]
        self.rigid: list[_RigidBody] = []
        self.frames: dict[str | None, Frame] = {None: Frame()}

    def add(self, index: int, body: Body) -> None:
        """Append the steps of one body and note its inertia."""
        here = self.frames[body.base]
        for transform in body.transforms:
            here = self._transform(index, here, transform)
        self.frames[body.name] = here
        self._inertia(body.inertia, here)

    def _transform(self, index: int, here: Frame, transform: Transform) -> Frame:
        if isinstance(transform, Quaternion):
            return self._quaternion(index, here, transform)
        revolute = isinstance(transform, Rotation)
        expression = transform.angle if isinstance(transform, Rotation) else transform.distance
        form = affine(expression, self.numbers, self.moving)
        if form is not None and not form.slopes:
            return here.moved(transform, form.constant, self.numbers)
        step = _Step(here, ROTATION if revolute else SHIFT, index, transform.axis.value)
        if form is not None:
            step.form = form
        else:
            step.nonlinear = expression
            step.form = Affine(0, dict.fromkeys(depends_on(expression, self.velocities), 0))
        return self._moving(step)

    def _quaternion(self, index: int, here: Frame, transform: Quaternion) -> Frame:
        group = tuple(c.text if isinstance(c, Name) else "" for c in transform.components)
        if len(group) == 4 and group in self.quaternions:
            own = self.quaternions[group]
            position, velocity = self.positions[own.names[0]], self.velocities[own.names[0]]
            return self._moving(_Step(here, QUATERNION, index, position=position, velocity=velocity))
        w, x, y, z = map(self.numbers.constant, transform.components)
        return here.turned(quaternion_matrix(w, x, y, z))

    def _moving(self, step: _Step) -> Frame:
        self.steps.append(step)
        return Frame(len(self.steps) - 1)

    def _inertia(self, inertia: Inertia, here: Frame) -> None:
        here = constant_frame(here, inertia.central, self.numbers)
        stated = (inertia.Jx, inertia.Jy, inertia.Jz, inertia.Jxy, inertia.Jyz, inertia.Jxz)
        moments = tuple(map(self.numbers.constant, stated))
        self.rigid.append(_RigidBody(here, self.numbers.constant(inertia.mass), moments))

    def finish(self) -> FlatMechanism:
        """All that was collected, as arrays."""
        steps, array = self.steps, self.numbers.array
        drift = array([step.form.slopes.pop(TIME, 0) for step in steps])
        entries = [entry for step in steps for entry in step.form.slopes.items()]
        counts = [len(step.form.slopes) for step in steps]
        nonlinear = [j for j, step in enumerate(steps) if step.nonlinear is not None]
        linear = Linear(
            constant=array([step.form.constant for step in steps]),
            drift=drift,
            slope=array([slope for _, slope in entries]),
            source=_integers(self.positions[name] for name, _ in entries),
        )
        row = np.concatenate(([0], np.cumsum(counts)), dtype=np.int64)
        return FlatMechanism(
            tree=self._tree(row, _integers(self.velocities[name] for name, _ in entries)),
            linear=linear,
            body=_integers(step.body for step in steps),
            nonlinear=self._interpreted(),
            nonlinear_steps=_integers(nonlinear),
            nonlinear_entries=_integers(entry for j in nonlinear for entry in range(row[j], row[j + 1])),
            constant_gravity=None if self._gravity_varies() else self._constant_gravity(),
            gravity_at=self._gravity,
            frames=self.frames,
            numbers=self.numbers,
        )

    def _gravity_varies(self) -> bool:
        return any(TIME in names(component) for component in self.mechanism.gravity)

    def _constant_gravity(self) -> Vector:
        x, y, z = map(self.numbers.constant, self.mechanism.gravity)
        return x, y, z

    def _gravity(self, t: float) -> Vector:
        known = {**self.exact, TIME: float(t)}
        x, y, z = (number(component, known) for component in self.mechanism.gravity)
        return x, y, z

    def _tree(self, row: Integers, column: Integers) -> Tree:
        steps = self.steps
        parent = _integers([step.place.step for step in steps])
        slot, slots = _slots(parent)
        link = np.empty((len(steps), 6), dtype=np.int64)
        link[:, PARENT], link[:, SLOT] = parent, slot
        link[:, KIND] = [step.kind for step in steps]
        link[:, AXIS] = [step.axis for step in steps]
        link[:, POSITION] = [step.position for step in steps]
        link[:, VELOCITY] = [step.velocity for step in steps]
        fixed = self.numbers.zeros(len(steps), 22)
        fixed[:, PLACEMENT:OFFSET] = [step.place.turn for step in steps]
        fixed[:, OFFSET:MOMENT] = [step.place.origin for step in steps]
        fixed[:, MOMENT:INERTIA], fixed[:, INERTIA:MASS], fixed[:, MASS] = _mass_properties(
            self.rigid, len(steps), self.numbers
        )
        return Tree(link, fixed, row, column, slots, self._armature())

    def _armature(self) -> Floats:
        return self.numbers.array([self.numbers.constant(item) for item in self.mechanism.armature])

    def _interpreted(self) -> NonlinearDisplacements | None:
        expressions = [step.nonlinear for step in self.steps if step.nonlinear is not None]
        return NonlinearDisplacements(self.mechanism, expressions, self.exact) if expressions else None


def constant_frame(here: Frame, transforms: Sequence[Transform], numbers: Numbers) -> Frame:
    """The frame that constant transforms lead to."""
    for transform in transforms:
        if isinstance(transform, Quaternion):
            w, x, y, z = map(numbers.constant, transform.components)
            here = here.turned(quaternion_matrix(w, x, y, z))
        else:
            expression = transform.angle if isinstance(transform, Rotation) else transform.distance
            here = here.moved(transform, numbers.constant(expression), numbers)
    return here


def _places(mechanism: Mechanism) -> tuple[dict[str, int], dict[str, int]]:
    """Where each coordinate stands in q and in v, the first component for all of a quaternion."""
    positions: dict[str, int] = {}
    velocities: dict[str, int] = {}
    position = velocity = 0
    for coordinate in mechanism.coordinates:
        own = (coordinate.name,) if isinstance(coordinate, Coordinate) else coordinate.names
        for name in own:
            positions[name], velocities[name] = position, velocity
        position, velocity = position + len(own), velocity + (1 if len(own) == 1 else 3)
    return positions, velocities


def _mass_properties(rigid: Sequence[_RigidBody], steps: int, numbers: Numbers) -> tuple[Floats, Floats, Floats]:
    """First moment, inertia tensor and mass about the origin of every step, of all bodies fixed to it."""
    mass, moment, inertia = numbers.zeros(steps), numbers.zeros(steps, 3), numbers.zeros(steps, 3, 3)
    step = _integers(body.frame.step for body in rigid)
    m = numbers.array([body.mass for body in rigid])
    turn = numbers.array([body.frame.turn for body in rigid]).reshape(-1, 3, 3)
    center = numbers.array([body.frame.origin for body in rigid]).reshape(-1, 3)
    Jx, Jy, Jz, Jxy, Jyz, Jxz = numbers.array([body.moments for body in rigid]).reshape(-1, 6).T
    central = np.array([[Jx, -Jxy, -Jxz], [-Jxy, Jy, -Jyz], [-Jxz, -Jyz, Jz]]).transpose(2, 0, 1)
    square = np.einsum("bi,bi->b", center, center)[:, None, None] * np.eye(3, dtype=int)
    steiner = m[:, None, None] * (square - center[:, :, None] * center[:, None, :])
    np.add.at(mass, step, m)
    np.add.at(moment, step, m[:, None] * center)
    np.add.at(inertia, step, turn @ central @ turn.transpose(0, 2, 1) + steiner)
    return moment, inertia.reshape(steps, 9)[:, [0, 4, 8, 1, 5, 2]], mass


def _slots(parent: Integers) -> tuple[Integers, int]:
    """A number for each step that carries another step than the next one, -1 for all others, and how many there are."""
    slot = np.full(parent.size, -1)
    steps = np.arange(parent.size)
    branching = np.unique(parent[(parent != steps - 1) & (steps > 0)])
    slot[branching] = np.arange(branching.size)
    return slot, branching.size


def _integers(values: Iterator[int] | Sequence[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)
