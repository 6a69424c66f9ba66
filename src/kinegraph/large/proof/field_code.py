"""The source of the loops with numbers of a field in place of doubles.

Every function is built again from its own instructions: constants become numbers of the field, and names lead to what
stands for them there: functions to functions built in this way, NumPy's new arrays to arrays of numbers of the field,
sines and cosines to points of its circle. Nothing is written a second time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ProofError
from kinegraph.large.records import Floats

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

_LOOPS = "kinegraph.large"


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
