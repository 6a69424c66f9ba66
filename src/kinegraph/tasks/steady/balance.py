"""Equations of rest and steady motion, which `equilibria` and `continuation` solve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.codegen.kernel import Kernel
from kinegraph.derive.constraints.conditions import dependent_columns, row_rank
from kinegraph.derive.constraints.positions import ROUNDED
from kinegraph.derive.constraints.redundancy import holonomic_rows, row_names_of
from kinegraph.derive.dynamics.state_rate import STATE_RATES
from kinegraph.derive.quantities.variables import Variables
from kinegraph.errors import TaskError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.tasks.operating_point import (
    FORCE,
    JACOBIAN,
    RATE,
    VALUE,
    Floats,
    OperatingPoint,
    called,
    called_rows,
    fitting,
    force_kernel,
    parameter_slope,
    row_kernel,
    slope,
    state_kernel,
)
from kinegraph.tasks.tangent_space import acceleration_slopes, solved_columns

# The varied quantity along a branch: a parameter, a force, an input or the rate of a cyclic coordinate.

_GROUPS = (Variables.PARAMETERS, Variables.VELOCITIES, Variables.FORCES, Variables.INPUTS)


@dataclass(frozen=True)
class Varied:
    """One variable: its name, its group, and its index there."""

    name: str
    group: Variables
    index: int

    def at(self, point: OperatingPoint, value: float) -> OperatingPoint:
        """The same point with another value of the variable."""
        match self.group:
            case Variables.PARAMETERS:
                return replace(point, given=((self.name, value),))
            case Variables.VELOCITIES:
                return replace(point, v=self._changed(point.v, value))
            case Variables.FORCES:
                return replace(point, tau=self._changed(point.tau, value))
            case _:
                return replace(point, u=self._changed(point.u, value))

    def _changed(self, entries: Floats, value: float) -> Floats:
        changed = entries.copy()
        changed[self.index] = value
        return changed


def varied_of(mechanism: Mechanism, name: str) -> Varied:
    """The variable with this name; TaskError if it is unknown."""
    for group in _GROUPS:
        names = group.names(mechanism)
        if name in names:
            return Varied(name, group, names.index(name))
    known = [name for group in _GROUPS for name in group.names(mechanism)]
    raise TaskError(f"{mechanism.name} has no parameter, rate, force or input {name!r}\n  {did_you_mean(name, known)}")


# Cyclic coordinates: neither forces nor constraints depend on them, so they may rotate steadily.

_CYCLIC_SAMPLES = 6
_CYCLIC_ROUNDING = 1e-10


def cyclic_velocities(
    mechanism: Mechanism,
    point: OperatingPoint,
    forces: Kernel,
    rows: Kernel | None,
    geared: bool = False,
    states: Kernel | None = None,
) -> tuple[int, ...]:
    """The velocities whose coordinates are cyclic: all slopes by them vanish at random states.

    geared: coordinates on which position constraints depend linearly count too, such as those of gears. states: the
    rates of first-order states.
    """
    random = np.random.default_rng(5)
    largest = np.zeros(len(point.v))
    for _ in range(_CYCLIC_SAMPLES):
        state = OperatingPoint(
            point.q + random.uniform(-1, 1, len(point.q)), random.uniform(-1, 1, len(point.v)), point.tau, point.u,
            point.t, point.given, random_states(point.z, random, 1)[0],
        )  # fmt: skip
        largest = np.maximum(largest, _largest_slopes(mechanism, state, forces, rows, geared, states))
    return tuple(int(index) for index in np.flatnonzero(largest < _CYCLIC_ROUNDING))


def random_states(z: Floats, random: np.random.Generator, count: int) -> Floats:
    """Rows of first-order states about given values."""
    return np.asarray(z + random.uniform(-1, 1, (count, len(z))) * np.maximum(1.0, np.abs(z)))


def _largest_slopes(
    mechanism: Mechanism,
    state: OperatingPoint,
    forces: Kernel,
    rows: Kernel | None,
    geared: bool,
    states: Kernel | None,
) -> Floats:
    """For every displacement the largest slope by it, relative to the largest of all; zero if it is not finite."""
    size = len(state.v)
    slopes = [called(forces, state.arguments())[slope(FORCE, "dq")]]
    if rows is not None:
        found = called(rows, state.arguments())
        slopes.append(found[slope(RATE, "dq")])
        if not geared:
            slopes.append(found[JACOBIAN][holonomic_rows(mechanism)])
        slopes.append(found[slope(JACOBIAN, "dq")].reshape(-1, size))
    if states is not None:
        slopes.append(called(states, state.arguments())[slope(STATE_RATES, "dq")])
    parts = [np.abs(one) / max(float(np.max(np.abs(one), initial=0.0)), 1e-300) for one in slopes]
    found_largest = np.max(np.vstack(parts), axis=0, initial=0.0)
    return np.where(np.isfinite(found_largest), found_largest, 0.0)


# Equations of rest and steady motion: h(q, v, z) - tau - J^T lambda = 0, constraints(q) = 0, in steady motion
# constraint_rates(q, v) = 0, and z'(q, v, z) = 0 for first-order states. The unknowns are the positions; with
# constraints the multipliers and the dependent steady rates; the states; last the varied value.


@dataclass(frozen=True)
class _Line:
    """Some equations for rows of states: values, and slopes by displacements, velocities, the varied value and z."""

    value: Floats
    by_displacement: Floats
    by_velocity: Floats
    by_varied: Floats
    by_state: Floats

    def of(self, rows: Sequence[int], scales: Floats | None = None) -> _Line:
        """The equations of the given rows, over scales."""
        parts = [
            part[:, list(rows)]
            for part in (self.value, self.by_displacement, self.by_velocity, self.by_varied, self.by_state)
        ]
        if scales is not None:
            parts = [part / (scales if part.ndim == 2 else scales[:, None]) for part in parts]
        return _Line(*parts)


@dataclass(frozen=True)
class SteadyStates:
    """The first-order states whose rates must vanish: their equations, and their sizes and those of their rates.

    A state on which nothing depends, such as dissipated heat, is not among them: it may change forever. The sizes make
    a pressure of 1e7 Pa comparable to an angle of 1 rad.
    """

    kernel: Kernel
    places: tuple[int, ...]
    sizes: Floats
    rate_sizes: Floats


@dataclass(frozen=True)
class Balance:
    """The equations under the forces and steady rates of a point, for rows of unknowns at once.

    carrying: the rows with a multiplier. A row that is dependent in assembled positions has none: near such
    positions it is almost dependent, and huge multipliers would balance anything. holonomic: the rows with position
    constraints. closing: those that must vanish. cyclic: coordinates on which nothing depends. free: unknown
    velocities. moving: whether there is steady motion, so that the constraint rates must vanish too.
    """

    forces: Kernel
    constraints: Kernel | None
    point: OperatingPoint
    carrying: tuple[int, ...] = ()
    holonomic: tuple[int, ...] = ()
    closing: tuple[int, ...] = ()
    cyclic: tuple[int, ...] = ()
    free: tuple[int, ...] = ()
    moving: bool = False
    varied: Varied | None = None
    states: SteadyStates | None = None

    @property
    def rows(self) -> int:
        """The number of multipliers."""
        return len(self.carrying)

    @property
    def state_places(self) -> tuple[int, ...]:
        """The first-order states among the unknowns."""
        return self.states.places if self.states is not None else ()

    @property
    def state_columns(self) -> slice:
        """The entries of the unknowns that are first-order states, over their sizes."""
        return slice(self.unknowns - len(self.state_places), self.unknowns)

    @property
    def positions(self) -> int:
        """The number of positions among the unknowns; multipliers, rates, and the varied value follow."""
        return len(self.point.q)

    @property
    def unknowns(self) -> int:
        """The number of unknowns, without the varied value."""
        return self.positions + self.rows + len(self.free) + len(self.state_places)

    def started(self, q: Floats) -> Floats:
        """Initial unknowns at the value of the point, with the multipliers nearest to balance."""
        others = np.tile(np.concatenate([self.point.v[list(self.free)], self._scaled_states()]), (len(q), 1))
        if not self.rows:
            return np.hstack([q, others])
        found = np.hstack([q, np.zeros((len(q), self.rows)), others])
        arguments = self._arguments(found)
        missing = called_rows(self.forces, arguments)[FORCE] - arguments["tau"]
        pairs = zip(self._rows_at(arguments)[JACOBIAN][:, list(self.carrying)], missing, strict=True)
        multipliers = [np.linalg.lstsq(jacobian.T, force, rcond=1e-12)[0] for jacobian, force in pairs]
        found[:, self.positions : self.positions + self.rows] = multipliers
        return found

    def missing(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """The residuals, and their derivatives by the unknowns, row by row; a varied value is the last unknown."""
        arguments = self._arguments(unknowns)
        lines = [self._force_line(arguments)]
        by_multiplier = np.zeros((len(unknowns), self.positions, 0))
        if self.rows:
            found = self._rows_at(arguments)
            multipliers = unknowns[:, self.positions : self.positions + self.rows]
            lines = [self._held(lines[0], found, multipliers), *self._row_lines(found)]
            by_multiplier = -found[JACOBIAN][:, list(self.carrying)].transpose(0, 2, 1)
        if self.states is not None:
            lines.append(self._state_line(arguments).of(self.states.places, self.states.rate_sizes))
        values = np.hstack([line.value for line in lines])
        padding = ((0, 0), (0, values.shape[1] - self.positions), (0, 0))
        blocks = [np.concatenate([line.by_displacement for line in lines], axis=1), np.pad(by_multiplier, padding)]
        blocks.append(np.concatenate([line.by_velocity for line in lines], axis=1)[:, :, list(self.free)])
        if self.states is not None:
            by_state = np.concatenate([line.by_state for line in lines], axis=1)[:, :, list(self.states.places)]
            blocks.append(by_state * self.states.sizes)
        if self.varied is not None:
            blocks.append(np.concatenate([line.by_varied for line in lines], axis=1)[:, :, None])
        return values, np.concatenate(blocks, axis=2)

    def closed(self, unknowns: Floats) -> Floats:
        """By row, whether all loops are closed, including rows omitted because they contradict others."""
        if not self.rows:
            return np.ones(len(unknowns), dtype=bool)
        missed = self._rows_at(self._arguments(unknowns))[VALUE]
        missed[:, list(self.closing)] = 0.0
        return np.asarray(np.max(np.abs(missed), axis=1, initial=0.0) <= ROUNDED)

    def at(self, unknowns: Floats) -> OperatingPoint:
        """The state of one row of unknowns."""
        return _point_at(self, unknowns)

    def _arguments(self, unknowns: Floats) -> dict[str, Floats | float]:
        """The arguments of kernels; arguments that vary between rows as rows."""
        count = len(unknowns)
        found = {**self.point.arguments(), "q": unknowns[:, : self.positions]}
        v, z = np.tile(self.point.v, (count, 1)), np.tile(self.point.z, (count, 1))
        v[:, list(self.free)] = unknowns[:, self.positions + self.rows : self.state_columns.start]
        if self.states is not None:
            z[:, list(self.states.places)] = unknowns[:, self.state_columns] * self.states.sizes
        rows = {"v": v, "z": z, "tau": np.tile(self.point.tau, (count, 1)), "u": np.tile(self.point.u, (count, 1))}
        rows["p"] = np.tile(self.point.arguments()["p"], (count, 1))
        if self.varied is not None and unknowns.shape[1] > self.unknowns:
            place = 0 if self.varied.group is Variables.PARAMETERS else self.varied.index
            rows[self.varied.group.value][:, place] = unknowns[:, -1]
        return found | rows

    def _scaled_states(self) -> Floats:
        if self.states is None:
            return np.zeros(0)
        return np.asarray(self.point.z[list(self.states.places)] / self.states.sizes)

    def _state_line(self, arguments: Mapping[str, Floats | float]) -> _Line:
        assert self.states is not None
        found = called_rows(self.states.kernel, arguments)
        by_velocity = found[slope(STATE_RATES, "v")]
        if self.varied is not None and self.varied.group is Variables.INPUTS:
            by_varied = np.asarray(found[slope(STATE_RATES, "u")][:, :, self.varied.index])
        else:
            by_varied = self._by_parameter_or_rate(found, STATE_RATES, by_velocity)
        by_displacement, by_state = (found[slope(STATE_RATES, by)] for by in ("dq", "z"))
        return _Line(found[STATE_RATES], by_displacement, by_velocity, by_varied, by_state)

    def _rows_at(self, arguments: Mapping[str, Floats | float]) -> dict[str, Floats]:
        assert self.constraints is not None
        return called_rows(self.constraints, arguments)

    def _force_line(self, arguments: Mapping[str, Floats | float]) -> _Line:
        found = called_rows(self.forces, arguments)
        value = np.asarray(found[FORCE] - arguments["tau"])
        by_velocity = found[slope(FORCE, "v")]
        if self.varied is None:
            by_varied = np.zeros_like(value)
        elif self.varied.group is Variables.FORCES:
            by_varied = np.zeros_like(value)
            by_varied[:, self.varied.index] = -1.0
        elif self.varied.group is Variables.INPUTS:
            by_varied = found[slope(FORCE, "u")][:, :, self.varied.index]
        else:
            by_varied = self._by_parameter_or_rate(found, FORCE, by_velocity)
        by_state = found.get(slope(FORCE, "z"), np.zeros((*value.shape, 0)))
        return _Line(value, found[slope(FORCE, "dq")], by_velocity, by_varied, by_state)

    def _by_parameter_or_rate(self, found: Mapping[str, Floats], quantity: str, by_velocity: Floats) -> Floats:
        """The slope by the varied value if it is a parameter or a velocity; otherwise zero."""
        if self.varied is not None and self.varied.group is Variables.PARAMETERS:
            return found[parameter_slope(quantity, self.varied.name)]
        if self.varied is not None and self.varied.group is Variables.VELOCITIES:
            return np.asarray(by_velocity[:, :, self.varied.index])
        return np.zeros(by_velocity.shape[:2])

    def _held(self, line: _Line, found: Mapping[str, Floats], multipliers: Floats) -> _Line:
        """The forces including those of the constraints."""
        by_varied, carrying = line.by_varied, list(self.carrying)
        if self.varied is not None and self.varied.group is Variables.PARAMETERS:
            turned = found[parameter_slope(JACOBIAN, self.varied.name)][:, carrying]
            by_varied = by_varied - np.einsum("kri,kr->ki", turned, multipliers)
        return _Line(
            line.value - np.einsum("kri,kr->ki", found[JACOBIAN][:, carrying], multipliers),
            line.by_displacement - np.einsum("krij,kr->kij", found[slope(JACOBIAN, "dq")][:, carrying], multipliers),
            line.by_velocity,
            by_varied,
            line.by_state,
        )

    def _row_lines(self, found: Mapping[str, Floats]) -> list[_Line]:
        jacobian = found[JACOBIAN]
        held, none = np.zeros_like(jacobian), np.zeros_like(jacobian)
        stateless = np.zeros((*jacobian.shape[:2], len(self.point.z)))
        held[:, list(self.holonomic)] = jacobian[:, list(self.holonomic)]
        lines = [_Line(found[VALUE], held, none, self._by_parameter_or_rate(found, VALUE, none), stateless)]
        if self.moving:
            by_varied = self._by_parameter_or_rate(found, RATE, jacobian)
            lines.append(_Line(found[RATE], found[slope(RATE, "dq")], jacobian, by_varied, stateless))
        return [line.of(list(self.closing)) for line in lines]


def balance(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar] | None = None,
    rates: tuple[str, ...] = (),
    unknown: tuple[str, ...] = (),
) -> Balance:
    """The equations of a mechanism at rest, or, with the named rates of cyclic coordinates, in steady motion.

    The velocities of the point hold for the named rates; all others are zero, or follow from them by the
    constraints. unknown: rates of cyclic coordinates to be found, at which the forces on these balance too.
    """
    constrained = is_constrained(mechanism)
    moving = bool(rates or unknown)
    if constrained and not moving:
        _require_positions(mechanism)
    forces = force_kernel(mechanism, parameters, point.runtime)
    rows = row_kernel(mechanism, parameters, point.runtime) if constrained else None
    held = [mechanism.layout.velocities.index(name) for name in rates]
    sought = [mechanism.layout.velocities.index(name) for name in unknown]
    states = state_kernel(mechanism, parameters, point.runtime)
    cyclic = cyclic_velocities(mechanism, point, forces, rows, states=states)
    steady = cyclic
    if constrained and moving:
        steady = cyclic_velocities(mechanism, point, forces, rows, geared=True, states=states)
    _require_cyclic(mechanism, [*held, *sought], steady)
    free = tuple(k for k in steady if k not in held and (k in sought or (constrained and moving)))
    v = np.zeros_like(point.v)
    retained = [*held, *free]
    v[retained] = point.v[retained]
    values = {**(parameters or {}), **dict(point.given)}
    carrying: tuple[int, ...] = ()
    closing: tuple[int, ...] = ()
    if rows is not None:
        entries = called(rows, point.arguments())[JACOBIAN]
        assembler = Assembler(mechanism, values, point.runtime)
        carrying = assembler.carrying_rows(entries)
        closing = carrying if assembler.is_rounded else tuple(range(len(entries)))
    holonomic = tuple(holonomic_rows(mechanism))
    return Balance(
        forces, rows, replace(point, v=v), carrying, holonomic, closing, cyclic, free, moving,
        states=None if states is None else _steady_states(replace(point, v=v), forces, states),
    )  # fmt: skip


#: Random states at which sizes are sampled, and rounds of balancing them.
_SIZE_SAMPLES, _SIZE_ROUNDS = 16, 6


def _steady_states(point: OperatingPoint, forces: Kernel, rates: Kernel) -> SteadyStates:
    """The states on which anything depends, with sizes at which slopes of forces and rates are comparable."""
    random = np.random.default_rng(6)
    arguments: dict[str, Floats | float] = {
        **point.arguments(),
        "q": point.q + random.uniform(-1, 1, (_SIZE_SAMPLES, len(point.q))),
        "v": np.tile(point.v, (_SIZE_SAMPLES, 1)),
        "z": random_states(point.z, random, _SIZE_SAMPLES),
    }
    on_forces, on_rates = called_rows(forces, arguments), called_rows(rates, arguments)
    by_state = np.concatenate([on_forces[slope(FORCE, "z")], on_rates[slope(STATE_RATES, "z")]], axis=1)
    by_place = np.concatenate([on_forces[slope(FORCE, "dq")], on_rates[slope(STATE_RATES, "dq")]], axis=1)
    usual = np.concatenate([_usual_sizes(by_place), _usual_sizes(by_state)], axis=1)
    count, states = by_place.shape[2], by_state.shape[2]
    places = tuple(k for k in range(states) if usual[:, count + k].any())
    size = np.ones(count + states)
    for _ in range(_SIZE_ROUNDS):
        rows = np.max(usual * size, axis=1, initial=0.0)
        largest = np.max(usual / np.where(rows > 0, rows, 1.0)[:, None], axis=0, initial=0.0)[count:]
        size[count:] = np.where(largest > 0, 1 / np.where(largest > 0, largest, 1.0), 1.0)
    rows = np.max(usual * size, axis=1, initial=0.0)[-states:][list(places)]
    columns = list(places)
    return SteadyStates(rates, places, size[count:][columns], np.where(rows > 0, rows, 1.0))


def _usual_sizes(slopes: Floats) -> Floats:
    """The median size of slopes over samples where they are finite; the largest where most vanish."""
    finite = np.abs(slopes[np.all(np.isfinite(slopes), axis=(1, 2))])
    if not len(finite):
        return np.ones(slopes.shape[1:])
    usual = np.median(finite, axis=0)
    return np.asarray(np.where(usual > 0, usual, np.max(finite, axis=0)))


def _require_cyclic(
    mechanism: Mechanism, held: Sequence[int], cyclic: Sequence[int], following: Sequence[int] = ()
) -> None:
    names = mechanism.layout.velocities
    for index in held:
        if index not in cyclic:
            listed = ", ".join(names[k] for k in cyclic if k not in following) or "none"
            raise TaskError(
                f"{mechanism.name}: {names[index]} cannot stay constant, because the equations depend on its "
                "coordinate\n"
                f"  steady rates are possible for cyclic coordinates only; here: {listed}"
            )


def _require_positions(mechanism: Mechanism) -> None:
    holonomic = holonomic_rows(mechanism)
    for index, name in enumerate(row_names_of(mechanism)):
        if index not in holonomic:
            raise TaskError(
                f"{mechanism.name}: {name} restricts only velocities and can hold the mechanism anywhere, so its "
                "equilibria are not isolated\n"
                "  remove it, hold coordinates with lock, or give a steady rate"
            )


# Steady circular motion of rolling wheels and blades. If rows restrict only velocities, x' and y' of a rolling disc are
# not constant, but follow from the others. With independent velocities w the motion is steady if w' = 0 and the
# coordinates on which w' depends are constant. A rotating coordinate must not affect w' or the rates of constant
# coordinates: this is checked.

_CIRCLING_SAMPLES = 3
_CIRCLING_ROUNDING = 1e-9


@dataclass(frozen=True)
class SteadyCircling:
    """The residuals of steady motion, for rows of unknowns: positions, then rates that follow from those held.

    following: velocities that follow from the others by the constraints. cyclic: coordinates that may rotate.
    """

    mechanism: Mechanism
    parameters: Mapping[str, Scalar]
    point: OperatingPoint
    following: tuple[int, ...]
    cyclic: tuple[int, ...]
    free: tuple[int, ...]
    varied: Varied | None = None
    rows: int = 0

    @property
    def positions(self) -> int:
        """The number of positions among the unknowns."""
        return len(self.point.q)

    @property
    def unknowns(self) -> int:
        """The number of unknowns, without the varied value."""
        return self.positions + len(self.free)

    def started(self, q: Floats) -> Floats:
        """Initial unknowns."""
        return np.hstack([q, np.tile(self.point.v[list(self.free)], (len(q), 1))])

    def at(self, unknowns: Floats) -> OperatingPoint:
        """The state of one row of unknowns."""
        return _point_at(self, unknowns)

    def missing(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Independent accelerations, values and rates of the constraints, and their slopes, row by row."""
        found = [self._missing(self.at(row)) for row in unknowns]
        return np.array([one for one, _ in found]), np.array([one for _, one in found])

    def _missing(self, point: OperatingPoint) -> tuple[Floats, Floats]:
        retained = [k for k in range(len(point.v)) if k not in self.following]
        rows = called(row_kernel(self.mechanism, self.parameters), point.arguments())
        holonomic = holonomic_rows(self.mechanism)
        count = len(retained) + len(holonomic) + len(rows[RATE])
        columns = [*self.free, *([] if self.varied is None else [self.varied.index])]
        try:
            motion = acceleration_slopes(self.mechanism, point, self.parameters)
        except TaskError:  # skip singular positions
            return np.full(count, np.nan), np.full((count, self.positions + len(columns)), np.nan)
        jacobian = rows[JACOBIAN]
        values = np.concatenate([motion.accelerations[retained], rows[VALUE][holonomic], rows[RATE]])
        by_displacement = np.vstack([motion.by_displacement[retained], jacobian[holonomic], rows[slope(RATE, "dq")]])
        by_displacement[:, list(self.cyclic)] = 0.0  # their values do not matter: they stay at their initial values
        by_velocity = np.vstack([motion.by_velocity[retained], np.zeros((len(holonomic), len(point.v))), jacobian])
        return values, np.hstack([by_displacement, by_velocity[:, columns]])


def steady_circling(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar],
    held: Sequence[int],
    plane: Sequence[int],
) -> SteadyCircling:
    """The equations of steady motion with held rates; plane: coordinates on which nothing depends at all."""
    following = _following(mechanism, point, parameters, held, plane)
    cyclic = _rotating(mechanism, point, parameters, following)
    _require_cyclic(mechanism, held, cyclic, following)
    free = tuple(k for k in cyclic if k not in held)
    v = np.zeros_like(point.v)
    retained = [*held, *free]
    v[retained] = point.v[retained]
    return SteadyCircling(mechanism, dict(parameters), replace(point, v=v), following, cyclic, free)


def _point_at(equations: Balance | SteadyCircling, unknowns: Floats) -> OperatingPoint:
    """The state of one row of unknowns: positions, multipliers (`rows`), free velocities, states, the varied value."""
    v, z = equations.point.v.copy(), equations.point.z
    first = equations.positions + equations.rows
    v[list(equations.free)] = unknowns[first : first + len(equations.free)]
    if isinstance(equations, Balance) and equations.states is not None:
        z = z.copy()
        z[list(equations.state_places)] = unknowns[equations.state_columns] * equations.states.sizes
    point = replace(equations.point, q=unknowns[: equations.positions], v=v, z=z)
    return point if equations.varied is None else equations.varied.at(point, float(unknowns[-1]))


def resting_matrix(equations: SteadyCircling, point: OperatingPoint) -> tuple[Floats, int]:
    """The linear system of the constant coordinates and of the velocities; and the number of rotating coordinates
    left out."""
    matrix, displaced = reduced_matrix(equations.mechanism, point, equations.parameters, equations.following)
    resting = [k for k, index in enumerate(displaced) if index not in equations.cyclic]
    retained = [*resting, *range(len(displaced), len(matrix))]
    return np.asarray(matrix[np.ix_(retained, retained)]), len(displaced) - len(resting)


def reduced_matrix(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar], following: Sequence[int]
) -> tuple[Floats, tuple[int, ...]]:
    """d(z', w')/d(z, w) for independent displacements z and velocities w; and which displacements z are."""
    rows = called(row_kernel(mechanism, parameters), point.arguments())
    jacobian = rows[JACOBIAN]
    size = len(point.v)
    retained = [k for k in range(size) if k not in following]
    names, holonomic = row_names_of(mechanism), holonomic_rows(mechanism)
    taken = list(row_rank(jacobian, names).independent)
    inverse = np.linalg.inv(jacobian[np.ix_(taken, list(following))])
    displaced, positions = solved_columns(jacobian[holonomic], [names[k] for k in holonomic])
    velocities, rotating = np.zeros((size, len(retained))), np.zeros((size, size))
    velocities[retained] = np.eye(len(retained))
    velocities[list(following)] = -inverse @ jacobian[np.ix_(taken, retained)]
    rotating[list(following)] = -inverse @ rows[slope(RATE, "dq")][taken]
    motion = acceleration_slopes(mechanism, point, parameters)
    by_place = (motion.by_displacement + motion.by_velocity @ rotating) @ positions
    lower = np.hstack([by_place, motion.by_velocity @ velocities])[retained]
    upper = np.hstack([rotating @ positions, velocities])[list(displaced)]
    return np.vstack([upper, lower]), displaced


def _following(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar],
    held: Sequence[int],
    plane: Sequence[int],
) -> tuple[int, ...]:
    """The dependent velocities: those of the plane if possible, held ones last."""
    jacobian = called(row_kernel(mechanism, parameters), point.arguments())[JACOBIAN]
    rows = list(row_rank(jacobian, row_names_of(mechanism)).independent)
    size = len(point.v)
    order = [*held, *(k for k in range(size) if k not in held and k not in plane)]
    order += [k for k in plane if k not in held]
    return tuple(sorted(order[k] for k in dependent_columns(jacobian[rows][:, order])))


def _rotating(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar], following: Sequence[int]
) -> tuple[int, ...]:
    """Coordinates on which neither w' nor the rates of other coordinates depend, at random states."""
    random = np.random.default_rng(5)
    size = len(point.v)
    influence = np.zeros((2 * size, size), dtype=bool)
    cyclic = set(range(size))
    for _ in range(_CIRCLING_SAMPLES):
        aside = replace(point, q=point.q + random.uniform(-0.5, 0.5, size), v=random.uniform(-1, 1, size))
        state = fitting(mechanism, aside, (), parameters, guess=True)
        matrix, displaced = reduced_matrix(mechanism, state, parameters, following)
        cyclic &= set(displaced)
        count = len(displaced)
        large = np.abs(matrix[:, :count]) > _CIRCLING_ROUNDING * float(np.max(np.abs(matrix)))
        influence[np.ix_(displaced, displaced)] |= large[:count]
        influence[size, list(displaced)] |= large[count:].any(axis=0)
    while True:
        others = [k for k in range(size) if k not in cyclic]
        wrong = {k for k in cyclic if influence[[*others, size], k].any()}
        if not wrong:
            return tuple(sorted(cyclic))
        cyclic -= wrong
