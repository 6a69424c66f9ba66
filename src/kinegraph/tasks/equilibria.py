"""`equilibria`: all positions of rest or steady motion that are found from many starts, each with its stability.

Newton's method on the equations of rest (`balance.py`), with exact Jacobians, all starts at once in one batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.assembly.places import is_among
from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.derive.constraints.analysis import row_names_of
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.seeds import generator
from kinegraph.tasks.angles import repeats, wrapped
from kinegraph.tasks.balance import Balance, balance
from kinegraph.tasks.cyclic import cyclic_velocities, holonomic_rows
from kinegraph.tasks.equations import force_kernel, row_kernel
from kinegraph.tasks.linear.linearise import Linearisation, linearised_at
from kinegraph.tasks.linear.periodic import Floquet, floquet, period_of
from kinegraph.tasks.operating_point import Floats, OperatingPoint, operating_point
from kinegraph.tasks.search_box import search_box
from kinegraph.tasks.singular import SingularPlace, apart, singular_places
from kinegraph.tasks.steady_circling import SteadyCircling, resting_matrix, steady_circling

_STEPS = 60
_LARGEST_STEP = 0.5
#: Steps below this that do not become shorter are rounding.
_ROUNDING = 1e-11
#: Seconds later at which an equilibrium of a model that depends on time is looked at again.
_LATER = (0.371, 1.093)


@dataclass(frozen=True)
class Equilibrium:
    """One position of rest, or steady motion with the velocities v; `unstable` counts growing eigenvalues.

    floquet: where the linear system is periodic in time; the eigenvalues are then Floquet's exponents. note: why
    nothing is known of the stability.
    """

    q: Floats
    eigenvalues: np.ndarray
    v: Floats
    floquet: Floquet | None = None
    note: str = ""

    @property
    def unstable(self) -> int:
        """How many eigenvalues grow."""
        if self.floquet is not None:
            return self.floquet.unstable
        scale = max(1.0, float(np.max(np.abs(self.eigenvalues), initial=0.0)))
        return int(np.sum(self.eigenvalues.real > 1e-7 * scale))

    @property
    def stable(self) -> bool | None:
        """True if no eigenvalue has a positive real part (in the linear sense); None if that does not decide."""
        return None if self.note else self.unstable == 0


@dataclass(frozen=True)
class Equilibria(RichDisplay):
    """All that were found, in the order of q; `starts` says from how many places Newton set out.

    singular: positions where searches ended but rows of loops depend on each other, or coordinates of a tree move
    nothing: what rests there is not determined.
    """

    equilibria: tuple[Equilibrium, ...]
    coordinates: tuple[str, ...]
    starts: int
    singular: tuple[SingularPlace, ...] = ()

    def __len__(self) -> int:
        return len(self.equilibria)

    def __getitem__(self, index: int) -> Equilibrium:
        return self.equilibria[index]

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.equilibria)


def equilibria(
    mechanism: MechanismSource,
    at: Mapping[str, Scalar] | None = None,
    *,
    within: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 400,
    seed: int = 0,
    parameters: Mapping[str, Scalar] | None = None,
) -> Equilibria:
    """Positions of rest under the given forces (`at`: tau:q1=..., inputs).

    A rate in `at` (psi'=3) asks for steady motions: the coordinate must be cyclic, and changes at this rate.
    within: where to look, by coordinate; by default one turn for angles and -1..1 for lengths.
    """
    mechanism = mechanism_of(mechanism)
    require_isolated(mechanism)
    point = operating_point(mechanism, at, parameters)
    equations = steady_equations(mechanism, point, parameters, rates_in(mechanism, at))
    found, singular = searched(mechanism, equations, within or {}, starts, seed, parameters)
    if not found and not any(place.coordinates for place in singular):
        ended = f" ({len(singular)} searches ended in singular positions)" if singular else ""
        raise TaskError(
            f"{mechanism.name}: no equilibrium was found from {starts} starts{ended}; widen `within`, or add starts"
        )
    described: list[Equilibrium] = []
    untold: list[SingularPlace] = []
    for unknowns in found:
        try:
            described.append(_described(mechanism, equations, unknowns, parameters))
        except TaskError as trouble:  # one position without a linear system does not take the others away
            untold.append(SingularPlace(equations.at(unknowns).q, reason=_first_line(trouble)))
    return Equilibria(tuple(described), mechanism.layout.positions, starts, (*singular, *untold))


def require_isolated(mechanism: Mechanism) -> None:
    """Something must be able to move, and equilibria of bodies that turn freely are not isolated points."""
    if not mechanism.layout.positions:
        raise TaskError(f"{mechanism.name} has no coordinates: it rests wherever it is")
    if mechanism.layout.quaternions:
        raise TaskError("equilibria of free rotations are not isolated: write rotations with Rx, Ry, Rz here")


def rates_in(mechanism: Mechanism, at: Mapping[str, Scalar] | None) -> tuple[str, ...]:
    """The velocities that `at` names."""
    return tuple(name for name in at or {} if name in mechanism.layout.velocities)


def searched(
    mechanism: Mechanism,
    equations: Balance | SteadyCircling,
    within: Mapping[str, tuple[float, float]],
    starts: int,
    seed: int,
    parameters: Mapping[str, Scalar] | None = None,
) -> tuple[list[Floats], tuple[SingularPlace, ...]]:
    """Unknowns of all solutions that Newton's method finds from many starts, each once; singular positions apart."""
    box = search_box(mechanism, within, 1.0)
    random = generator(seed)
    first = random.uniform(box[:, 0], box[:, 1], (starts, len(box)))
    places = np.vstack([equations.point.q, np.zeros(len(box)), first])
    places[:, list(equations.cyclic)] = equations.point.q[list(equations.cyclic)]
    found = _newton(equations, places)
    distinct = _distinct(mechanism, _lasting(mechanism, equations, found), within)
    ended = [(equations.at(unknowns), _missing(equations, unknowns)) for unknowns in distinct]
    singular = singular_places(mechanism, parameters, ended)
    regular = [unknowns for unknowns, place in zip(distinct, singular, strict=True) if place is None]
    return regular, apart([place for place in singular if place is not None])


def _missing(equations: Balance | SteadyCircling, unknowns: Floats) -> float:
    """What is missing for balance and closed loops, beside the largest slope."""
    residual, slope = equations.missing(unknowns[None])
    return float(np.max(np.abs(residual), initial=0.0) / max(float(np.max(np.abs(slope), initial=0.0)), 1e-300))


def _lasting(mechanism: Mechanism, equations: Balance | SteadyCircling, unknowns: Floats) -> Floats:
    """Those that are solutions at other times too, where a model depends on time."""
    if not (depends_on_time(mechanism) and len(unknowns)):
        return unknowns
    retained = np.ones(len(unknowns), dtype=bool)
    for later in _LATER:
        moved = replace(equations, point=replace(equations.point, t=equations.point.t + later))
        residual, slope = moved.missing(unknowns)
        scale = np.maximum(np.max(np.abs(slope), axis=(1, 2), initial=0.0), 1e-300)
        retained &= np.max(np.abs(residual), axis=1, initial=0.0) <= 1e-8 * scale
    if not retained.any():
        raise TaskError(
            f"{mechanism.name}: positions that balance now do not a moment later: what the model prescribes in time "
            "moves it\n  equilibria need forces and motions that do not change with time"
        )
    return np.asarray(unknowns[retained])


def _newton(equations: Balance | SteadyCircling, q: Floats) -> Floats:
    """Where Newton's method arrives, row by row; rows that do not arrive are left out."""
    unknowns = equations.started(q)
    moving = np.flatnonzero(np.all(np.isfinite(unknowns), axis=1))
    last = np.full(len(unknowns), np.inf)
    for _ in range(_STEPS):
        if not len(moving):
            break
        residual, slope = equations.missing(unknowns[moving])
        finite = np.all(np.isfinite(residual), axis=1) & np.all(np.isfinite(slope), axis=(1, 2))
        unknowns[moving[~finite]] = np.nan
        moving = moving[finite]
        step = (np.linalg.pinv(slope[finite], rcond=1e-13) @ residual[finite, :, None])[:, :, 0]
        largest = np.max(np.abs(step[:, : equations.positions]), axis=1, initial=0.0)
        unknowns[moving] -= step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))[:, None]
        done = (largest < 1e-14) | ((largest < _ROUNDING) & (largest > 0.7 * last[moving]))
        last[moving] = largest
        moving = moving[~done]
    return _arrived(equations, unknowns[np.all(np.isfinite(unknowns), axis=1)])


def _arrived(equations: Balance | SteadyCircling, unknowns: Floats) -> Floats:
    """The rows at which next to nothing is missing."""
    if not len(unknowns):
        return unknowns
    residual, slope = equations.missing(unknowns)
    scale = np.maximum(np.max(np.abs(slope), axis=(1, 2), initial=0.0), 1e-300)
    arrived = np.max(np.abs(residual), axis=1, initial=0.0) <= 1e-10 * scale
    return np.asarray(unknowns[arrived])


def _distinct(mechanism: Mechanism, unknowns: Floats, within: Mapping[str, tuple[float, float]]) -> list[Floats]:
    """Each equilibrium once. An angle is the same after a turn unless an element holds it or the user limits it."""
    size = len(mechanism.layout.positions)
    turns = repeating(mechanism, within)
    found: list[Floats] = []
    for row in wrapped(unknowns, turns):
        if not is_among(row[:size], [other[:size] for other in found], turns):
            found.append(row)
    return sorted(found, key=lambda row: np.round(row[:size], 9).tolist())


def repeating(mechanism: Mechanism, within: Mapping[str, tuple[float, float]]) -> list[int]:
    """The positions that are the same after a turn, by index."""
    names = mechanism.layout.positions
    return [index for index, name in enumerate(names) if name not in within and repeats(mechanism, name)]


def steady_equations(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, rates: tuple[str, ...]
) -> Balance | SteadyCircling:
    """The equations of rest or steady motion; those of motion in circles where a rate asks for it."""
    if not rates or len(holonomic_rows(mechanism)) == len(row_names_of(mechanism)):
        return balance(mechanism, point, parameters, rates)
    forces, rows = (kernel(mechanism, parameters, point.runtime) for kernel in (force_kernel, row_kernel))
    plane = cyclic_velocities(mechanism, point, forces, rows)
    held = [mechanism.layout.velocities.index(name) for name in rates]
    if set(held) <= set(plane):
        return balance(mechanism, point, parameters, rates)
    return steady_circling(mechanism, point, parameters or {}, held, plane)


def _described(
    mechanism: Mechanism,
    equations: Balance | SteadyCircling,
    unknowns: Floats,
    parameters: Mapping[str, Scalar] | None,
) -> Equilibrium:
    point = equations.at(unknowns)
    if isinstance(equations, Balance):
        linear = linearised_at(mechanism, point, parameters=parameters)
        if depends_on_time(mechanism):
            return _in_time(mechanism, point, linear, parameters)
        return Equilibrium(point.q, linear.eigenvalues, point.v)
    matrix, rotating = resting_matrix(equations, point)
    values = np.concatenate([np.zeros(rotating), np.linalg.eigvals(matrix)])
    return Equilibrium(point.q, values[np.argsort(np.abs(values))], point.v)


def _in_time(
    mechanism: Mechanism, point: OperatingPoint, linear: Linearisation, parameters: Mapping[str, Scalar] | None
) -> Equilibrium:
    """An equilibrium of a model that depends on time: by Floquet multipliers, unless the time cancels."""
    try:
        period = period_of(mechanism, point, parameters)
    except TaskError as trouble:
        return Equilibrium(point.q, np.zeros(0), point.v, note=_first_line(trouble))
    if period is None:
        return Equilibrium(point.q, linear.eigenvalues, point.v)
    repeating = floquet(mechanism, point, period, parameters)
    return Equilibrium(point.q, repeating.exponents, point.v, repeating)


def _first_line(trouble: TaskError) -> str:
    return str(trouble).partition("\n")[0]
