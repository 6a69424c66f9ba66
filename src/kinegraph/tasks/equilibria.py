"""`equilibria`: find all positions of rest or steady motion from many starts, each with its stability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kinegraph.assembly.initial_values import angle_names, is_among, wrapped
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.constraints.redundancy import holonomic_rows, row_names_of
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import TaskError
from kinegraph.model.constraints import is_constrained, refuse_states, tell_of_unknowns
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.seeds import generator
from kinegraph.tabular import Tabular, by_name
from kinegraph.tasks.linearize import (
    Floquet,
    Linearization,
    floquet,
    linearized_at,
    period_of,
    real_and_imaginary,
)
from kinegraph.tasks.operating_point import (
    VALUE,
    Floats,
    OperatingPoint,
    called,
    force_kernel,
    operating_point,
    row_kernel,
    search_box,
    state_kernel,
)
from kinegraph.tasks.steady.balance import (
    Balance,
    SteadyCircling,
    balance,
    cyclic_velocities,
    random_states,
    resting_matrix,
    steady_circling,
)
from kinegraph.tasks.steady.continua import Hit, Path, classified, grouped, path_along, usual_slopes
from kinegraph.tasks.tangent_space import SingularPlace, apart, singular_places

_STEPS = 60
_LARGEST_STEP = 0.5
#: Steps below this that stop shrinking are rounding errors.
_ROUNDING = 1e-11
#: Along a continuum, forces and rates change this much more easily than positions.
_STAYING = 1e5
#: Random positions at which slopes are sampled.
_SAMPLES = 24
#: An equilibrium of a time-dependent model is checked again this many seconds later.
_LATER = (0.371, 1.093)


@dataclass(frozen=True)
class Equilibrium:
    """One position of rest, or steady motion with the velocities v; `unstable` counts growing eigenvalues.

    z: the first-order states, whose rates vanish too.

    stable in the linear sense: no eigenvalue grows. This is undecided if linear forces vanish along some direction
    (`neutral`), as at the origin of x^3 or -x^4, other than along a continuum of equilibria: `stable` is then None.
    floquet: the linear system is periodic in time, and the eigenvalues are Floquet exponents. note: why the
    stability is unknown.
    """

    q: Floats
    eigenvalues: np.ndarray
    v: Floats
    floquet: Floquet | None = None
    note: str = ""
    neutral: int = 0
    z: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def unstable(self) -> int:
        """How many eigenvalues grow."""
        if self.floquet is not None:
            return self.floquet.unstable
        scale = max(1.0, float(np.max(np.abs(self.eigenvalues), initial=0.0)))
        return int(np.sum(self.eigenvalues.real > 1e-7 * scale))

    @property
    def stable(self) -> bool | None:
        """True if no eigenvalue has a positive real part (in the linear sense); None if that is undecided."""
        if self.unstable:
            return False
        return None if self.note or self.neutral else True

    @property
    def undecided(self) -> str:
        """Why stability is not decided; empty if it is."""
        if self.stable is not None:
            return ""
        return self.note or "linear forces vanish along some direction, so eigenvalues do not decide"


@dataclass(frozen=True)
class Continuum:
    """Equilibria that are not isolated: an example, the dimension of the continuum, and the range of some of them.

    low, high: the smallest and largest positions among those found.
    """

    example: Equilibrium
    dimension: int
    low: Floats
    high: Floats
    found: int


@dataclass(frozen=True)
class Equilibria(Tabular):
    """All isolated equilibria found, ordered by q; `starts` is the number of Newton starts.

    singular: positions where searches ended but loop rows are dependent, or coordinates of a tree are singular:
    equilibrium is not determined there. continua: equilibria that are not isolated, each continuum once.
    """

    equilibria: tuple[Equilibrium, ...]
    coordinates: tuple[str, ...]
    starts: int
    singular: tuple[SingularPlace, ...] = ()
    continua: tuple[Continuum, ...] = ()
    velocities: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.equilibria)

    def __getitem__(self, index: int) -> Equilibrium:
        return self.equilibria[index]

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.equilibria)

    @property
    def listed(self) -> tuple[Equilibrium, ...]:
        """The isolated equilibria, then one of each continuum."""
        return (*self.equilibria, *(one.example for one in self.continua))

    @property
    def moving(self) -> tuple[int, ...]:
        """The places of the velocities that are not zero in some steady motion."""
        return tuple(k for k in range(len(self.velocities)) if any(one.v[k] for one in self.listed))

    def _table(self) -> Mapping[str, np.ndarray]:
        """A row for each isolated equilibrium, then one for an example of each continuum."""
        listed, verdicts = self.listed, {True: "yes", False: "no", None: "undecided"}
        dimensions = [0] * len(self.equilibria) + [one.dimension for one in self.continua]
        return {
            **by_name(self.coordinates, [one.q for one in listed]),
            **by_name(self.velocities, [one.v for one in listed]),
            **by_name(self.states, [one.z for one in listed]),
            "stable": np.array([verdicts[one.stable] for one in listed]),
            "unstable": np.array([one.unstable for one in listed], dtype=int),
            "dimension": np.array(dimensions, dtype=int),
        }

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        continua = [
            {
                **self._entry(one.example), "dimension": one.dimension, "found": one.found,
                "low": self._by_name(one.low), "high": self._by_name(one.high),
            }
            for one in self.continua
        ]  # fmt: skip
        singular = [
            {"q": self._by_name(one.q), "rows": one.rows, "coordinates": one.coordinates, "reason": str(one)}
            for one in self.singular
        ]
        entries = [self._entry(one) for one in self.equilibria]
        return {"equilibria": entries, "starts": self.starts, "singular": singular, "continua": continua}

    def _by_name(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.coordinates, values.tolist(), strict=True))

    def _entry(self, one: Equilibrium) -> dict[str, object]:
        floquet, rates = one.floquet, {self.velocities[k]: float(one.v[k]) for k in self.moving}
        multipliers = [real_and_imaginary(value) for value in floquet.multipliers] if floquet else []
        return {
            "q": self._by_name(one.q),
            "stable": one.stable,
            "eigenvalues": [real_and_imaginary(value) for value in one.eigenvalues],
            **({"multipliers": multipliers, "period": floquet.period} if floquet else {}),
            **({"note": one.undecided} if one.undecided else {}),
            **({"rates": rates} if rates else {}),
            **({"states": dict(zip(self.states, one.z.tolist(), strict=True))} if self.states else {}),
        }


def equilibria(
    model: MechanismSource,
    state: Mapping[str, Scalar] | None = None,
    *,
    unknown: Sequence[str] | str = (),
    bounds: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 400,
    seed: int = 0,
    parameters: Mapping[str, Scalar] | None = None,
) -> Equilibria:
    """Find equilibria and their stability from many starts. The rates of first-order states vanish too.

    state: forces, inputs and a first guess (`tau:q1`, inputs, `q1`, states). A rate (psi'=3) asks for steady motions;
        its coordinate must be cyclic.
    unknown: rates of cyclic coordinates to find, at which drives and loads balance; the search starts at those of
        `state` or the model.
    bounds: limits of the search by coordinate, by default one turn for angles and -1..1 for lengths; and of the starts
        of unknown rates and of first-order states, by default at the state alone.
    starts, seed: number and seed of the random starts.
    """
    mechanism = mechanism_of(model)
    require_isolated(mechanism)
    tell_of_unknowns(mechanism, state or ())
    point = operating_point(mechanism, state, parameters, guess=True)
    sought = unknown_rates(mechanism, unknown)
    equations = steady_equations(mechanism, point, parameters, rates_in(mechanism, state), sought)
    found = searched(mechanism, equations, bounds or {}, starts, seed, parameters)
    if not (found.isolated or found.continua or any(place.coordinates for place in found.singular)):
        ended = f" ({len(found.singular)} searches ended in singular positions)" if found.singular else ""
        raise TaskError(
            f"{mechanism.name}: no equilibrium found from {starts} starts{ended}; widen `bounds`, or add starts"
        )
    described: list[Equilibrium] = []
    continua: list[Continuum] = []
    untold: list[SingularPlace] = []
    for isolated in found.isolated:
        _add(described, untold, mechanism, equations, isolated, parameters)
    for group in found.continua:
        examples: list[Equilibrium] = []
        hit = _nearest(equations, group)
        _add(examples, untold, mechanism, equations, hit, parameters)
        positions = np.array([one.unknowns[: equations.positions] for one in group])
        continua += [
            Continuum(one, hit.dimension, positions.min(axis=0), positions.max(axis=0), len(group)) for one in examples
        ]
    names = mechanism.layout.positions
    return Equilibria(
        tuple(described), names, starts, (*found.singular, *untold), tuple(continua), mechanism.layout.velocities,
        mechanism.layout.states,
    )  # fmt: skip


def _add(
    described: list[Equilibrium],
    untold: list[SingularPlace],
    mechanism: Mechanism,
    equations: Balance | SteadyCircling,
    hit: Hit,
    parameters: Mapping[str, Scalar] | None,
) -> None:
    """The equilibrium of a solution. A position without a linear system does not discard the others."""
    try:
        one = _described(mechanism, equations, hit.unknowns, parameters)
        described.append(replace(one, neutral=hit.neutral - hit.dimension))
    except TaskError as trouble:
        untold.append(SingularPlace(equations.at(hit.unknowns).q, reason=_first_line(trouble)))


def _nearest(equations: Balance | SteadyCircling, group: Sequence[Hit]) -> Hit:
    """The point of a continuum nearest to the requested state."""
    return min(group, key=lambda hit: float(np.linalg.norm(hit.unknowns[: equations.positions] - equations.point.q)))


def require_isolated(mechanism: Mechanism) -> None:
    """TaskError if nothing can move, or if free rotations make equilibria non-isolated."""
    if not mechanism.layout.positions:
        raise TaskError(f"{mechanism.name} has no coordinates, so every position is an equilibrium")
    if mechanism.layout.quaternions:
        raise TaskError("equilibria of free rotations are not isolated: write the rotations with Rx, Ry, Rz")


def rates_in(mechanism: Mechanism, at: Mapping[str, Scalar] | None) -> tuple[str, ...]:
    """The velocities that `state` names."""
    return tuple(name for name in at or {} if name in mechanism.layout.velocities)


def unknown_rates(mechanism: Mechanism, unknown: Sequence[str] | str) -> tuple[str, ...]:
    """The rates to find, checked."""
    names = tuple(part.strip() for part in unknown.split(",") if part.strip()) if isinstance(unknown, str) else unknown
    for name in names:
        if name not in mechanism.layout.velocities:
            hint = did_you_mean(str(name), mechanism.layout.velocities)
            raise TaskError(f"unknown: {mechanism.name} has no rate {name!r}\n  {hint}")
    return tuple(names)


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: isolated solutions, those of each continuum, and singular positions."""

    isolated: tuple[Hit, ...]
    continua: tuple[tuple[Hit, ...], ...]
    singular: tuple[SingularPlace, ...]

    def representatives(self, equations: Balance | SteadyCircling) -> list[Hit]:
        """Every isolated solution, and one for each continuum."""
        return [*self.isolated, *(_nearest(equations, group) for group in self.continua)]


def searched(
    mechanism: Mechanism,
    equations: Balance | SteadyCircling,
    within: Mapping[str, tuple[float, float]],
    starts: int,
    seed: int,
    parameters: Mapping[str, Scalar] | None = None,
) -> SearchResult:
    """All solutions that Newton's method finds from many starts, each once; singular positions and continua
    separately."""
    others = (*mechanism.layout.velocities, *mechanism.layout.states)
    speeds = {name: pair for name, pair in within.items() if name in others}
    box = search_box(mechanism, {name: pair for name, pair in within.items() if name not in speeds}, 1.0)
    random = generator(seed)
    first = random.uniform(box[:, 0], box[:, 1], (starts, len(box)))
    places = np.vstack([equations.point.q, np.zeros(len(box)), first])
    places[:, list(equations.cyclic)] = equations.point.q[list(equations.cyclic)]
    usual = usual_slopes(equations, equations.started(_beside(equations, box, random)))
    turns = repeating(mechanism, equations.point, parameters)
    begun = equations.started(places)
    _start_others(mechanism, equations, begun, speeds, random)
    found = _lasting(mechanism, equations, solutions(equations, begun))
    distinct = _distinct(found, turns, box, equations)
    ended = [(equations.at(unknowns), _missing(equations, unknowns)) for unknowns in distinct]
    singular = singular_places(mechanism, parameters, ended)
    regular = [unknowns for unknowns, place in zip(distinct, singular, strict=True) if place is None]
    path = continuum_path(equations, turns)
    hits = classified(equations, usual, regular, path.corrector)
    groups = grouped([hit for hit in hits if hit.dimension], path)
    return SearchResult(
        tuple(hit for hit in hits if not hit.dimension),
        tuple(tuple(group) for group in groups),
        apart([place for place in singular if place is not None]),
    )


def _start_others(
    mechanism: Mechanism,
    equations: Balance | SteadyCircling,
    begun: Floats,
    speeds: Mapping[str, tuple[float, float]],
    random: np.random.Generator,
) -> None:
    """Random starts of the unknown rates and states that have bounds; the first start stays that of the state."""
    names = [mechanism.layout.velocities[k] for k in equations.free]
    sizes = dict.fromkeys(names, 1.0)
    if isinstance(equations, Balance) and equations.states is not None:
        sizes |= zip((mechanism.layout.states[k] for k in equations.state_places), equations.states.sizes, strict=True)
    for name, (least, most) in speeds.items():
        if name in mechanism.layout.states and name not in sizes:
            raise TaskError(f"bounds: nothing depends on the state {name}, so it has no value to search for")
        if name not in sizes:
            raise TaskError(f"bounds: {name} is not an unknown rate: name it in `unknown` (--unknown) too")
        if not (np.isfinite(most - least) and least <= most):
            raise TaskError(f"bounds: {name} is from {least:g} to {most:g}; give two finite numbers, the lower first")
        column = _rates(equations).start + list(sizes).index(name)
        begun[1:, column] = random.uniform(least, most, len(begun) - 1) / sizes[name]


def _beside(equations: Balance | SteadyCircling, box: Floats, random: np.random.Generator) -> Floats:
    """Random positions with typical slopes."""
    places = random.uniform(box[:, 0], box[:, 1], (_SAMPLES, len(box)))
    places[:, list(equations.cyclic)] = equations.point.q[list(equations.cyclic)]
    return places


def continuum_path(equations: Balance | SteadyCircling, turns: Sequence[int]) -> Path:
    """Steps along continua by Newton's method: forces and rates follow positions."""
    return path_along(equations, lambda rows: _newton_rows(equations, rows, _STAYING), difference_without(turns))


def difference_without(turns: Sequence[int]) -> Callable[[Floats, Floats], Floats]:
    """The difference of rows, modulo whole turns."""

    def difference(one: Floats, other: Floats) -> Floats:
        found = np.asarray(one - other)
        found[..., list(turns)] = np.mod(found[..., list(turns)] + np.pi, 2 * np.pi) - np.pi
        return found

    return difference


def _missing(equations: Balance | SteadyCircling, unknowns: Floats) -> float:
    """The force residual relative to the largest force slope, and the loop residual relative to the largest loop slope.

    Near a singular position constraint forces are unbounded, and relative to them any loop would count as closed.
    """
    residual, slope = equations.missing(unknowns[None])
    parts = (slice(None, equations.positions), slice(equations.positions, None))
    return max(
        float(np.max(np.abs(residual[:, part]), initial=0.0))
        / max(float(np.max(np.abs(slope[:, part]), initial=0.0)), 1e-300)
        for part in parts
    )


def _lasting(mechanism: Mechanism, equations: Balance | SteadyCircling, unknowns: Floats) -> Floats:
    """The solutions that also hold at other times, for a time-dependent model."""
    if not (depends_on_time(mechanism) and len(unknowns)):
        return unknowns
    retained = np.ones(len(unknowns), dtype=bool)
    for later in _LATER:
        moved = replace(equations, point=replace(equations.point, t=equations.point.t + later))
        residual, slope = moved.missing(_held_then(moved, unknowns))
        scale = np.maximum(np.max(np.abs(slope), axis=(1, 2), initial=0.0), 1e-300)
        retained &= np.max(np.abs(residual), axis=1, initial=0.0) <= 1e-8 * scale
    if not retained.any():
        raise TaskError(
            f"{mechanism.name}: positions in balance now are not a moment later, because the model depends "
            "on time\n"
            "  equilibria need forces and motions that do not change with time"
        )
    return np.asarray(unknowns[retained])


def _held_then(equations: Balance | SteadyCircling, unknowns: Floats) -> Floats:
    """The same positions with the constraint forces at another time: an accelerating base changes them."""
    if isinstance(equations, Balance) and equations.rows and not equations.free:
        found = equations.started(unknowns[:, : equations.positions])
        found[:, equations.state_columns] = unknowns[:, equations.state_columns]
        return found
    return unknowns


def _rates(equations: Balance | SteadyCircling) -> slice:
    """The entries of the unknowns that are rates or first-order states."""
    return slice(equations.positions + equations.rows, equations.unknowns)


def solutions(equations: Balance | SteadyCircling, unknowns: Floats) -> Floats:
    """The solutions of Newton's method by row; rows that do not converge are dropped."""
    found = _newton_rows(equations, unknowns)
    return found[np.all(np.isfinite(found), axis=1)]


def _newton_rows(equations: Balance | SteadyCircling, unknowns: Floats, staying: float = 1.0) -> Floats:
    """The solutions of Newton's method; rows that do not converge are NaN.

    staying: how much more a change of positions costs than one of forces and rates, where the slope leaves a choice.
    """
    unknowns = unknowns.copy()
    weights = np.ones(unknowns.shape[1])
    weights[equations.positions :] = staying
    moving = np.flatnonzero(np.all(np.isfinite(unknowns), axis=1))
    last = np.full(len(unknowns), np.inf)
    for _ in range(_STEPS):
        if not len(moving):
            break
        residual, slope = equations.missing(unknowns[moving])
        finite = np.all(np.isfinite(residual), axis=1) & np.all(np.isfinite(slope), axis=(1, 2))
        unknowns[moving[~finite]] = np.nan
        moving = moving[finite]
        inverse = weights[:, None] * np.linalg.pinv(slope[finite] * weights, rcond=1e-13)
        step = (inverse @ residual[finite, :, None])[:, :, 0]
        largest = np.max(np.abs(step[:, : equations.positions]), axis=1, initial=0.0)
        unknowns[moving] -= step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))[:, None]
        rates = step[:, _rates(equations)] / (1 + np.abs(unknowns[moving][:, _rates(equations)]))
        largest = np.maximum(largest, np.max(np.abs(rates), axis=1, initial=0.0))
        done = (largest < 1e-14) | ((largest < _ROUNDING) & (largest > 0.7 * last[moving]))
        last[moving] = largest
        moving = moving[~done]
    finite = np.flatnonzero(np.all(np.isfinite(unknowns), axis=1))
    unknowns[finite[~_arrived(equations, unknowns[finite])]] = np.nan
    return unknowns


def _arrived(equations: Balance | SteadyCircling, unknowns: Floats) -> np.ndarray:
    """Which rows have a negligible residual."""
    if not len(unknowns):
        return np.zeros(0, dtype=bool)
    residual, slope = equations.missing(unknowns)
    scale = np.maximum(np.max(np.abs(slope), axis=(1, 2), initial=0.0), 1e-300)
    arrived = np.max(np.abs(residual), axis=1, initial=0.0) <= 1e-10 * scale
    return np.asarray(arrived & equations.closed(unknowns) if isinstance(equations, Balance) else arrived)


def _distinct(unknowns: Floats, turns: Sequence[int], box: Floats, equations: Balance | SteadyCircling) -> list[Floats]:
    """Each solution once. Angles are equal modulo a turn unless something depends on the angle itself."""
    rates = _rates(equations)

    def place(row: Floats) -> Floats:
        return np.concatenate([row[: equations.positions], row[rates] / (1 + np.abs(row[rates]))])

    limits = np.where((box[:, 1] - box[:, 0] < 2 * np.pi + 1e-6)[:, None], box, [-np.pi, np.pi])
    found: list[Floats] = []
    for row in wrapped(unknowns, turns, limits):
        if not is_among(place(row), [place(other) for other in found], turns):
            found.append(row)
    return sorted(found, key=lambda row: np.round(place(row), 9).tolist())


def repeating(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar] | None,
    among: Iterable[str] | None = None,
) -> list[int]:
    """The indices of angles that are periodic by a turn: no force and no constraint changes at random states.

    among: the coordinates to try; by default those that occur only in rotations. With them the values of constraints
    may change: a gear or a prescribed crank turns several coordinates together.
    """
    random = np.random.default_rng(9)
    size = len(point.q)
    kernels = [force_kernel(mechanism, parameters, point.runtime)]
    if is_constrained(mechanism):
        kernels.append(row_kernel(mechanism, parameters, point.runtime))
    states = state_kernel(mechanism, parameters, point.runtime)
    kernels += [] if states is None else [states]
    angles = angle_names(mechanism) if among is None else frozenset(among)
    found = [index for index, name in enumerate(mechanism.layout.positions) if name in angles]
    for _ in range(_SAMPLES // 8):
        state = replace(point, q=point.q + random.uniform(-1, 1, size), v=random.uniform(-1, 1, len(point.v)))
        state = replace(state, z=random_states(point.z, random, 1)[0])
        for kernel in kernels:
            before = called(kernel, state.arguments())
            if among is not None:
                before.pop(VALUE, None)
            found = [k for k in found if _same(before, called(kernel, state.at(state.q + _turn(size, k)).arguments()))]
    return found


def _turn(size: int, index: int) -> Floats:
    turn = np.zeros(size)
    turn[index] = 2 * np.pi
    return turn


def _same(before: Mapping[str, Floats], after: Mapping[str, Floats]) -> bool:
    """Whether all results are equal up to rounding; those without a value are ignored."""
    for name, value in before.items():
        scale = max(float(np.max(np.abs(value), initial=0.0)), 1.0)
        if np.isfinite(scale) and not np.max(np.abs(value - after[name]), initial=0.0) <= 1e-9 * scale:
            return False
    return True


def steady_equations(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar] | None,
    rates: tuple[str, ...],
    unknown: tuple[str, ...] = (),
) -> Balance | SteadyCircling:
    """The equations of rest or steady motion, with rates that hold and rates to find; those of circular motion if a
    rate requires it."""
    rates = tuple(name for name in rates if name not in unknown)
    if unknown or not rates or len(holonomic_rows(mechanism)) == len(row_names_of(mechanism)):
        return balance(mechanism, point, parameters, rates, unknown)
    forces, rows = (kernel(mechanism, parameters, point.runtime) for kernel in (force_kernel, row_kernel))
    plane = cyclic_velocities(mechanism, point, forces, rows, states=state_kernel(mechanism, parameters, point.runtime))
    held = [mechanism.layout.velocities.index(name) for name in rates]
    if set(held) <= set(plane):
        return balance(mechanism, point, parameters, rates)
    refuse_states(mechanism, "steady motion on rolling or skating bodies")
    return steady_circling(mechanism, point, parameters or {}, held, plane)


def _described(
    mechanism: Mechanism,
    equations: Balance | SteadyCircling,
    unknowns: Floats,
    parameters: Mapping[str, Scalar] | None,
) -> Equilibrium:
    point = equations.at(unknowns)
    if isinstance(equations, Balance):
        lasting = len(equations.state_places) < len(point.z)
        linear = linearized_at(mechanism, point, parameters=parameters, steady=not lasting)
        if depends_on_time(mechanism):
            return _in_time(mechanism, point, linear, parameters)
        return Equilibrium(point.q, linear.eigenvalues, point.v, z=point.z)
    matrix, rotating = resting_matrix(equations, point)
    values = np.concatenate([np.zeros(rotating), np.linalg.eigvals(matrix)])
    return Equilibrium(point.q, values[np.argsort(np.abs(values))], point.v)


def _in_time(
    mechanism: Mechanism, point: OperatingPoint, linear: Linearization, parameters: Mapping[str, Scalar] | None
) -> Equilibrium:
    """An equilibrium of a time-dependent model: by Floquet multipliers, unless the time cancels."""
    try:
        period = period_of(mechanism, point, parameters)
    except TaskError as trouble:
        return Equilibrium(point.q, np.zeros(0), point.v, note=_first_line(trouble), z=point.z)
    if period is None:
        return Equilibrium(point.q, linear.eigenvalues, point.v, z=point.z)
    repeating = floquet(mechanism, point, period, parameters)
    return Equilibrium(point.q, repeating.exponents, point.v, repeating, z=point.z)


def _first_line(trouble: TaskError) -> str:
    return str(trouble).partition("\n")[0]
