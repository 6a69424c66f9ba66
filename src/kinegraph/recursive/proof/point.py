"""A mechanism at a random point of a prime field, and the source of the recursions with numbers of that field."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Protocol, TypeVar, cast

import flint
import numpy as np
from numpy.typing import NDArray

from kinegraph.derive.tree.algebra import FOLLOWING
from kinegraph.derive.tree.displacements import MotionBuilder, unit_quaternions
from kinegraph.derive.tree.expressions import Names, operation
from kinegraph.derive.tree.links import JointKind, build_tree
from kinegraph.errors import ProofError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.build import Scalar as Node
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.prime_field import FieldArithmetic, FieldEvaluation, PrimeField, angle_tables
from kinegraph.model.constraints import Loop
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import Call, Compound, Expression, Operation, expression
from kinegraph.model.expressions import Scalar as ModelScalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.arrays import Floats, Vector
from kinegraph.recursive.flatten import FlatMechanism, Frame, Numbers, flattened_tree
from kinegraph.recursive.proof.fixed_frame import FixedFrame

# The source of the loops with numbers of a field in place of doubles.
#
# Every function is built again from its own instructions: constants become numbers of the field, and names lead to what
# stands for them there: functions to functions built in this way, NumPy's new arrays to arrays of numbers of the field,
# sines and cosines to points of its circle. Nothing is written a second time.

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

_LOOPS = "kinegraph.recursive"


class FieldNumbers(Protocol):
    """The numbers that stand for doubles."""

    def number(self, value: Fraction | int) -> float:
        """An exact number in the field."""
        ...

    def circle(self, angle: float) -> tuple[float, float]:
        """The cosine and sine of an angle that the mechanism has."""
        ...

    def angle(self, cosine: float, sine: float) -> float:
        """The angle of a point of the circle that the mechanism has."""
        ...


class FieldCode:
    """Builds functions and records over a field; `instead` names functions that something else stands for there."""

    def __init__(self, field: FieldNumbers, instead: Mapping[object, object]) -> None:
        self._field, self._zero = field, field.number(0)
        self._built: dict[object, object] = dict(instead)
        self._modules = {np: FieldNumPy(self._zero, field), math: _FieldMath(field)}

    def function(self, function: F) -> F:
        """A function of the loops, compiled or not, over the field."""
        if function not in self._built:
            source = cast(FunctionType, getattr(function, "py_func", function))
            scope: dict[str, object] = {"float": _unchanged, "__builtins__": source.__globals__["__builtins__"]}
            code = self._code(source.__code__)
            built = FunctionType(code, scope, source.__name__, source.__defaults__, source.__closure__)
            self._built[function] = built
            names = {name for one in _codes(code) for name in one.co_names} & source.__globals__.keys()
            scope.update({name: self._meaning(source.__globals__[name]) for name in names})
        return cast(F, self._built[function])

    def instance(self, record: T, **changes: object) -> T:
        """An object with the same attributes but for `changes`, whose methods are built over the field."""
        known = (
            {one.name: getattr(record, one.name) for one in fields(record)} if is_dataclass(record) else vars(record)
        )
        built: T = object.__new__(self._class(type(record)))
        for name, value in {**known, **changes}.items():
            object.__setattr__(built, name, value)
        return built

    def _class(self, kind: type[T]) -> type[T]:
        methods = {name: self.function(one) for name, one in vars(kind).items() if isinstance(one, FunctionType)}
        return cast("type[T]", type(kind.__name__, (kind,), methods))

    def _meaning(self, value: object) -> object:
        if isinstance(value, ModuleType):
            return self._modules.get(value) or self._module(value)
        if isinstance(value, float | tuple):
            return self._constant(value)
        if isinstance(value, FunctionType) or hasattr(value, "py_func"):
            ours = str(getattr(value, "__module__", "")).startswith(_LOOPS)
            return self.function(cast("Callable[..., object]", value)) if ours or value in self._built else value
        return value

    def _module(self, module: ModuleType) -> object:
        """The functions of a module of the loops, over the field."""
        if not module.__name__.startswith(_LOOPS):
            return module
        held = {name: one for name, one in vars(module).items() if not isinstance(one, ModuleType)}
        return SimpleNamespace(**{name: self._meaning(one) for name, one in held.items()})

    def _code(self, code: CodeType) -> CodeType:
        return code.replace(co_consts=tuple(self._constant(one) for one in code.co_consts))

    def _constant(self, value: object) -> object:
        if isinstance(value, float):
            return self._field.number(Fraction(value))
        if isinstance(value, CodeType):
            return self._code(value)
        if type(value) is tuple:
            return tuple(self._constant(one) for one in value)
        return value


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _unchanged(value: object) -> object:
    return value


class _FieldMath:
    def __init__(self, field: FieldNumbers) -> None:
        self._field = field

    def cos(self, angle: float) -> float:
        return self._field.circle(angle)[0]

    def sin(self, angle: float) -> float:
        return self._field.circle(angle)[1]


class FieldNumPy:
    """NumPy with new arrays of numbers of a field; arrays that already are have their own operators."""

    def __init__(self, zero: float, field: FieldNumbers) -> None:
        self._zero, self._field = zero, field

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)

    def zeros(self, shape: int | tuple[int, ...], dtype: object = None) -> Floats:
        """New zeros; of whole numbers where these are asked for."""
        if dtype is not None:
            return np.zeros(shape, dtype=cast("type[np.float64]", dtype))
        filled: NDArray[np.object_] = np.full(shape, self._zero, dtype=object)
        return cast(Floats, filled)

    empty = zeros

    def zeros_like(self, array: Floats) -> Floats:
        """New zeros for each entry of an array."""
        return self.zeros(array.shape)

    empty_like = zeros_like

    def ones(self, shape: int | tuple[int, ...]) -> Floats:
        """New ones."""
        return self.zeros(shape) + 1

    def asarray(self, array: Floats, dtype: object = None, requirements: object = None) -> Floats:
        """The same array: it already holds numbers of the field."""
        return array

    ascontiguousarray = require = asarray

    def arctan2(self, sine: Floats, cosine: Floats) -> Floats:
        """The angles of points of the circle."""
        found = [self._field.angle(c, s) for c, s in zip(cosine, sine, strict=True)]
        return cast(Floats, np.array(found, dtype=object))


class Circle:
    """The angles of a mechanism as numbers of a field, each with its point of the circle."""

    def __init__(self, zero: float, one: float) -> None:
        self._points: dict[float, tuple[float, float]] = {zero: (one, zero)}
        self._angles: dict[tuple[float, float], float] = {(one, zero): zero}

    def add(self, angle: float, point: tuple[float, float]) -> None:
        """Take up an angle."""
        self._points.setdefault(angle, point)
        self._angles.setdefault(point, angle)

    def has(self, point: tuple[float, float]) -> bool:
        """Whether an angle is known for a point."""
        return point in self._angles

    def point(self, angle: float) -> tuple[float, float]:
        """Cosine and sine; ProofError for an angle the mechanism does not have."""
        if angle not in self._points:
            raise ProofError("the loops take the sine of an angle that the equations do not have")
        return self._points[angle]

    def angle(self, cosine: float, sine: float) -> float:
        """The angle of a point; ProofError for a point the mechanism does not have."""
        if (cosine, sine) not in self._angles:
            raise ProofError("the loops take the angle of axes that the equations do not have")
        return self._angles[cosine, sine]


# The flat form of a mechanism in nodes of a graph, made by the same functions that make it in doubles.


class ExactNumbers(Numbers):
    """Nodes of a graph where loops that run have doubles; types say double, as everywhere in the loops."""

    def __init__(self, names: Names) -> None:
        super().__init__({})
        self._names = names

    def constant(self, root: Expression) -> float:
        """The node of an expression."""
        return cast(float, self._names.scalar(root))

    def folded(self, here: Compound, parts: Sequence[float]) -> float:
        """An operator or function of nodes."""
        operands = [part if isinstance(part, Scalar) else self._names.number(int(part)) for part in parts]
        return cast(float, operation(cast("Operation | Call", here), operands))

    def cosine_and_sine(self, angle: float) -> tuple[float, float]:
        """Both of a node."""
        node = angle if isinstance(angle, Scalar) else self._names.number(int(angle))
        return cast(float, node.cos()), cast(float, node.sin())

    def array(self, values: Sequence[object]) -> Floats:
        """Nodes, or rows of them, as an array of objects."""
        return cast(Floats, np.array(values, dtype=object))

    def zeros(self, *shape: int) -> Floats:
        """An array of zeros that takes nodes."""
        return cast(Floats, np.zeros(shape, dtype=int).astype(object))


# A mechanism at a random point of a prime field: once as its equations are derived, once as the loops have it.


class GivenPoint(FieldArithmetic):
    """A random point with some symbols given."""

    def __init__(
        self, field: PrimeField, seed: int, unit: Sequence[Sequence[Symbol]], given: Mapping[str, int]
    ) -> None:
        super().__init__(field, seed, unit)
        self._given = given

    def symbol(self, symbol: Symbol) -> int:
        """The value of a symbol."""
        found = self._given.get(symbol.name)
        return super().symbol(symbol) if found is None else found


class Stated:
    """A mechanism in nodes of one graph: the tree its equations are derived from, and the flat form of the loops."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, ModelScalar] | None) -> None:
        self.mechanism = mechanism
        self._builder = GraphBuilder()
        self._names = Names(self._builder, mechanism, _bound(mechanism, parameters))
        self.tree = build_tree(mechanism, self._names, exact=True)  # as the flat form
        self.motion = MotionBuilder(self._builder, mechanism).motion(self.tree, True, True)
        self.armature = [self._names.scalar(item) for item in mechanism.armature]
        self.flat = flattened_tree(mechanism, parameters, ExactNumbers(self._names))
        self.ends = [
            [self.flat.fixed(one.body, one.transforms) for one in (loop.first, loop.second)]
            for loop in mechanism.loops
            if isinstance(loop, Loop)
        ]
        self.angles = [
            (p, p.cos(), p.sin())
            for p in (link.joint.displacement for link in self.tree.links
                      if link.joint is not None and link.joint.kind is JointKind.REVOLUTE)
        ]  # fmt: skip

    @cached_property
    def graph(self) -> Graph:
        """All nodes."""
        count = len(self._builder.nodes)
        return Graph(tuple(self._builder.nodes), (Output("all", (count,), tuple(range(count))),))


class PointOfMechanism:
    """The numbers of a mechanism at a random point, and the functions of the loops over its field."""

    def __init__(self, stated: Stated, instead: Mapping[object, object]) -> None:
        self.stated, self._seed = stated, secrets.randbits(128)
        self._field = PrimeField.drawn(self._seed)
        self._elements = flint.fmpz_mod_ctx(self._field.prime)
        self._unit = unit_quaternions(stated.mechanism)
        nonlinear = stated.flat.nonlinear
        graphs = [stated.graph] if nonlinear is None else [stated.graph, nonlinear.graph]
        self._angles = angle_tables(*graphs)
        self._values = self._evaluated({})
        self._circle = Circle(self.number(0), self.number(1))
        for angle, cosine, sine in stated.angles:
            self._circle.add(self.value(angle), (self.value(cosine), self.value(sine)))
        self._add_angles_in_plane()
        self.code = FieldCode(self, instead)

    # the numbers that stand for doubles

    def number(self, value: Fraction | int) -> float:
        """An exact number in the field."""
        return self._make(value.numerator) / value.denominator

    def _make(self, value: int) -> float:
        return cast(float, self._elements(value))

    def circle(self, angle: float) -> tuple[float, float]:
        """The cosine and sine of an angle that the mechanism has."""
        return self._circle.point(angle)

    def angle(self, cosine: float, sine: float) -> float:
        """The angle of a point of the circle that the mechanism has."""
        return self._circle.angle(cosine, sine)

    def symbols(self, kind: Kind, names: Sequence[str]) -> Floats:
        """The random values of symbols."""
        point = self.point({})
        return self._array([self._make(point.symbol(Symbol(kind, name))) for name in names])

    def value(self, node: Node) -> float:
        """The value of a node."""
        return self._values[node.index]

    # the two sides

    def fixed_frame(self, accelerations: Floats | None = None) -> FixedFrame:
        """All links in the fixed frame, with these accelerations or random ones."""
        stated, values = self.stated, self._values
        if accelerations is not None:
            names = stated.mechanism.layout.accelerations
            values = self._evaluated(dict(zip(names, map(int, accelerations), strict=True)))
        return FixedFrame.at(stated.tree, stated.motion, stated.armature, lambda node: values[node.index])

    @cached_property
    def flat(self) -> FlatMechanism:
        """The flat form of the loops in numbers of the field."""
        flat = self.stated.flat
        tree = flat.tree._replace(constant=self.numbers(flat.tree.constant), armature=self.numbers(flat.tree.armature))
        linear = flat.linear._replace(
            constant=self.numbers(flat.linear.constant), drift=self.numbers(flat.linear.drift),
            slope=self.numbers(flat.linear.slope),
        )  # fmt: skip
        gravity = tuple(self.value(node) for node in self.stated.tree.gravity)
        nonlinear = None if flat.nonlinear is None else self._nonlinear
        return self.code.instance(
            flat, tree=tree, linear=linear, constant_gravity=cast(Vector, gravity), nonlinear=nonlinear
        )

    @cached_property
    def ends(self) -> list[list[Frame]]:
        """The frames that loops tie, in numbers of the field."""
        return [[self._frame(end) for end in pair] for pair in self.stated.ends]

    def _frame(self, frame: Frame) -> Frame:
        turn, origin = (tuple(self.numbers(np.array(one, dtype=object))) for one in (frame.turn, frame.origin))
        return Frame(frame.step, turn, origin)

    def _add_angles_in_plane(self) -> None:
        """Angles add up along chains of parallel axes: loops over planar mechanisms take the sines of the sums."""
        none = self.number(0)
        sums: dict[int, tuple[int, float, tuple[float, float]]] = {}
        for index, link in enumerate(self.stated.tree.links):
            if link.joint is None or link.origin is None or link.joint.kind is not JointKind.REVOLUTE:
                continue
            axis, turn, p = link.joint.axis, link.origin.rotation, link.joint.displacement
            before = sums.get(link.parent) if link.parent else (axis, none, (self.number(1), none))
            if before is None or before[0] != axis or turn[axis][axis].value != 1:
                continue
            u, v = FOLLOWING[axis]
            fixed = self.value(turn[u][u]), self.value(turn[v][u])
            if not self._circle.has(fixed):
                self._circle.add(self._make(self.point({}).random("turn", *map(int, fixed))), fixed)
            angle = before[1] + self._circle.angle(*fixed) + self.value(p)
            point = _rotated(_rotated(before[2], fixed), self._circle.point(self.value(p)))
            self._circle.add(angle, point)
            sums[index] = axis, angle, point

    def numbers(self, nodes: Floats) -> Floats:
        """An array of nodes as numbers of the field."""
        found = [self.value(one) if isinstance(one, Node) else self.number(int(one)) for one in nodes.ravel()]
        return self._array(found).reshape(nodes.shape)

    def _nonlinear(self, q: Floats, v: Floats, a: Floats, t: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Displacements that are no linear form, by the graph that the loops interpret."""
        interpreted = self.stated.flat.nonlinear
        assert interpreted is not None
        given = {name: int(value) for name, value in interpreted.named(q, v, a, t).items()}
        values = FieldEvaluation(interpreted.graph, self.point(given), self._angles[1])
        p, rate, acceleration, slope = (
            self._array([self._make(values[node]) for node in output.nodes]) for output in interpreted.graph.outputs
        )
        return p, rate, acceleration, slope

    def point(self, given: Mapping[str, int]) -> GivenPoint:
        """The random point, with these symbols given."""
        return GivenPoint(self._field, self._seed, self._unit, given)

    def _evaluated(self, given: Mapping[str, int]) -> list[float]:
        values = FieldEvaluation(self.stated.graph, self.point(given), self._angles[0]).values
        return [self._make(cast(int, value)) for value in values]

    def _array(self, values: Sequence[float]) -> Floats:
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return cast(Floats, found)


def _rotated(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    (c, s), (d, t) = first, second
    return c * d - s * t, s * d + c * t


def _bound(mechanism: Mechanism, parameters: Mapping[str, ModelScalar] | None) -> dict[str, Expression]:
    """What every parameter stands for."""
    given = {name: expression(value, name) for name, value in (parameters or {}).items()}
    parameter_values(mechanism, given)  # names every value that is missing
    return {one.name: one.value for one in mechanism.parameters if one.value is not None} | given
