"""The initial value problem y' = f(y, t, u(t), p): right-hand side, input signals, initial state, and events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from math import isfinite
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.arrays import Floats as Floats
from kinegraph.codegen.kernel import Code, Kernel
from kinegraph.errors import SolveError, one_of
from kinegraph.model.expressions import Scalar
from kinegraph.solve.loops.step import NOTES

#: A function of a system: a kernel, or code; 0 for none.
Function: TypeAlias = Kernel | Code


def code_of(function: Function) -> Code:
    """A function as loops call it."""
    return function.code if isinstance(function, Kernel) else function


def refuse_addresses(functions: Iterable[Function]) -> None:
    """SolveError for an address that would be sent to another process."""
    if any(isinstance(one, int) and one for one in functions):
        raise SolveError("the address of code is not valid in another process: use a kernel instead")


@dataclass(frozen=True)
class Closing:
    """Loops and holonomic constraints of a system in momenta: rates with all of them open, values, and rows (G, G H^-1)
    by which they are closed."""

    free: Function
    values: Function
    rows: Function

    def __getstate__(self) -> dict[str, object]:
        refuse_addresses((self.free, self.values, self.rows))
        return self.__dict__


@dataclass(frozen=True)
class RightHandSide:
    """The system to integrate: y' as a kernel x -> rate with x = [y, t, u, p], and its constraints.

    Its events are an `EventSet`. Kernels are sent to other processes as their recipes.

    code: of the rates; loops can be compiled only if all code can be called by its address.
    names: of the entries of y.
    inputs, parameters: how many entries u and p have.
    quaternions: where in y the four components of each unit quaternion begin.
    jacobian: code of a kernel x -> df/dy, row by row; 0 if there is none.
    projection: code of a kernel x -> y and pivots, one Newton step onto the constraints; 0 if there are none.
    rows: names of the constraints' rows that have a pivot, each between 0 (singular) and 1.
    closing: how a symplectic method closes loops; `rows` are theirs.
    algebraic: entries of y that have no rate. With StateForm.MULTIPLIERS code is a residual of [x, y', c] and jacobian
    its matrix d/dy + c d/dy'.
    """

    code: Function
    names: tuple[str, ...]
    inputs: int = 0
    parameters: int = 0
    quaternions: tuple[int, ...] = ()
    jacobian: Function = 0
    projection: Function = 0
    rows: tuple[str, ...] = ()
    algebraic: tuple[str, ...] = ()
    closing: Closing | None = None

    def __getstate__(self) -> dict[str, object]:
        refuse_addresses((self.code, self.jacobian, self.projection))
        return self.__dict__

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels among its functions."""
        return tuple(one for one in (self.code, self.jacobian, self.projection) if isinstance(one, Kernel))

    @property
    def batch(self) -> int:
        """The address of code (y, t, p) -> rate for rows at once (`loops.marks.call_batch`); 0 if there is none."""
        return self.code.batch_address if isinstance(self.code, Kernel) and self.projection == 0 else 0

    @property
    def size(self) -> int:
        """Entries of y."""
        return len(self.names)

    @property
    def input_size(self) -> int:
        """Entries of x."""
        return self.size + 1 + self.inputs + self.parameters


@dataclass(frozen=True)
class Signals:
    """Functions of time in pieces of cubic polynomials: coefficients[piece, signal, power] of (t - knots[piece]).

    Before the first and after the last knot a signal keeps its value there.
    """

    knots: Floats
    coefficients: Floats

    @classmethod
    def none(cls) -> Signals:
        """No signals at all."""
        return cls(np.zeros(2), np.zeros((1, 0, 4)))

    def values(self, times: Floats) -> Floats:
        """The signals at times, a row for each time."""
        inside = np.clip(times, self.knots[0], self.knots[-1])
        piece = np.clip(np.searchsorted(self.knots, inside, side="right") - 1, 0, len(self.coefficients) - 1)
        powers = (inside - self.knots[piece])[:, None] ** np.arange(4)
        return np.asarray(np.einsum("tsk,tk->ts", self.coefficients[piece], powers))


@dataclass(frozen=True)
class Sampled:
    """A signal given by samples: straight lines between them, or a smooth (twice differentiable) spline."""

    times: ArrayLike
    values: ArrayLike
    smooth: bool = False

    def arrays(self) -> tuple[Floats, Floats]:
        """Times and values, checked."""
        times, values = np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)
        if times.ndim != 1 or times.shape != values.shape or len(times) < 2:
            message = f"samples have times of shape {times.shape} and values of shape {values.shape}"
            raise SolveError(f"{message}: give two arrays of the same length, at least 2")
        if not (np.all(np.isfinite(times)) and np.all(np.isfinite(values)) and np.all(np.diff(times) > 0)):
            raise SolveError("times of samples must increase, and no sample may be infinite or not a number")
        return times, values


@dataclass(frozen=True)
class Feedback:
    """A controller: a Python function of the time and of the state by name, called every `period` seconds.

    It returns one number, which holds until the next call. Given for all joints (`inputs={"tau": Feedback(...)}`), it
    is called with the time and the arrays q and v, and returns the forces of all joints. Python calls it at the start
    of a run and then after every period; between two calls runs are as fast as without it.

    A controller with memory is an object with `__call__`: in sweeps and studies every run starts with a copy of it.
    """

    function: Callable[..., ArrayLike]
    period: float

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise SolveError(f"Feedback: {self.function!r} is not a function: give a function of time and state")
        if not (isinstance(self.period, int | float) and 0 < self.period < float("inf")):
            raise SolveError(f"Feedback: the period is {self.period!r}: give seconds above zero")


def signals(samples: Sequence[Sampled]) -> Signals:
    """Signals from samples, each with times of its own."""
    if not samples:
        return Signals.none()
    arrays = [sampled.arrays() for sampled in samples]
    knots = np.unique(np.concatenate([times for times, _ in arrays]))
    coefficients = np.zeros((len(knots) - 1, len(samples), 4))
    for index, (sampled, (times, values)) in enumerate(zip(samples, arrays, strict=True)):
        coefficients[:, index, :] = _pieces(times, values, sampled.smooth, knots)
    return Signals(knots, coefficients)


def _pieces(times: Floats, values: Floats, smooth: bool, knots: Floats) -> Floats:
    """Taylor coefficients of one signal at the left end of every piece; held constant outside its samples."""
    from scipy.interpolate import CubicSpline, PPoly

    if smooth:
        spline = CubicSpline(times, values, bc_type="natural" if len(times) < 4 else "not-a-knot")
    else:
        spline = PPoly(np.array([np.diff(values) / np.diff(times), values[:-1]]), times)
    left = knots[:-1]
    inside = (left >= times[0]) & (left < times[-1])
    pieces = np.zeros((len(left), 4))
    for power, factorial in enumerate((1, 1, 2, 6)):
        pieces[inside, power] = spline(left[inside], power) / factorial
    pieces[left < times[0], 0] = values[0]
    pieces[left >= times[-1], 0] = values[-1]
    return pieces


def require_span(start: float, end: float) -> None:
    """SolveError unless the end comes after the start."""
    if not (isfinite(start) and isfinite(end) and end > start):
        raise SolveError(f"the end time {end:g} must come after the start time {start:g}")


@dataclass(frozen=True)
class CauchyProblem:
    """A right-hand side, from a state at `start` to the time `end`. native: loops around it are compiled."""

    rhs: RightHandSide
    state: Floats
    start: float
    end: float
    parameters: Floats = field(default_factory=lambda: np.zeros(0))
    inputs: Signals = field(default_factory=Signals.none)
    native: bool = True

    def __post_init__(self) -> None:
        require_span(self.start, self.end)
        if self.state.shape != (self.rhs.size,):
            raise SolveError(f"the state has shape {self.state.shape}, the right-hand side takes ({self.rhs.size},)")
        for name, value in zip(self.rhs.names, self.state, strict=True):
            if not isfinite(value):
                raise SolveError(f"the initial value of {name} is {value}: give a finite number")
        if self.parameters.shape != (self.rhs.parameters,):
            raise SolveError(f"{self.parameters.size} parameters were given, {self.rhs.parameters} are needed")
        if self.inputs.coefficients.shape[1] != self.rhs.inputs:
            message = f"{self.inputs.coefficients.shape[1]} input signals were given, {self.rhs.inputs} are needed"
            raise SolveError(message)

    def bound(self, loop: Callable[..., int | None], *arguments: object) -> Callable[..., int]:
        """A loop with its first arguments, compiled or interpreted as this problem requires."""
        if not self.native:
            return cast("Callable[..., int]", partial(loop, *arguments))
        from kinegraph.jit.bitcode import compiled

        return compiled(loop).bound(*arguments)

    def projected(self) -> Floats:
        """Memory for the results of the projection, and for notes of the lowest pivot."""
        return np.zeros(self.rhs.size + len(self.rhs.rows) + NOTES)

    def argument(self) -> Floats:
        """x with the parameters in place; state, time and inputs are filled in by the solver."""
        x = np.zeros(self.rhs.input_size)
        x[: self.rhs.size] = self.state
        x[self.rhs.size] = self.start
        x[self.rhs.size + 1 + self.rhs.inputs :] = self.parameters
        return x


class Direction(Enum):
    """Which zero crossings count."""

    BOTH = 0
    RISING = 1
    FALLING = -1


class Action(Enum):
    """What an event does."""

    RECORD = 0
    STOP = 1
    RESET = 2


@dataclass(frozen=True)
class Event:
    """An event occurs when `condition` crosses zero.

    condition: an expression in coordinates, velocities (`q1'`), output points (`tip.z`), parameters and t.
    direction: BOTH, RISING or FALLING; action: RECORD, STOP or RESET. Strings such as "falling" are accepted.
    reset: new values of coordinates and velocities by name, expressions of the state just before; makes it a reset.
    holds: it stops the run wherever its condition is beyond zero (positive with RISING, negative with FALLING), not
    only at a crossing: also at the start, and after a jump.
    """

    name: str
    condition: Scalar
    direction: Direction = Direction.BOTH
    action: Action = Action.RECORD
    reset: Mapping[str, Scalar] = field(default_factory=dict)
    holds: bool = False

    def __post_init__(self) -> None:
        where = f"event {self.name}:"
        object.__setattr__(self, "direction", one_of(Direction, self.direction, f"{where} direction", SolveError))
        object.__setattr__(self, "action", one_of(Action, self.action, f"{where} action", SolveError))
        if self.reset and self.action is Action.RECORD:
            object.__setattr__(self, "action", Action.RESET)
        if bool(self.reset) != (self.action is Action.RESET):
            raise SolveError(f"event {self.name}: action RESET and `reset={{name: value}}` must be used together")
        if self.holds and (self.action is not Action.STOP or self.direction is Direction.BOTH):
            raise SolveError(
                f"event {self.name}: `holds` needs action STOP and a direction: "
                "RISING if the condition holds above zero, FALLING if below"
            )


@dataclass(frozen=True)
class EventSet:
    """Events as kernels: x -> values, [x, y', u'] -> their slopes and (0: none) x -> new states, a row for each event.

    boundaries: events whose condition depends on positions alone, so that a motion may begin there. holding: events
    that stop wherever their condition holds.
    samples: the number of points of a step at which signs are compared. limit: the most events of a run.
    acted: for every event that acted at the very start, its distance from zero there; negative for the others. Empty:
    none acted.
    enclosure: a box of states and their rates -> enclosures of conditions and their rates, for events `enclosed` that
    must not be missed. needed: entries of the state these depend on. active: how each is watched (see
    `loops.penetration`). projected: evaluate conditions on the constraints, not at the dense output.
    """

    names: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()
    actions: tuple[Action, ...] = ()
    boundaries: tuple[bool, ...] = ()
    holding: tuple[bool, ...] = ()
    code: Function = 0
    slope: Function = 0
    reset: Function = 0
    samples: int = 4
    limit: int = 1_000_000
    acted: tuple[float, ...] = ()
    enclosure: Function = 0
    enclosed: tuple[int, ...] = ()
    needed: tuple[int, ...] = ()
    active: tuple[int, ...] = ()
    projected: bool = False

    def __getstate__(self) -> dict[str, object]:
        refuse_addresses((self.code, self.slope, self.reset, self.enclosure))
        return self.__dict__
