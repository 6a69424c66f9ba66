"""Columns computed from the states of a run, and checks on it: first integrals, drift, and error estimates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import floor, log10
from types import MappingProxyType

import numpy as np

from kinegraph.compiler.compile import derive
from kinegraph.derive.dynamics.state_rate import DISSIPATED, SIGNS, WORK, along_motion, weighted
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree.expressions import Names
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Output
from kinegraph.model.constraints import is_constrained
from kinegraph.model.definitions import named_expressions
from kinegraph.model.expressions import PI, TIME
from kinegraph.model.expressions import names as names_in
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.states import is_momentum
from kinegraph.simulate.checks.first_integrals import (
    ENERGY,
    JACOBI,
    MOMENTA,
    candidates,
    combinations,
    conserved_momenta,
    random_states,
    rows,
    states_beside,
    vanishes,
)
from kinegraph.simulate.drift import Drift
from kinegraph.simulate.equations import Equations, VelocityForm, row_values, state_symbols
from kinegraph.solve.methods.step_control import Control, FixedStep
from kinegraph.solve.problem import Floats
from kinegraph.solve.solution import Check, Solution

# Columns computed from the states, and the first integrals of a mechanism.

KINETIC, POTENTIAL = "kinetic", "potential"

_LARGEST = 20_000  # nodes of a right-hand side up to which first integrals are searched
_PLACES = 50  # states of a run for the size of momenta
_STATES = 7  # states of a run for the search of first integrals
_NORM_LIMIT = 1e-9
_PLAINLY_WRONG = 1e-2  # relative energy or momentum error allowed with fixed steps, or a gap of loops [m, rad]
_ROUNDED = 1e-13  # of the levels of energies: rounding error
_STEADY = 1e-4  # of a level counts as a term [1/s] at states of a run: in steady motion all terms are rounding errors


@dataclass(frozen=True)
class Rows:
    """States of a run: times, positions, velocities and first-order states by row, and the energy balances by name."""

    times: Floats
    q: Floats
    v: Floats
    balances: Mapping[str, Floats]
    parameters: Floats
    fitting: tuple[Floats, Floats] | None = None
    z: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def closed(self) -> tuple[Floats, Floats]:
        """Positions and velocities projected onto loops and constraints."""
        return (self.q, self.v) if self.fitting is None else self.fitting


@lru_cache(maxsize=4)
def quantities(equations: Equations) -> Graph:
    """Energy, momentum and output points as one graph in q, v and t."""
    wanted = ["energy", "momentum", *(f"pose:{point.name}" for point in equations.mechanism.points)]
    return derive(equations.mechanism, wanted, parameters=equations.bound)


def observed(equations: Equations, graph: Graph, rows: Rows) -> dict[str, Floats]:
    """Columns: energies, momenta (total, about the fixed origin) and coordinates of output points."""
    count = len(rows.times)
    parameters = np.tile(rows.parameters, (count, 1))
    states = np.hstack([rows.q, rows.v, rows.times[:, None], parameters])
    values = row_values(graph, state_symbols(equations), states)
    kinetic, potential = values["energy"].T
    columns = {KINETIC: kinetic, POTENTIAL: potential, ENERGY: kinetic + potential}
    columns |= dict(zip(MOMENTA, values["momentum"].T, strict=True))
    for point in equations.mechanism.points:
        for axis, column in zip("xyz", values[f"pose:{point.name}"][:, :3, 3].T, strict=True):
            columns[f"{point.name}.{axis}"] = column
    return columns


def named(equations: Equations, rows: Rows) -> dict[str, Floats]:
    """Columns: quasi-velocities, and definitions that are functions of q, v, z and t alone."""
    mechanism = equations.mechanism
    known = {*mechanism.layout.initial, TIME, PI}
    known |= {parameter.name for parameter in mechanism.parameters}
    wanted = [one for one in named_expressions(mechanism) if names_in(one.value) <= known]
    if not wanted:
        return {}
    builder = GraphBuilder()
    scope = Names(builder, mechanism, equations.bound)
    graph = builder.graph([Output(one.name, (), (scope.scalar(one.value).index,)) for one in wanted])
    parameters = np.tile(rows.parameters, (len(rows.times), 1))
    states = np.hstack([rows.q, rows.v, rows.times[:, None], parameters, rows.z])
    symbols = (*state_symbols(equations), *Variables.STATES.symbols(mechanism))
    values = row_values(graph, symbols, states)
    return {one.name: np.broadcast_to(values[one.name], rows.times.shape) for one in wanted}


def observation(equations: Equations, rows: Rows) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """The columns computed from the states, and which of them are conserved."""
    graph = quantities(equations)
    return observed(equations, graph, rows), first_integrals(equations.in_velocities, graph, rows)


def first_integrals(equations: VelocityForm, graph: Graph, rows: Rows) -> tuple[str, ...]:
    """Energy, less its balances, and the conserved momenta: by the structure of the model, or by their rates.

    Every model has an energy balance, so its check is always made, as are those of momenta that the structure
    conserves: rates that do not add up must show. Vanishing rates reveal further conserved momenta, such as that of
    a body on an oblique rail. With loops and constraints, which a random state would violate, states of the run and
    near it are used.
    """
    mechanism, rate = equations.mechanism, equations.rate
    if len(rate) > _LARGEST or mechanism.contacts:
        return (ENERGY,)
    if is_constrained(mechanism):
        states = _run_states(equations, rows)
        if not len(states[TIME]):
            return (ENERGY,)
        steady = _steady_momenta(mechanism, rate, graph, states, _STEADY)
    else:
        states = _random_states(mechanism, equations.forces.sampled)
        steady = _of_any_motion(mechanism, rate, graph, equations.forces.sampled)
    conserved = conserved_momenta(equations, states)
    return (
        ENERGY,
        *(name for name, by_structure in zip(MOMENTA, conserved, strict=True) if by_structure or name in steady),
    )


@lru_cache(maxsize=32)
def _of_any_motion(mechanism: Mechanism, rate: Graph, graph: Graph, sampled: tuple[str, ...]) -> tuple[str, ...]:
    """The momenta of a tree that are conserved in every motion, independent of the run."""
    return _steady_momenta(mechanism, rate, graph, _random_states(mechanism, sampled), 0.0)


def _steady_momenta(
    mechanism: Mechanism, rate: Graph, graph: Graph, values: Mapping[str, Floats], steady: float
) -> tuple[str, ...]:
    momentum = replace(graph, outputs=(graph.output("momentum"),))
    levels = interpret(momentum, values)["momentum"]
    slopes = (along_motion(mechanism, one, momentum) for one in (rate, weighted(rate)))
    rates, parts = (interpret(slope, values)["momentum"] for slope in slopes)
    found = []
    for index, name in enumerate(MOMENTA):
        always_zero = vanishes(levels[:, index], np.abs(levels).max(axis=1))
        sizes = _sizes(parts[:, index], levels[:, index], steady)
        if vanishes(rates[:, index], sizes) and not always_zero:
            found.append(name)
    return tuple(found)


def _sizes(parts: Floats, levels: Floats, steady: float) -> Floats:
    return np.abs(parts) + steady * np.abs(levels) if steady else np.abs(parts)  # levels may be infinite


def _random_states(mechanism: Mechanism, sampled: tuple[str, ...]) -> dict[str, Floats]:
    """Three random states, by the names of the variables."""
    random = np.random.default_rng(1)
    values = {name: random.uniform(-1, 1, 3) for name in (*mechanism.layout.positions, *mechanism.layout.velocities)}
    for start in mechanism.layout.quaternions:
        names = mechanism.layout.positions[start : start + 4]
        length = np.sqrt(sum(values[name] ** 2 for name in names))
        values |= {name: values[name] / length for name in names}
    values |= {name: random.uniform(-1, 1, 3) for name in (*sampled, *mechanism.layout.states)}
    return values | {TIME: random.uniform(0, 1, 3)}


def _run_states(equations: Equations, rows: Rows) -> dict[str, Floats]:
    """Some states of the run, and as many near them, by the names of the variables."""
    layout, random = equations.mechanism.layout, np.random.default_rng(1)
    finite = np.flatnonzero(np.all(np.isfinite(np.hstack(rows.closed)), axis=1))
    places = finite[np.unique(np.linspace(0, len(finite) - 1, min(_STATES, len(finite))).astype(int))]
    own = rows.times[places], *(part[places] for part in rows.closed)
    times, q, v = (np.concatenate(both) for both in zip(own, states_beside(equations, *own), strict=True))
    values = dict(zip(layout.positions, q.T, strict=True))
    values |= zip(layout.velocities, v.T, strict=True)
    values |= {name: random.uniform(-1, 1, len(times)) for name in (*equations.forces.sampled, *layout.states)}
    return values | {TIME: times}


def checks(
    equations: Equations, integrals: tuple[str, ...], columns: Mapping[str, Floats], rows: Rows, rtol: float | None
) -> tuple[Check, ...]:
    """The relative change of each first integral along the run, and the deviation of quaternions from unit length."""
    limit = relative_limit(rtol)
    length_limit = max(_NORM_LIMIT, 1e2 * (rtol or 0.0))
    found = []
    for name in integrals:
        values = columns[name]
        if name == ENERGY:
            values = values - sum((SIGNS[one] * column for one, column in rows.balances.items()), np.zeros(1))
            error = energy_error(_drift(values, 1.0), columns[KINETIC], columns[POTENTIAL], rows.balances.values())
        else:
            error = _drift(values, max(_momentum_size(equations, columns, rows), abs(values[0])))
        found.append(Check(_label(name, rows), error, limit))
    for start in equations.mechanism.layout.quaternions:
        names = equations.mechanism.layout.positions[start : start + 4]
        lengths = np.linalg.norm(rows.q[:, start : start + 4], axis=1)
        found.append(Check(f"length of quaternion ({', '.join(names)})", _drift(lengths - 1, 1.0, 0.0), length_limit))
    return tuple(found)


def energy_error(moved: float, kinetic: Floats, potential: Floats, balances: Iterable[Floats]) -> float:
    """The energy error, relative to the energy that takes part in the motion.

    This is the kinetic energy, and the changes of the potential energy and of its balances. The level of the
    potential energy is arbitrary and does not count. Its rounding error is ignored.
    """
    parts = (potential, *balances)
    with np.errstate(invalid="ignore"):
        size = max(np.abs(kinetic).max(), *(np.ptp(part) for part in parts))
        rounding = _ROUNDED * sum(np.abs(part).max() for part in (kinetic, *parts))
        left = np.maximum(moved - rounding, 0.0)
        return float(left / size) if size > 0 else float(left)


def _momentum_size(equations: Equations, columns: Mapping[str, Floats], rows: Rows) -> float:
    """The size of momenta along a run, and of their terms: the sum may start at zero for bodies at rest."""
    places = np.unique(np.linspace(0, len(rows.times) - 1, _PLACES).astype(int))
    weights = np.random.default_rng(1).uniform(0.1, 1, rows.v.shape[1])
    uneven = replace(rows, times=rows.times[places], q=rows.q[places], v=rows.v[places] * weights)
    parts = observed(equations, quantities(equations), uneven)
    return max(float(np.abs(found[name]).max()) for name in MOMENTA for found in (columns, parts))


def relative_limit(rtol: float | None) -> float:
    """The allowed relative change of a first integral at this tolerance; with fixed steps, the change that means a
    wrong motion."""
    return _PLAINLY_WRONG if rtol is None else max(1e4 * rtol, 1e-10)


def _label(name: str, rows: Rows) -> str:
    if name == ENERGY:
        balances = "".join(f" {'-' if SIGNS[one] > 0 else '+'} {one}" for one in rows.balances)
        return f"energy balance ({ENERGY}{balances})" if balances else ENERGY
    return f"momentum {name}"


def _drift(values: Floats, size: float, start: float | None = None) -> float:
    level = values[0] if start is None else start
    with np.errstate(invalid="ignore"):  # energies may be infinite: the drift is then not a number, and the check fails
        moved = float(np.abs(values - level).max())
        return float(np.float64(moved) / size) if size > 0 else moved


def drift_facts(drift: Drift | None, conserved: tuple[Check, ...]) -> dict[str, float | None]:
    """The drift of positions, velocities and energy."""
    energy = next((one.error for one in conserved if one.name.startswith(ENERGY)), None)
    if drift is None:
        return {"position": 0.0, "velocity": 0.0, "energy": energy}
    return {
        "position": drift.left_position, "velocity": drift.left_velocity, "energy": energy,
        "position integrating": drift.position, "velocity integrating": drift.velocity,
    }  # fmt: skip


def drift_checks(drift: Drift | None) -> tuple[Check, ...]:
    """The gaps of loops and constraints before saved states were projected, and what remains."""
    if drift is None:
        return ()
    limit = drift.limit if drift.closed else _PLAINLY_WRONG  # stabilized loops are always slightly open
    return (
        Check("loops open by position, left", drift.left_position, limit),
        Check("loops open by velocity, left, relative to the largest", drift.relative_velocity, limit),
        Check("loops open by position, while integrating", drift.position, None),
    )


# Further first integrals as checks: momenta of cyclic coordinates, Jacobi's integral, and their combinations. Energy
# and total momentum are checked in every run; these only for small mechanisms without constraints, where the search
# takes milliseconds.

_LARGEST_COMBINED = 1500  # nodes of a right-hand side
_LARGEST_NUMBER = 1e140  # squares of larger ones are infinite


def momentum_checks(equations: VelocityForm, states: Rows, rtol: float | None) -> tuple[Check, ...]:
    """The change of each further first integral along the run, relative to the size of its terms and of momenta."""
    mechanism = equations.mechanism
    if (
        is_constrained(mechanism)
        or equations.runtime
        or equations.forces.sampled
        or len(equations.rate) > _LARGEST_COMBINED
    ):
        return ()
    wanted, found = _further_integrals(mechanism, equations.rate, quantities(equations))
    if not {WORK, DISSIPATED}.isdisjoint(
        equations.balances
    ):  # Jacobi's integral does not include the energy supplied by prescribed motions
        found = tuple(one for one in found if JACOBI not in one)
    if not found:
        return ()
    names = [output.name for output in wanted.outputs]
    numbers = row_values(wanted, state_symbols(equations), np.hstack([states.q, states.v, states.times[:, None]]))
    limit = relative_limit(rtol)
    least = max(float(np.max(np.abs(numbers[name]))) for name in names if is_momentum(name) or name in MOMENTA)
    checks = []
    for one in found:
        terms = np.array([factor * np.broadcast_to(numbers[name], states.times.shape) for name, factor in one.items()])
        total, size = terms.sum(axis=0), max(float(np.abs(terms).max()), least)
        drift = float(np.abs(total - total[0]).max())
        checks.append(Check(_combination_label(one), drift / size if size > 0 else drift, limit))
    return tuple(checks)


@lru_cache(maxsize=32)
def _further_integrals(
    mechanism: Mechanism, rate: Graph, observed: Graph
) -> tuple[Graph, tuple[Mapping[str, float], ...]]:
    """The candidates, and their combinations that are conserved in every motion. They depend on no run, so they are
    cached."""
    wanted = candidates(mechanism, observed)
    places = random_states(mechanism)
    values = rows(wanted, places)
    slopes, parts = (rows(along_motion(mechanism, one, wanted), places) for one in (rate, weighted(rate)))
    if not (np.abs(values).max() < _LARGEST_NUMBER and np.abs(slopes).max() < _LARGEST_NUMBER):
        return wanted, ()
    names = [output.name for output in wanted.outputs]
    # These are already checked.
    order = sorted(range(len(names)), key=lambda k: names[k] not in (ENERGY, *MOMENTA))
    found = combinations([names[k] for k in order], values[:, order], slopes[:, order], parts[:, order])
    return wanted, tuple(MappingProxyType(one) for one in found if not set(one) <= {ENERGY, *MOMENTA})


def _combination_label(combination: Mapping[str, float]) -> str:
    terms = [name if factor == 1 else f"{factor:.6g} {name}" for name, factor in combination.items()]
    return f"first integral {' + '.join(terms)}"


# Error estimates from a second run at tighter tolerances. Conserved energy does not give the error.

_TIGHTER = 0.01
_TIGHTEST = 1e-14


@dataclass(frozen=True)
class ErrorEstimate:
    """The largest difference of a column from a run at tighter tolerances, and the column's largest value."""

    name: str
    error: float
    size: float

    @property
    def digits(self) -> int:
        """How many decimal digits of the largest value agree."""
        if self.error == 0.0:
            return 15
        return min(max(floor(log10(self.size / self.error)), 0), 15) if self.size > 0 else 0

    def __str__(self) -> str:
        return f"{self.name}: error about {self.error:.1e}, {self.digits} digits agree"


def tighter(control: Control) -> Control:
    """The control of the second run: tolerances divided by 100, or steps half as long."""
    if not control.adaptive:
        return FixedStep(control.step / 2)
    atol = control.atol
    if isinstance(atol, Mapping):
        atol = {name: _TIGHTER * value for name, value in atol.items()}
    elif atol is not None:
        atol = _TIGHTER * atol
    return replace(control, rtol=max(_TIGHTER * control.rtol, _TIGHTEST), atol=atol)


def error_estimates(run: Solution, second: Solution) -> tuple[ErrorEstimate, ...]:
    """Positions and velocities of a run compared with a second one, at the times saved in both."""
    times, here, there = np.intersect1d(run.t, second.t, return_indices=True)
    found = []
    for name in (*run.positions, *run.velocities, *run.states) if len(times) else ():
        error = float(np.max(np.abs(run[name][here] - second[name][there])))
        found.append(ErrorEstimate(name, error, float(np.max(np.abs(second[name][there])))))
    return tuple(found)
