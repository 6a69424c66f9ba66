"""Numerical analysis of constraint rows: redundant rows, dependent coordinates, and overconstrained loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kinegraph.codegen.program.binding import Argument
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.derive.constraints.conditions import (
    Conditions,
    Floats,
    RowRank,
    chosen_rows,
    dependent_columns,
    row_rank,
    usual_lengths,
)
from kinegraph.derive.constraints.passing_time import OpenRow, Sample, open_row, states_in_time
from kinegraph.derive.constraints.positions import CLOSED, RANK_TOLERANCE, ROUNDED, assembled_positions, closed_beside
from kinegraph.errors import KinegraphError
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.model.constraints import ConstraintKind, Loop, constraint_kind, row_names
from kinegraph.model.evaluate import float_values, initial_positions, number, parameter_values
from kinegraph.model.expressions import TIME, Expression, names
from kinegraph.model.mechanism import Coordinate, Mechanism, Shift, Transform

# ---- Overconstrained loops
#
# A row that is the same linear combination of others everywhere (out-of-plane rows of a planar loop) is removed. If the
# combination changes with the position, the remaining rows may become dependent while the removed rows would not
# (Bennett's linkage). A mechanism with one degree of freedom is followed through its full cycle: if the remaining rows
# suffice everywhere (Bricard's linkage), they are used. Otherwise rows are chosen by position
# (`constrained_dynamics.rows_by_position`).

#: Coefficients of a redundant row that change by less than this count as constant.
_SAME = 1e-4
#: Smaller coefficients count as zero.
_NONE = 1e-7
#: Rows suffice if their smallest singular value has this fraction of that of all rows.
_ENOUGH = 0.1
#: The distance of positions along the cycle, and their maximal number.
_STEP, _MOST = 0.1, 800


@dataclass(frozen=True)
class Cluster:
    """Rows with `rank` independent ones among them, which change with the position.

    scales: factors of the squares of rows for comparison. weights: the same for columns.
    """

    rows: tuple[str, ...]
    rank: int
    scales: tuple[float, ...]
    weights: tuple[float, ...]

    def chosen(self, jacobian: Floats, names: Sequence[str]) -> tuple[int, ...]:
        """The indices of the rows chosen at a state, from the entries of all rows."""
        places = [names.index(name) for name in self.rows]
        scaled = np.sqrt(self.scales)[:, None] * jacobian[places] * np.sqrt(self.weights)
        return tuple(places[k] for k in chosen_rows(scaled, self.rank))


def changing_rows(samples: Sequence[Sample], rank: RowRank) -> tuple[Cluster, ...]:
    """The clusters of rows that are chosen by position. samples: closed states. rank: of the independent rows."""
    if not rank.redundant or not rank.independent:
        return ()
    conditions, start = samples[0]
    found = tuple(_clusters([at.jacobian(q) for at, q in samples], rank, conditions.names))
    stands = all(at is conditions for at, _ in samples)
    if found and stands and rank.mobility == 1 and _suffice_everywhere(conditions, start, rank, found[0].weights):
        return ()
    return found


def _clusters(whole: Sequence[Floats], rank: RowRank, names: Sequence[str]) -> Iterator[Cluster]:
    """Redundant rows whose coefficients change from state to state, with the rows they depend on."""
    scales, weights = _scales(whole, names)
    scaled = [np.sqrt(scales)[:, None] * one * np.sqrt(weights) for one in whole]
    factors = np.array([_factors(one, rank) for one in scaled])
    changing = np.flatnonzero(np.any(np.abs(factors - factors[0]) > _SAME, axis=(0, 2)))
    present = np.any(np.abs(factors) > _NONE, axis=0)
    groups: list[tuple[set[int], set[int]]] = []
    for k in changing:
        redundant, independent = {rank.redundant[k]}, {rank.independent[i] for i in np.flatnonzero(present[k])}
        for other in [one for one in groups if one[1] & independent]:
            groups.remove(other)
            redundant, independent = redundant | other[0], independent | other[1]
        groups.append((redundant, independent))
    for redundant, independent in groups:
        rows = sorted(redundant | independent)
        taken = tuple(float(scales[k]) for k in rows)
        yield Cluster(tuple(names[k] for k in rows), len(independent), taken, tuple(map(float, weights)))


def _factors(jacobian: Floats, rank: RowRank) -> Floats:
    """Redundant rows as linear combinations of independent rows."""
    independent, redundant = jacobian[list(rank.independent)], jacobian[list(rank.redundant)]
    return np.asarray(np.linalg.lstsq(independent.T, redundant.T, rcond=None)[0].T)


def _scales(whole: Sequence[Floats], names: Sequence[str]) -> tuple[Floats, Floats]:
    """Powers of two that scale the squares of rows of one loop and unit, then of columns, to about one."""
    lengths = np.max([np.linalg.norm(one, axis=1) for one in whole], axis=0)
    scales = _power_of_two(usual_lengths(lengths, names) ** 2)
    columns = np.max([np.max(scales[:, None] * one * one, axis=0, initial=0.0) for one in whole], axis=0)
    return scales, _power_of_two(np.where(columns > ROUNDED**2 * np.max(columns), columns, 0.0))


def _power_of_two(squares: Floats) -> Floats:
    """The reciprocals, rounded to even powers of two; 1 for zero."""
    return np.asarray(np.exp2(-2 * np.round(np.log2(np.where(squares > 0, squares, 1.0)) / 2)))


def _suffice_everywhere(conditions: Conditions, start: Floats, rank: RowRank, weights: Sequence[float]) -> bool:
    """Do the independent rows determine the motion as well as all rows, through the full cycle?"""
    if len(start) != len(weights):
        return False  # not implemented for quaternions
    scales, _ = _scales([conditions.jacobian(start)], conditions.names)
    q, along = start, np.zeros(len(start))
    for step in range(_MOST):
        jacobian = conditions.jacobian(q)
        scaled = np.sqrt(scales)[:, None] * jacobian * np.sqrt(weights)
        count = len(rank.independent)
        own, all_rows = (
            np.linalg.svd(one, compute_uv=False)[count - 1] for one in (scaled[list(rank.independent)], scaled)
        )
        if not own > _ENOUGH * all_rows:
            return False
        direction = np.linalg.svd(jacobian)[2][-1]
        along = direction if direction @ along >= 0 else -direction
        q = closed_beside(conditions, q + _STEP * along)
        beside = np.remainder(q - start + np.pi, 2 * np.pi) - np.pi
        if step > 1 and np.linalg.norm(beside) < 0.8 * _STEP:
            return True
    return False


# ---- Redundant rows and dependent coordinates
#
# A graph does not show that a row is redundant only because the mechanism is assembled (Bricard's linkage). So the rows
# are evaluated at the assembled initial state, at closed states around it and, if rows depend on time, at later times.
# A row is redundant if it depends on earlier rows at all of them. If a mechanism cannot leave a singular position, a
# row is redundant if it depends on earlier rows also where loops are open. Without values of parameters, or if the
# initial state cannot be assembled, no row is redundant: rows that depend on others everywhere are unresolved.

_SAMPLES = 4
#: Distances of the states (radians, levers: `Conditions.measured`); the second if the mechanism cannot move so far.
_ASIDE, _LITTLE = 0.15, 0.01
#: Distances of open positions, and the largest value of an empty row that is satisfied there.
_ANYWHERE, _SATISFIED = 1.2, 1e-12


@dataclass(frozen=True)
class Analysis:
    """Redundant rows by name, and dependent velocities by name.

    sample: the entries of the independent rows at one state, whose positions are `place`.
    """

    redundant: frozenset[str] = frozenset()
    dependent: tuple[str, ...] = ()
    mobility: int | None = None
    sample: tuple[tuple[str, tuple[float, ...]], ...] = ()
    clusters: tuple[Cluster, ...] = ()
    place: tuple[float, ...] = ()
    #: The largest residual of the loops at the initial state; above rounding if rows contradict each other.
    residual: float = 0.0
    #: Are redundant rows combinations of others only up to rounded numbers?
    rounded: bool = False
    #: A redundant row that explicit time opens.
    open_row: OpenRow | None = None
    #: Rows that depend on others at all positions, if it is not known whether they agree.
    unresolved: tuple[str, ...] = ()

    def dependent_of(self, velocities: Sequence[str]) -> tuple[int, ...]:
        """The indices of the dependent velocities."""
        return tuple(index for index, name in enumerate(velocities) if name in self.dependent)

    def taken(self, jacobian: Floats, names: Sequence[str]) -> tuple[int, ...]:
        """The indices of the rows used at a state, from the entries of all rows."""
        clustered = {name for cluster in self.clusters for name in cluster.rows}
        fixed = [k for k, name in enumerate(names) if name not in self.redundant and name not in clustered]
        chosen = [k for cluster in self.clusters for k in cluster.chosen(jacobian, names)]
        return tuple(sorted(fixed + chosen))


#: A function that derives the rows of a mechanism with values of parameters.
RowsOf = Callable[[Mechanism, tuple[tuple[str, Expression], ...]], Graph]


@lru_cache(maxsize=64)
def analyzed(
    mechanism: Mechanism,
    bound: tuple[tuple[str, Expression], ...],
    rows: RowsOf,
) -> Analysis:
    """The analysis of a mechanism. rows: derives the graph with `value`, `jacobian` and `rate` of all rows."""
    graph = rows(mechanism, bound)
    try:
        values = float_values(parameter_values(mechanism, dict(bound)))
    except KinegraphError:
        return _without_values(mechanism, graph)
    conditions = numeric_conditions(mechanism, graph, values)
    start = np.array(initial_positions(mechanism, parameter_values(mechanism, dict(bound))), dtype=float)
    states, moves = _assembled_states(conditions, start)
    if not states:
        return Analysis(unresolved=_unresolved_rows(conditions, start))
    if not moves:
        return Analysis(frozenset(conditions.names[k] for k in _rank_anywhere(conditions, states[0]).redundant))
    samples = [(conditions, q) for q in states]
    first_open = None
    if graph.symbols(Kind.TIME):
        place, rank = _best(samples)
        later = states_in_time(lambda t: numeric_conditions(mechanism, graph, values, t), states[place], rank)
        first_open = open_row(later, rank)
        samples += [(one.conditions, one.q) for one in later[1:]] if first_open is None else []
    measured = conditions.measured(states[0])
    missed = np.abs(measured.value(states[0]))
    found = _summary(samples, mechanism.layout.velocities)
    return replace(
        found,
        residual=float((missed * measured.row_sizes).max(initial=0.0)),
        rounded=bool(np.any(missed > CLOSED)) or _is_rounded(samples, found),
        open_row=first_open,
    )


def _without_values(mechanism: Mechanism, graph: Graph) -> Analysis:
    """The analysis with random values of parameters."""
    random = np.random.default_rng(3)
    values = {symbol.name: float(random.uniform(0.5, 1.3)) for symbol in graph.symbols(Kind.PARAMETER)}
    conditions = numeric_conditions(mechanism, graph, values)
    q = np.ones(len(mechanism.layout.positions))
    for start in mechanism.layout.quaternions:
        q[start : start + 4] = 0.5
    return Analysis(unresolved=_unresolved_rows(conditions, q))


def _unresolved_rows(conditions: Conditions, q: Floats) -> tuple[str, ...]:
    """Rows that depend on others also where loops are open; not those that are satisfied everywhere.

    None if numbers too large for floating point leave nothing to judge.
    """
    if not np.isfinite(conditions.jacobian(q)).all():
        return ()
    redundant = _rank_anywhere(conditions, q).redundant
    places = [conditions.measured(one) for one in _anywhere(conditions, q)]
    largest = np.max(
        [
            np.maximum(np.abs(at.value(one)), np.abs(at.jacobian(one)).max(axis=1, initial=0.0))
            for at, one in zip(places, _anywhere(conditions, q), strict=True)
        ],
        axis=0,
    )
    return tuple(conditions.names[k] for k in redundant if largest[k] > _SATISFIED)


def _rank_anywhere(conditions: Conditions, q: Floats) -> RowRank:
    """The largest rank of the rows at positions around this one, where loops may be open."""
    ranks = [row_rank(conditions.measured(one).jacobian(one), conditions.names) for one in _anywhere(conditions, q)]
    return max(ranks, key=lambda rank: len(rank.independent))


def _anywhere(conditions: Conditions, q: Floats) -> list[Floats]:
    random = np.random.default_rng(13)
    lengths = conditions.measured(q).sizes
    return [conditions.moved(q, lengths * random.uniform(-_ANYWHERE, _ANYWHERE, len(lengths))) for _ in range(2)]


def _is_rounded(samples: Sequence[Sample], found: Analysis) -> bool:
    """Do redundant rows differ from combinations of others by more than the rounding of the computation?"""
    sizes = [np.linalg.svd(at.measured(q).jacobian(q), compute_uv=False) for at, q in samples]
    count = len(samples[0][0].names) - len(found.redundant)
    return any(one[count] > RANK_TOLERANCE * one[0] for one in sizes if count < len(one))


def _best(samples: Sequence[Sample]) -> tuple[int, RowRank]:
    """The first sample with the largest rank, and its rank."""
    ranks = [row_rank(at.measured(q).jacobian(q), at.names) for at, q in samples]
    best = max(ranks, key=lambda rank: len(rank.independent))
    return ranks.index(best), best


def _summary(samples: Sequence[Sample], velocities: Sequence[str]) -> Analysis:
    first, best = _best(samples)
    conditions, q = samples[first]
    rows = list(best.independent)
    dependent = tuple(velocities[column] for column in dependent_columns(conditions.measured(q).jacobian(q)[rows]))
    independent = [conditions.names[k] for k in rows]
    entries = conditions.jacobian(q)[rows]
    sample = tuple((one, tuple(map(float, row))) for one, row in zip(independent, entries, strict=True))
    return Analysis(
        frozenset(conditions.names[k] for k in best.redundant), dependent, best.mobility, sample,
        changing_rows(samples, best), tuple(map(float, q)),
    )  # fmt: skip


def _assembled_states(conditions: Conditions, start: Floats) -> tuple[list[Floats], bool]:
    """The assembled initial state and states reached by allowed motions; and whether these motions are possible.

    A fully stretched chain allows motions to first order only, and moves back.
    """
    size = conditions.jacobian(start).shape[1]
    weights = np.ones(size)
    first = assembled_positions(conditions, start, weights)
    if not first.fits:
        return [], False
    random = np.random.default_rng(7)
    found, moves, free = [first.q], False, True
    for length in (*[_ASIDE] * _SAMPLES, *[_LITTLE] * _SAMPLES):
        if length == _LITTLE and (moves or not free):
            break
        measured = conditions.measured(found[-1])
        step = _allowed(measured.jacobian(found[-1]), np.asarray(random.normal(size=size)))
        free = step is not None
        if step is None:
            break
        aside = measured.moved(found[-1], length * step)
        moved = assembled_positions(conditions, aside, weights)
        if moved.closed:
            found.append(moved.q)
            moves = moves or float(np.linalg.norm((moved.q - aside) / measured.position_sizes)) < 0.5 * length
    return found, moves or not free or len(found) == 1


def _allowed(jacobian: Floats, aim: Floats) -> Floats | None:
    """The allowed unit displacement nearest to `aim`, of coordinates in the rows; None if there is none."""
    aim = np.where(np.any(jacobian, axis=0), aim, 0.0)
    step = aim - np.linalg.pinv(jacobian, rcond=ROUNDED) @ (jacobian @ aim)
    length = float(np.linalg.norm(step))
    return None if length < 1e-9 else np.asarray(step / length)


def numeric_conditions(mechanism: Mechanism, graph: Graph, values: dict[str, float], t: float = 0.0) -> Conditions:
    """The rows of a graph (`value`, `jacobian`, `rate`) as functions of q and v."""
    layout = mechanism.layout
    function = _function(graph, _arguments(mechanism, values))
    tail = np.array([t, *np.zeros(len(layout.inputs)), *values.values()])
    rows = graph.output("value").shape[0]
    size = len(layout.velocities)
    still = np.zeros(size)

    def at(q: Floats, v: Floats) -> Floats:
        return np.array(function.flat(np.concatenate([q, v, tail])))

    at_rest = _Latest(lambda q: at(q, still))
    return Conditions(
        row_names_of(mechanism),
        holonomic_rows(mechanism),
        lambda q: at_rest(q)[:rows],
        lambda q: at_rest(q)[rows : rows + rows * size].reshape(rows, size),
        lambda q, v: at(q, v)[rows + rows * size : 2 * rows + rows * size],
        lambda q, d: moved_positions(mechanism, q, d),
        lambda q: at_rest(q)[2 * rows + rows * size :],
        *_lengths(mechanism),
        _extent(mechanism, values),
    )


def _lengths(mechanism: Mechanism) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which positions and velocities are lengths."""
    found: list[tuple[bool, int, int]] = [
        (one.name in mechanism.lengths, 1, 1) if isinstance(one, Coordinate) else (False, 4, 3)
        for one in mechanism.coordinates
    ]
    kinds, positions, velocities = zip(*found, strict=True) if found else ((), (), ())
    return np.repeat(np.array(kinds, dtype=bool), positions), np.repeat(np.array(kinds, dtype=bool), velocities)


def _extent(mechanism: Mechanism, values: Mapping[str, float]) -> float:
    """The longest constant length on a moving body; if there is none, on the fixed frame. The distance of a mechanism
    from the origin does not matter."""
    frames = [frame for one in mechanism.loops if isinstance(one, Loop) for frame in (one.first, one.second)]
    parts = [(one.base, one.transforms) for one in mechanism.bodies] + [(one.body, one.transforms) for one in frames]
    inside, outside = (
        max(
            (length for one, some in parts if (one is None) is fixed for length in _lengths_in(some, values)), default=0
        )
        for fixed in (False, True)
    )
    return inside or outside


def _lengths_in(transforms: Sequence[Transform], values: Mapping[str, float]) -> list[float]:
    """The lengths of constant shifts."""
    shifts = [one.distance for one in transforms if isinstance(one, Shift)]
    return [abs(number(one, values)) for one in shifts if names(one) <= values.keys()]


class _Latest:
    """A function of positions that caches its latest result: values, Jacobian and cosines are computed together, but
    requested one after the other."""

    def __init__(self, function: Callable[[Floats], Floats]) -> None:
        self._function = function
        self._latest: tuple[bytes, Floats] = b"", np.zeros(0)

    def __call__(self, q: Floats) -> Floats:
        """The result, for reading only."""
        place, result = self._latest
        if not result.size or place != q.tobytes():
            result = self._function(q)
            result.setflags(write=False)
            self._latest = q.tobytes(), result
        return result


@lru_cache(maxsize=8)
def _function(graph: Graph, arguments: tuple[Argument, ...]) -> InterpretedKernel:
    """The graph as a function, generated once for many times and values of parameters."""
    return InterpretedKernel(graph, arguments)


def entries_at(mechanism: Mechanism, bound: Mapping[str, Expression], graph: Graph, q: Sequence[float]) -> Floats:
    """The entries of a graph's outputs at positions, at rest, with the model's or the bound values of parameters."""
    values = float_values(parameter_values(mechanism, dict(bound)))
    still = np.zeros(len(mechanism.layout.velocities) + 1 + len(mechanism.layout.inputs))
    return np.array(_function(graph, _arguments(mechanism, values)).flat(np.array([*q, *still, *values.values()])))


def _arguments(mechanism: Mechanism, values: Mapping[str, float]) -> tuple[Argument, ...]:
    layout = mechanism.layout
    groups = {
        "q": (Kind.COORDINATE, layout.positions), "v": (Kind.VELOCITY, layout.velocities), "t": (Kind.TIME, (TIME,)),
        "u": (Kind.INPUT, layout.inputs), "p": (Kind.PARAMETER, tuple(values)),
    }  # fmt: skip
    return tuple(Argument(name, tuple(Symbol(kind, one) for one in names)) for name, (kind, names) in groups.items())


def row_names_of(mechanism: Mechanism) -> tuple[str, ...]:
    """The names of all rows: loops, then constraints."""
    return tuple(name for one in (*mechanism.loops, *mechanism.constraints) for name in row_names(one))


def holonomic_rows(mechanism: Mechanism) -> list[int]:
    """The indices of holonomic rows."""
    free = {one.name for one in mechanism.constraints if constraint_kind(mechanism, one) is ConstraintKind.NONHOLONOMIC}
    return [index for index, name in enumerate(row_names_of(mechanism)) if name not in free]


def moved_positions(mechanism: Mechanism, q: Floats, displacement: Floats) -> Floats:
    """Positions after a displacement (one entry for every velocity); quaternions rotate about their body axes."""
    layout = mechanism.layout
    if not layout.quaternions:
        return q + displacement
    moved = np.array(q, dtype=float)
    place = start = 0
    for _ in mechanism.coordinates:
        if start in layout.quaternions:
            moved[start : start + 4] = _turned(q[start : start + 4], displacement[place : place + 3])
            start, place = start + 4, place + 3
        else:
            moved[start] += displacement[place]
            start, place = start + 1, place + 1
    return moved


def _turned(e: Floats, d: Floats) -> Floats:
    """A quaternion after a small rotation d about its body axes, normalized."""
    w, x, y, z = e
    a, b, c = d / 2
    product = np.array(
        [w - x * a - y * b - z * c, x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a]
    )
    return product / float(np.linalg.norm(product))
