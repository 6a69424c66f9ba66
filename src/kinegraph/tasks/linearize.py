"""`linearize`: linear systems about an equilibrium or a steady motion, with constant or periodic coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm, pi

import numpy as np

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import Quantities, quantities_of
from kinegraph.derive.constraints.redundancy import moved_positions
from kinegraph.derive.dynamics.state_rate import STATE_RATES
from kinegraph.derive.quantities.quantity import Quantity, dependencies
from kinegraph.derive.quantities.variables import ALL, DISPLACEMENTS, Variables, depends_on_time
from kinegraph.display import RichDisplay
from kinegraph.errors import ModelError, TaskError
from kinegraph.model.constraints import is_constrained, tell_of_unknowns
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expressions import (
    PI,
    TIME,
    Call,
    Compound,
    Expression,
    Name,
    Number,
    Operation,
    Scalar,
    expressions,
    names,
    postorder,
)
from kinegraph.model.mechanism import Mechanism, Rotation
from kinegraph.tasks.operating_point import (
    RATE,
    VALUE,
    Floats,
    OperatingPoint,
    called,
    kernel_of,
    name_index,
    operating_point,
    row_kernel,
    slope,
)
from kinegraph.tasks.tangent_space import (
    Tangent,
    acceleration_slopes,
    refuse_singular,
    refuse_singular_coordinates,
    tangent,
)

# `linearize`: x' = A x + B w, y = C x + D w about an equilibrium or a steady motion, from exact derivatives. x contains
# one displacement per velocity (for a quaternion the rotation about its body axes), then the velocities, then the
# first-order states; with loops and constraints the independent displacements and velocities. w contains the forces on
# the coordinates and the declared inputs; y contains the requested outputs.

#: A motion is steady if accelerations are below this fraction of the largest one that a single force causes.
STEADY = 1e-7
#: Singular values of A below this fraction of the largest count as zero.
_ZERO = 1e-14


def real_and_imaginary(value: complex) -> list[float]:
    """A complex number as JSON can hold it."""
    return [float(value.real), float(value.imag)]


@dataclass(frozen=True)
class Linearization(RichDisplay):
    """The matrices, the names of their rows and columns, and the point they belong to."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    point: OperatingPoint

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of A, slowest first."""
        values = np.linalg.eigvals(self.A)
        return np.asarray(values[np.lexsort((values.imag, values.real, np.abs(values)))])

    @property
    def stable(self) -> bool | None:
        """True if no eigenvalue has a positive real part beyond rounding; None if zero eigenvalues leave it undecided.

        Eigenvalues are zero if a coordinate may drift, or if forces have no linear part.
        """
        values = self.eigenvalues
        if np.any(values.real > 1e-9 * max(1.0, float(np.max(np.abs(values), initial=0.0)))):
            return False
        sizes = np.linalg.svd(self.A, compute_uv=False)
        return None if len(sizes) and sizes[-1] <= _ZERO * sizes[0] else True

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        matrices = {name: getattr(self, name).tolist() for name in "ABCD"}
        names = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        return matrices | names | {"eigenvalues": [real_and_imaginary(value) for value in self.eigenvalues]}


def linearize(
    model: MechanismSource,
    state: Mapping[str, Scalar] | None = None,
    *,
    outputs: Quantities = (),
    parameters: Mapping[str, Scalar] | None = None,
    steady: bool = True,
) -> Linearization:
    """Compute the linear system x' = A x + B w, y = C x + D w about a state.

    state: `q1`, `q1'`, first-order states, `tau:q1`, inputs, `t`; other values are the model's initial ones.
    outputs: quantities such as `pose:tip`; by default the state itself.
    steady: require an equilibrium or a steady motion. With False, accelerating states are allowed, and the matrices
        hold for one moment if they change with time or along a steady spin.
    """
    mechanism = mechanism_of(model)
    tell_of_unknowns(mechanism, state or ())
    point = operating_point(mechanism, state, parameters)
    found = linearized_at(mechanism, point, outputs=outputs, parameters=parameters, steady=steady)
    if steady:
        require_constant(mechanism, point, parameters)
    return found


def linearized_at(
    mechanism: Mechanism,
    point: OperatingPoint,
    *,
    outputs: Quantities = (),
    parameters: Mapping[str, Scalar] | None = None,
    steady: bool = True,
) -> Linearization:
    """Like linearize, at a known point."""
    layout = mechanism.layout
    refuse_singular(mechanism, point, parameters, "the linear system")
    motion = acceleration_slopes(mechanism, point, parameters)
    refuse_singular_coordinates(mechanism, point, parameters, motion.by_force, "the linear system")
    own = _state_rate_slopes(mechanism, point, parameters)
    if steady:
        _require_rest(mechanism, motion.accelerations, motion.by_force)
        own.require_rest(mechanism)
    space = tangent(mechanism, point, parameters)
    state = _state_derivative(space, len(layout.states))
    gains = np.hstack([motion.by_force, motion.by_input])
    accelerations = np.hstack([motion.by_displacement, motion.by_velocity, motion.by_state]) @ state
    size = len(layout.velocities)
    rates = np.hstack([_rotating(mechanism, point), np.eye(size), np.zeros((size, len(layout.states)))]) @ state
    displaced, moving = list(space.displaced), list(space.moving)
    a = np.vstack([rates[displaced], accelerations[moving], own.by_state @ state])
    if not np.isfinite(a).all():
        raise TaskError(f"{mechanism.name}: derivatives are not finite here: choose a nearby state")
    b = np.vstack([np.zeros((len(displaced), gains.shape[1])), gains[moving], own.by_input])
    names = state_names(mechanism, space)
    observed = _observed(mechanism, point, outputs, parameters, np.hstack([accelerations, gains]), state)
    c, d, seen = observed or (np.eye(len(a)), np.zeros((len(a), b.shape[1])), names)
    return Linearization(a, b, c, d, names, (*layout.forces, *layout.inputs), seen, point)


@dataclass(frozen=True)
class _StateRateSlopes:
    """The rates of first-order states, and their derivatives by (dq, v, z) and by (tau, u)."""

    rates: Floats
    by_state: Floats
    by_input: Floats

    def require_rest(self, mechanism: Mechanism) -> None:
        """TaskError if a first-order state changes."""
        scale = float(np.max(np.abs(self.by_state), initial=1.0))
        for name, rate in zip(mechanism.layout.states, self.rates, strict=True):
            if not abs(rate) <= STEADY * scale:
                raise TaskError(
                    f"{mechanism.name}: this state is neither an equilibrium nor a steady motion: {name}' = {rate:.3g}"
                    f"\n  give the value of {name} at which its rate is zero, as {name}=..., or use steady=False "
                    "(--anywhere)"
                )


def _state_rate_slopes(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None
) -> _StateRateSlopes:
    layout = mechanism.layout
    size, count = len(layout.velocities), len(layout.states)
    if not count:
        return _StateRateSlopes(np.zeros(0), np.zeros((0, 2 * size)), np.zeros((0, size + len(layout.inputs))))
    by = ["dq", "v", "z", *(["u"] if layout.inputs else [])]
    slopes = [slope(STATE_RATES, one) for one in by]
    found = called(kernel_of(mechanism, [STATE_RATES, *slopes], parameters, point.runtime), point.arguments())
    inputs = found.get(slope(STATE_RATES, "u"), np.zeros((count, 0)))
    by_state = np.hstack([found[name] for name in slopes[:3]])
    return _StateRateSlopes(found[STATE_RATES], by_state, np.hstack([np.zeros((count, size)), inputs]))


def _state_derivative(space: Tangent, count: int) -> Floats:
    """All displacements, velocities and first-order states by x."""
    size, displaced, moving = len(space.positions), len(space.displaced), len(space.moving)
    return np.block([
        [space.positions, np.zeros((size, moving + count))],
        [space.rotating, space.velocities, np.zeros((size, count))],
        [np.zeros((count, displaced + moving)), np.eye(count)],
    ])  # fmt: skip


def state_names(mechanism: Mechanism, space: Tangent) -> tuple[str, ...]:
    """The entries of x: a displacement has its coordinate's name, a rotation that of its angular velocity in d().

    First-order states come last.
    """
    layout = mechanism.layout
    own = set(layout.positions)
    displacements = [
        name.removesuffix("'") if name.removesuffix("'") in own else f"d({name})" for name in layout.velocities
    ]
    moving = (layout.velocities[k] for k in space.moving)
    return (*(displacements[k] for k in space.displaced), *moving, *layout.states)


def require_steady(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None = None) -> None:
    """TaskError if a state accelerates."""
    motion = acceleration_slopes(mechanism, point, parameters)
    _require_rest(mechanism, motion.accelerations, motion.by_force)
    _state_rate_slopes(mechanism, point, parameters).require_rest(mechanism)


def _require_rest(mechanism: Mechanism, qdd: Floats, compliance: Floats) -> None:
    if not np.all(np.isfinite(qdd)):
        raise TaskError(f"{mechanism.name}: the accelerations here are not finite: the configuration is singular")
    scale = float(np.max(np.abs(compliance), initial=0.0))
    worst = int(np.argmax(np.abs(qdd))) if qdd.size else 0
    if qdd.size and abs(qdd[worst]) > STEADY * max(1.0, scale):
        name = mechanism.layout.accelerations[worst]
        raise TaskError(
            f"{mechanism.name}: this state is neither an equilibrium nor a steady motion: {name} = "
            f"{qdd[worst]:.3g}\n"
            "  find one with `equilibria` and use it with --equilibrium N (in Python: its q as `state`), or "
            "give the forces that hold it (tau:NAME=...)"
        )


def _rotating(mechanism: Mechanism, point: OperatingPoint) -> Floats:
    """The coupling of displacements: rotations in axes that rotate themselves, d' = w - w0 x d."""
    layout = mechanism.layout
    matrix = np.zeros((len(layout.velocities),) * 2)
    for start in angular_velocities(mechanism):
        x, y, z = point.v[start : start + 3]
        matrix[start : start + 3, start : start + 3] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return matrix


def angular_velocities(mechanism: Mechanism) -> list[int]:
    """The index in v at which the angular velocity of each quaternion starts."""
    layout = mechanism.layout
    return [start - number for number, start in enumerate(layout.quaternions)]


def _observed(
    mechanism: Mechanism,
    point: OperatingPoint,
    outputs: Quantities,
    parameters: Mapping[str, Scalar] | None,
    accelerations: Floats,
    state: Floats,
) -> tuple[Floats, Floats, tuple[str, ...]] | None:
    """C, D and the names of y; None if y is the state itself.

    accelerations: those of all coordinates by x and w. state: all displacements, velocities and states by x.
    """
    if not outputs:
        return None
    layout = mechanism.layout
    size, width = len(layout.velocities), state.shape[1]
    wanted = quantities_of(outputs)
    widths = {"dq": size, "v": size, "z": len(layout.states), "tau": len(layout.forces), "u": len(layout.inputs)}
    slopes = [_slope(name, by) for name in wanted for by in (*widths, "a") if _depends(name, by, mechanism)]
    found = called(kernel_of(mechanism, [*wanted, *slopes], parameters, point.runtime), point.arguments())
    rows, names = [], []
    for name in wanted:
        entries = np.size(found[str(name)])
        parts = [
            found.get(_slope(name, by), np.zeros(entries * count)).reshape(entries, count)
            for by, count in widths.items()
        ]
        row = np.hstack([np.hstack(parts[:3]) @ state, *parts[3:]])
        if _slope(name, "a") in slopes:
            row = row + found[_slope(name, "a")].reshape(entries, size) @ accelerations
        rows.append(row)
        names += [f"{name}[{index}]" for index in range(entries)] if entries > 1 else [str(name)]
    both = np.vstack(rows)
    return both[:, :width], both[:, width:], tuple(names)


def _slope(quantity: Quantity, by: str) -> str:
    return f"d({quantity})/d({ALL}{by})"


def _depends(quantity: Quantity, by: str, mechanism: Mechanism) -> bool:
    group = Variables.POSITIONS if by == DISPLACEMENTS else Variables(by)
    return group in dependencies(quantity, mechanism) and bool(group.names(mechanism))


def indices(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The indices of names in a list; TaskError if one is unknown."""
    return [name_index(name, names) for name in wanted]


# Angular rates at which a formula is periodic in time: those of the sines, cosines and rotations that contain the time.

_PERIODIC = frozenset({"sin", "cos", "tan"})


@dataclass(frozen=True)
class _Part:
    """slope * t plus a function that is periodic at some rates; slope is None if the time enters otherwise."""

    slope: float | None = 0.0
    rates: frozenset[float] = frozenset()
    constant: float | None = None

    @property
    def timeless(self) -> bool:
        return self.slope == 0.0 and not self.rates


def time_rates(
    formula: Expression, parameters: Mapping[str, Value], rotating: Mapping[str, float], *, angle: bool = False
) -> set[float]:
    """The rates (rad/s, positive). rotating: steady rates of coordinates. angle: the angle of a rotation.

    Parts that grow with time, or depend on it otherwise, have no rates: a numerical test shows whether they matter.
    """
    if not names(formula) & {TIME, *rotating}:
        return set()
    results: list[_Part] = []
    for here in postorder(formula):
        count = len(here.parts) if isinstance(here, Compound) else 0
        parts = results[len(results) - count :] if count else []
        del results[len(results) - count :]
        results.append(_part(here, parts, parameters, rotating))
    (whole,) = results
    found = set(whole.rates)
    if angle and whole.slope:
        found.add(abs(whole.slope))
    return found


def _part(
    here: Expression, parts: list[_Part], parameters: Mapping[str, Value], rotating: Mapping[str, float]
) -> _Part:
    if isinstance(here, Number):
        return _Part(constant=float(here.value))
    if isinstance(here, Name):
        return _named(here, parameters, rotating)
    rates = frozenset().union(*(part.rates for part in parts)) if parts else frozenset()
    if parts and all(part.constant is not None for part in parts):
        return _Part(constant=_number(here, parameters))
    if isinstance(here, Call):
        return _called(here, parts, rates)
    assert isinstance(here, Operation)
    slopes = [part.slope for part in parts]
    if None in slopes:
        return _Part(None, rates)
    match here.operator:
        case "+" | "-":
            sign = 1.0 if here.operator == "+" else -1.0
            return _Part((slopes[0] or 0.0) + sign * (slopes[1] or 0.0), rates)
        case "neg":
            return _Part(-(slopes[0] or 0.0), rates)
        case "*":
            return _product(parts[0], parts[1], rates)
        case "/":
            return _quotient(parts[0], parts[1], rates)
    return _Part(0.0 if not any(slopes) else None, rates)


def _named(here: Name, parameters: Mapping[str, Value], rotating: Mapping[str, float]) -> _Part:
    if here.text == TIME:
        return _Part(1.0)
    if here.text in rotating:
        return _Part(rotating[here.text])
    return _Part(constant=_number(here, parameters)) if here.text == PI or here.text in parameters else _Part()


def _called(here: Call, parts: list[_Part], rates: frozenset[float]) -> _Part:
    slopes = [part.slope for part in parts]
    if here.function in _PERIODIC and slopes[0] is not None:
        return _Part(0.0, rates | ({abs(slopes[0])} if slopes[0] else set()))
    return _Part(0.0 if not any(slope is None or slope for slope in slopes) else None, rates)


def _product(one: _Part, other: _Part, rates: frozenset[float]) -> _Part:
    if not one.slope and not other.slope:
        return _Part(0.0, rates)
    factor, growing = (one, other) if other.slope else (other, one)
    if factor.constant is None or factor.slope:
        return _Part(None, rates)
    return _Part(factor.constant * (growing.slope or 0.0), rates)


def _quotient(one: _Part, other: _Part, rates: frozenset[float]) -> _Part:
    if other.slope or (one.slope and not other.constant):
        return _Part(None, rates)
    return _Part((one.slope or 0.0) / (other.constant or 1.0), rates)


def _number(here: Expression, parameters: Mapping[str, Value]) -> float | None:
    try:
        return number(here, parameters)
    except ModelError:
        return None


# Linear systems that change along a steady motion. A time-dependent model, or a spin about a body with unequal
# inertias, gives x' = A(t) x. If A has a period T, the solution X(T) with X(0) = 1 (the monodromy matrix) determines
# the growth of disturbances: its eigenvalues are the Floquet multipliers, their logarithms over T the exponents. A
# comes from exact derivatives, so X(T) is exact up to the integrator.

#: Fractions of a period (seconds, if none is known) at which the linear system is compared.
_PARTS = (0.1309, 0.2871, 0.6180, 0.9021)
#: Entries that differ by less than the first fraction of themselves, or the second of the largest, are equal: a soft
#: time-dependent spring counts beside a stiff constant one.
_SAME, _ROUNDING = 1e-7, 1e-13
#: Rates have a common period if their ratios are fractions of numbers up to the first, within the second.
_LARGEST_RATIO, _COMMON = 200, 1e-9
#: Fractions of a period that may be periods themselves, and where this is tested: jumps take little time.
_SHORTER = (12, 8, 6, 5, 4, 3, 2)
_MANY_PARTS = tuple((0.0713 + 0.6180339887 * k) % 1.0 for k in range(32))
_LOOPS_OPEN = 1e-8
_TOLERANCE = 1e-12
#: Absolute values of multipliers that exceed one by less are rounding errors: double ones split by the root of X(T)'s
#: error.
GROWING = 1e-5


@dataclass(frozen=True)
class Floquet:
    """The monodromy matrix X(T) of a linear system with period T about a state, by the entries of x."""

    monodromy: Floats
    period: float
    states: tuple[str, ...]

    @property
    def multipliers(self) -> np.ndarray:
        """The eigenvalues of X(T), largest first: the growth of a disturbance over one period."""
        values = np.linalg.eigvals(self.monodromy)
        return np.asarray(values[np.lexsort((values.imag, -np.abs(values)))])

    @property
    def exponents(self) -> np.ndarray:
        """ln(multiplier) / T; imaginary parts are known up to whole multiples of 2 pi / T."""
        return exponents_of(self.multipliers, self.period)

    @property
    def unstable(self) -> int:
        """How many multipliers grow."""
        return int(np.sum(np.abs(self.multipliers) > 1 + GROWING))


def exponents_of(multipliers: np.ndarray, period: float) -> np.ndarray:
    """The Floquet exponents; a multiplier of zero has none that is finite."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(multipliers.astype(complex)) / period)


def require_constant(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> None:
    """TaskError if the linear system about a state changes along the motion, so its matrices are not constant."""
    period = period_of(mechanism, point, parameters, driven=True)
    if period is not None:
        raise TaskError(
            f"{mechanism.name}: the linear system about this state changes with a period of {period:.9g} s, "
            "so it has no constant matrices\n"
            "  `modes` gives its Floquet multipliers; steady=False (--anywhere) gives the matrices at one "
            "instant"
        )


def period_of(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, driven: bool = False
) -> float | None:
    """The period of the linear system along the steady motion through a point; None if it is constant.

    TaskError if the motion is not steady a moment later, or if its linear system changes without a period. driven:
    B, the matrix of forces and inputs, also counts.
    """
    if not (depends_on_time(mechanism) or np.any(point.v)):
        return None
    course = _Course(mechanism, point, parameters, driven)
    rates = _rates(mechanism, point, parameters)
    base = common_rate(rates)
    scale = 2 * pi / base if base else 2 * pi / max(rates) if rates else 1.0
    if course.stays([part * scale for part in _PARTS]):
        return None
    if base is None:
        listed = ", ".join(f"{rate:.6g}" for rate in sorted(rates))
        raise _no_period(mechanism, f"its rates ({listed} rad/s) have no common period" if rates else "")
    period = 2 * pi / base
    earlier = [part * period for part in _PARTS]
    if not course.repeats(earlier, [seconds + period for seconds in earlier]):
        raise _no_period(mechanism, "")
    within = [part * period for part in _MANY_PARTS]
    for part in _SHORTER:
        if course.repeats(within, [seconds + period / part for seconds in within]):
            return period / part
    return period


def floquet(
    mechanism: Mechanism, point: OperatingPoint, period: float, parameters: Mapping[str, Scalar] | None = None
) -> Floquet:
    """The monodromy matrix about a steady motion with a periodic linear system."""
    from scipy.integrate import solve_ivp

    course = _Course(mechanism, point, parameters, driven=False)
    first = course.at(0.0)
    size = len(first.A)

    def rate(seconds: float, x: Floats) -> Floats:
        return np.asarray((course.at(seconds).A @ x.reshape(size, size)).ravel())

    run = solve_ivp(
        rate, (0.0, period), np.eye(size).ravel(), method="DOP853", rtol=_TOLERANCE, atol=_TOLERANCE,
        max_step=period / 8, t_eval=[period],
    )  # fmt: skip
    if not run.success or not np.isfinite(run.y).all():
        raise TaskError(f"{mechanism.name}: disturbances cannot be integrated over a period of {period:.9g} s")
    return Floquet(run.y[:, -1].reshape(size, size), period, first.states)


@dataclass(frozen=True)
class _Course:
    """The steady motion through a point: constant velocities, and the linear system along it."""

    mechanism: Mechanism
    point: OperatingPoint
    parameters: Mapping[str, Scalar] | None
    driven: bool

    def at(self, seconds: float) -> Linearization:
        """The linear system after so many seconds."""
        return linearized_at(self.mechanism, self._later(seconds), parameters=self.parameters, steady=False)

    def stays(self, times: Iterable[float]) -> bool:
        """Whether the linear system at these times equals the initial one; TaskError as for `repeats`."""
        first = self._steady(0.0)
        return all(self._same(first, self._steady(seconds)) for seconds in times)

    def repeats(self, times: Iterable[float], later: Iterable[float]) -> bool:
        """Whether the linear system is equal at pairs of times; TaskError if the motion is not steady there."""
        return all(self._same(self._steady(one), self._steady(other)) for one, other in zip(times, later, strict=True))

    def _steady(self, seconds: float) -> Linearization:
        """The linear system, if the motion is still steady then and constraints hold."""
        point = self._later(seconds)
        try:
            self._require_closed(point)
            return linearized_at(self.mechanism, point, parameters=self.parameters)
        except TaskError as trouble:
            if not seconds:
                raise
            require_steady(self.mechanism, self.point, self.parameters)
            raise TaskError(
                f"{self.mechanism.name}: this state is steady now, but not {seconds:.3g} s later: "
                f"{str(trouble).partition(': ')[2] or trouble}"
            ) from None

    def _require_closed(self, point: OperatingPoint) -> None:
        if not is_constrained(self.mechanism):
            return
        rows = called(row_kernel(self.mechanism, self.parameters, point.runtime), point.arguments())
        if max(float(np.max(np.abs(rows[word]), initial=0.0)) for word in (VALUE, RATE)) > _LOOPS_OPEN:
            raise TaskError(f"{self.mechanism.name}: the constraints do not hold in steady motion")

    def _same(self, one: Linearization, other: Linearization) -> bool:
        if one.states != other.states:
            return False
        pairs = [(one.A, other.A), *([(one.B, other.B)] if self.driven else [])]
        return all(np.allclose(a, b, rtol=_SAME, atol=_ROUNDING * np.max(np.abs(a), initial=0.0)) for a, b in pairs)

    def _later(self, seconds: float) -> OperatingPoint:
        point = self.point
        if not seconds:
            return point
        turned = self._displacement(seconds)
        return replace(point, q=moved_positions(self.mechanism, point.q, turned), t=point.t + seconds)

    def _displacement(self, seconds: float) -> Floats:
        """The displacement in steady motion; for a quaternion the one that rotates it by an angle exactly."""
        found = self.point.v * seconds
        for start in angular_velocities(self.mechanism):
            turn = found[start : start + 3]
            angle = float(np.linalg.norm(turn))
            if angle > 0:
                found[start : start + 3] = turn / angle * 2 * np.tan(angle / 2)
        return found


def _rates(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> list[float]:
    """Angular rates (rad/s) of possible periods: in formulas of time, and of rotating coordinates."""
    values = {**(parameters or {}), **dict(point.given)}
    numbers = parameter_values(mechanism, values)
    rotating = {name: float(rate) for name, rate in _coordinate_rates(mechanism, point)}
    found: set[float] = set()
    transforms = [one for body in mechanism.bodies for one in body.transforms]
    turns = [one.angle for one in transforms if isinstance(one, Rotation)]
    others = [one for one in transforms if not isinstance(one, Rotation)]
    tied = (
        mechanism.gravity, mechanism.elements, mechanism.loops, mechanism.constraints, mechanism.inputs,
        mechanism.states,
    )  # fmt: skip
    for formula in turns:
        found |= time_rates(formula, numbers, rotating, angle=True)
    for formula in expressions((*others, *tied)):
        found |= time_rates(formula, numbers, rotating)
    spins = [point.v[start : start + 3] for start in angular_velocities(mechanism)]
    return sorted(found | {float(np.linalg.norm(spin)) for spin in spins} - {0.0})


def drive_rates(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar] | None,
    further: Iterable[Expression] = (),
) -> list[float]:
    """Angular rates (rad/s) at which time drives a mechanism: in its formulas, in angles set by constraints, and in
    further formulas."""
    found = set(_rates(mechanism, replace(point, v=np.zeros_like(point.v)), parameters))
    numbers = parameter_values(mechanism, {**(parameters or {}), **dict(point.given)})
    for one in (*further, *expressions((mechanism.constraints, mechanism.contacts))):
        found |= time_rates(one, numbers, {}, angle=True)
    return sorted(found)


def _coordinate_rates(mechanism: Mechanism, point: OperatingPoint) -> Iterable[tuple[str, float]]:
    layout = mechanism.layout
    rates = dict(zip(layout.velocities, point.v, strict=True))
    return ((name, rates[name + "'"]) for name in layout.positions if rates.get(name + "'", 0.0))


def common_rate(rates: list[float]) -> float | None:
    """The largest rate of which all are integer multiples; None if there is none."""
    if not rates:
        return None
    largest = max(rates)
    parts = [Fraction(rate / largest).limit_denominator(_LARGEST_RATIO) for rate in rates]
    if any(abs(rate / largest - part) > _COMMON or not part for rate, part in zip(rates, parts, strict=True)):
        return None
    whole = lcm(*(part.denominator for part in parts))
    return largest * gcd(*(int(part * whole) for part in parts)) / whole


def _no_period(mechanism: Mechanism, reason: str) -> TaskError:
    why = f": {reason}" if reason else ""
    return TaskError(
        f"{mechanism.name}: the linear system about this state changes with time, and no period was "
        f"found{why}, so it has neither eigenvalues nor Floquet multipliers\n"
        "  simulate it with a small disturbance, or use `sensitivities`; `linearize` with steady=False "
        "(--anywhere) gives the matrices at one instant"
    )
