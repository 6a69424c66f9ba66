"""Assemble a mechanism: find positions, velocities and accelerations that satisfy all loops and constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegraph.assembly.initial_values import (
    MovedValue,
    angle_names,
    fitting_accelerations,
    holding,
    is_among,
    moved_values,
    moved_values_note,
    moved_values_refusal,
    moved_values_table,
)
from kinegraph.derive.constraints.conditions import (
    NEARLY_DEPENDENT,
    Conditions,
    Floats,
    RowRank,
    chosen_rows,
    nearly_dependent,
    row_rank,
)
from kinegraph.derive.constraints.positions import (
    CLOSED,
    ROUNDED,
    Assembled,
    assembled_positions,
    beside,
    consistent_velocities,
    searched,
)
from kinegraph.derive.constraints.redundancy import Analysis, RowsOf, analyzed, numeric_conditions, row_names_of
from kinegraph.errors import AssemblyError, ModelError
from kinegraph.graph.node import Graph
from kinegraph.model.constraints import AnyLoop, Constraint, Loop, row_group, row_names
from kinegraph.model.constraints import Rotation as Turns
from kinegraph.model.evaluate import (
    Value,
    float_values,
    initial_positions,
    initial_velocities,
    number,
    parameter_values,
    unit_quaternion,
)
from kinegraph.model.expressions import TIME, Expression, Scalar, expression
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.platforms.initial_pose import leg_start
from kinegraph.model.platforms.recognition import RecognizedLeg, legs_of
from kinegraph.seeds import generator

# Platforms: the platform keeps its pose, and the legs reach it by closed forms.


@dataclass(frozen=True)
class ReachingLegs:
    """The legs of a mechanism in which all loops belong to legs; none in any other mechanism."""

    mechanism: Mechanism

    @cached_property
    def legs(self) -> tuple[RecognizedLeg, ...]:
        """The legs, if there are no other loops."""
        found = legs_of(self.mechanism)
        return found if len(found) == len(self.mechanism.loops) and not self.mechanism.constraints else ()

    def follow(self, held: Sequence[str]) -> bool:
        """Whether the legs follow the platform: there are legs, and no coordinate of them is held."""
        return bool(self.legs) and not self._names & {name.removesuffix("'") for name in held}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for leg in legs_of(self.mechanism) for name in leg.coordinates)

    def without(self, names: Sequence[str]) -> tuple[str, ...]:
        """These names without those of legs, whose initial values follow from the platform's pose."""
        return tuple(name for name in names if name.removesuffix("'") not in self._names)

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The positions and velocities that do not belong to legs."""
        layout = self.mechanism.layout
        names = (*layout.positions, *layout.velocities)
        return tuple(name for name in names if name.removesuffix("'") not in self._names)

    def reaching(self, q: Floats, t: float, values: Mapping[str, Value]) -> Floats:
        """Positions with legs that reach the platform; an error names a leg that cannot."""
        positions = self.mechanism.layout.positions
        at: dict[str, Value] = {**values, "t": t, **dict(zip(positions, map(float, q), strict=True))}
        try:
            found = {name: x for leg in self.legs for name, x in leg_start(self.mechanism, leg, at).items()}
        except ModelError as error:
            raise AssemblyError(f"{self.mechanism.name} cannot be assembled: {error}") from None
        return np.array([found.get(name, float(at[name])) for name in positions], dtype=float)


# Assembly: values that are set or declared are kept. All others change as little as possible, with lengths in units of
# the mechanism's longest lever (`Conditions.measured`), so the assembly stays on the branch near the given state. The
# error for a mechanism that cannot be closed names the joint and the remaining gap.

#: Weights of changes of set values and of declared values, relative to all others, if not all can be kept.
_RELUCTANCE, _DECLARED_RELUCTANCE = 1e-3, 0.1
#: Residual rates due to rounding, relative to the largest velocity.
_ROUNDED_RATE = 1e-13
#: Steps of the continuation from an assembled position to the requested values.
_STAGES = 10
#: The cosines between the axes of two parallel frames add up to 3; for other solutions of the rows to 0 or -1.
_PARALLEL = 2.0


@dataclass(frozen=True)
class Assembly:
    """An assembled state. `set` are the values given in the call; `independent` are the set and declared values that
    were kept and determine the others; `moved` are the values that could not be kept."""

    model: str
    q: Floats
    v: Floats
    residual: float
    rank: RowRank
    set: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    moved: tuple[MovedValue, ...] = ()
    coordinates: tuple[str, ...] = ()
    velocities: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Positions and velocities by name, the residual, and the values that could not be kept."""
        return {
            "q": dict(zip(self.coordinates, self.q.tolist(), strict=True)),
            "v": dict(zip(self.velocities, self.v.tolist(), strict=True)),
            "residual": self.residual,
            "changed": self.changed,
            "moved": {value.name: [value.given, value.assembled] for value in self.moved},
        }

    @property
    def changed(self) -> dict[str, float]:
        """The change of each set value that could not be kept, by name."""
        return {one.name: one.assembled - one.given for one in self.moved if one.set}

    @property
    def table(self) -> list[str]:
        """The values that changed: lines `name  given -> assembled`."""
        return moved_values_table(self.moved)

    @property
    def note(self) -> str | None:
        """The table on one line; None if all values are as expected.

        If the call sets values, declared values of dependent coordinates are expected to change.
        """
        return moved_values_note([one for one in self.moved if one.set or not one.follows or not self.set])

    def required(self) -> Assembly:
        """This assembly; an error if set values were not kept."""
        message = moved_values_refusal(self.model, self.moved, self.independent)
        if message:
            raise AssemblyError(message)
        return self

    @property
    def mobility(self) -> int:
        """The degrees of freedom at this state."""
        return self.rank.mobility


@dataclass(frozen=True)
class OpenRows:
    """Derives the rows of a mechanism with some parameters as symbols."""

    derive: RowsOf
    names: tuple[str, ...]

    def __call__(self, mechanism: Mechanism, bound: tuple[tuple[str, Expression], ...]) -> Graph:
        """The graph for all values of these parameters."""
        return self.derive(mechanism, tuple(one for one in bound if one[0] not in self.names))


class Assembler:
    """Assembles a mechanism with given parameters, any number of times.

    runtime: parameters that stay symbols in the rows, so the graph is valid for all their values.
    """

    def __init__(
        self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None, runtime: tuple[str, ...] = ()
    ) -> None:
        self.mechanism = mechanism
        self._runtime = runtime
        self.parameters = parameters
        self._values = parameter_values(mechanism, parameters)
        self._overrides = {name: expression(value, name) for name, value in (parameters or {}).items()}

    @cached_property
    def _derive(self) -> RowsOf:
        """Imported only for mechanisms with loops or constraints."""
        from kinegraph.derive.quantities.derivation import constraint_graph

        return OpenRows(constraint_graph, self._runtime) if self._runtime else constraint_graph

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The names of all rows."""
        return row_names_of(self.mechanism)

    def conditions(self, t: float = 0.0) -> Conditions:
        """The constraints at one time."""
        values = float_values(self._values)
        return numeric_conditions(self.mechanism, self._graph, values, t)

    @cached_property
    def _graph(self) -> Graph:
        return self._derive(self.mechanism, self._bound)

    @property
    def _bound(self) -> tuple[tuple[str, Expression], ...]:
        return tuple(sorted(self._overrides.items()))

    def start(self, at: Mapping[str, Scalar]) -> tuple[Floats, Floats]:
        """The model's initial state with the values of `at` instead."""
        layout = self.mechanism.layout
        known = (*layout.positions, *layout.velocities)
        for name in at:
            if name not in known:
                message = f"unknown coordinate or velocity {name!r} of {self.mechanism.name}"
                raise AssemblyError(f"{message}\n  {did_you_mean(name, known)}")
        given = {name: number(expression(value, name), self._values) for name, value in at.items()}
        q = zip(layout.positions, initial_positions(self.mechanism, self._values), strict=True)
        v = zip(layout.velocities, initial_velocities(self.mechanism, self._values), strict=True)
        positions, velocities = (np.array([given.get(*pair) for pair in group], dtype=float) for group in (q, v))
        for start in layout.quaternions:
            part = slice(start, start + 4)
            positions[part] = unit_quaternion(layout.positions[part], positions[part].tolist())
        return positions, velocities

    def assemble(self, at: Mapping[str, Scalar] | None = None, t: float = 0.0) -> Assembly:
        """An assembled state near the given state; keeps the values of `at` if possible, then the declared values."""
        at = at or {}
        q, v = self.start(at)
        return self.assembled(q, v, tuple(at), t, self.mechanism.declared)

    def assembled(
        self, q: Floats, v: Floats, held: Sequence[str] = (), t: float = 0.0, declared: Sequence[str] = ()
    ) -> Assembly:
        """Like assemble, from arrays; `held` and `declared` are names of positions and velocities.

        If all loops belong to legs of a platform, the platform stays and the legs follow, unless a leg is held.
        """
        conditions = self.conditions(t)
        layout = self.mechanism.layout
        names = (*layout.positions, *layout.velocities)
        before = dict(zip(names, (*q.tolist(), *v.tolist()), strict=True))
        legs = ReachingLegs(self.mechanism)
        declared = legs.without(declared)
        wanted, further = held, declared
        if legs.follow(held):
            q, wanted, further = legs.reaching(q, t, self._values), legs.others, ()
        place, held_positions, free = self._positions(conditions, q, wanted, further)
        rates, held_rates = self._velocities(conditions, place.q, v, wanted, further)
        after = dict(zip(names, (*place.q.tolist(), *rates.tolist()), strict=True))
        measured = conditions.measured(place.q)
        speeds = measured.sizes * _speed(measured, place.q, v)
        usual = dict(zip(names, (*measured.position_sizes.tolist(), *speeds.tolist()), strict=True))
        moved = moved_values(before, after, held, (*free, *held_rates), declared, usual)
        stayed = tuple(name for name in (*held_positions, *held_rates) if name in (*held, *declared))
        rank = row_rank(measured.jacobian(place.q), self.rows)
        name, layout = self.mechanism.name, self.mechanism.layout
        order = layout.positions, layout.velocities
        return Assembly(name, place.q, rates, place.miss, rank, tuple(held), stayed, moved, *order)

    @property
    def _analysis(self) -> Analysis:
        return analyzed(self.mechanism, self._bound, self._derive)

    def independent_rows(self, jacobian: Floats | None = None) -> tuple[int, ...]:
        """The indices of the rows used at a position, given the Jacobian of all rows: those that are independent
        wherever the mechanism is assembled. Without a Jacobian, those at the start."""
        if jacobian is None:
            return tuple(k for k, name in enumerate(self.rows) if name not in self._analysis.redundant)
        return self._analysis.taken(jacobian, self.rows)

    def carrying_rows(self, jacobian: Floats) -> tuple[int, ...]:
        """As many independent rows as there are wherever the mechanism is assembled, given the Jacobian of all rows;
        all rows if that number is not known."""
        here = row_rank(jacobian, self.rows).independent
        mobility = self._analysis.mobility
        if mobility is None:
            return tuple(range(len(self.rows)))
        count = jacobian.shape[1] - mobility
        return here if len(here) == count else tuple(sorted(chosen_rows(jacobian, count)))

    def singular_rows(self, q: Floats, t: float = 0.0, part: float = NEARLY_DEPENDENT) -> tuple[str, ...]:
        """Rows that are nearly dependent at this position (up to the ratio `part`) but not elsewhere: it is singular.

        Accelerations and constraint forces are not determined there: the motion can continue in several ways.
        """
        jacobian = self.conditions(t).jacobian(q)
        places = self.independent_rows(jacobian)
        groups = [row_group(self.rows[k]) for k in places]
        found = nearly_dependent(jacobian[list(places)], groups, part)
        return tuple(self.rows[places[k]] for k in found)

    def singular_message(self, what: str, q: Floats, t: float = 0.0) -> str | None:
        """The message that `what` has no value at this position; None if it is not singular."""
        rows = self.singular_rows(q, t)
        if not rows:
            return None
        return (
            f"{what} is not determined: {self.mechanism.name} is in a singular position, where {', '.join(rows)} "
            "depends on the other constraint rows\n"
            "  choose a state nearby; `qdd_proximal` gives the accelerations with the least constraint forces"
        )

    def loses_chart(self, q: Floats, t: float = 0.0) -> bool:
        """Whether the coordinates chosen as dependent do not follow from the others here, although the position is not
        singular, as at the dead center of a crank."""
        columns = list(self._analysis.dependent_of(self.mechanism.layout.velocities))
        if not columns:
            return False
        jacobian = self.conditions(t).jacobian(q)
        rows = list(self.independent_rows(jacobian))
        return len(nearly_dependent(jacobian[rows][:, columns], [row_group(self.rows[k]) for k in rows])) > 0

    def accelerations(self, q: Floats, v: Floats, a: Floats, held: Sequence[str] = (), t: float = 0.0) -> Floats:
        """Consistent accelerations of an assembled state; keeps those in `held`, then those of independent velocities.

        An error if the held values contradict the constraints.
        """
        layout = self.mechanism.layout
        names = (*layout.positions, *layout.velocities, *layout.accelerations)
        state = dict(zip(names, (*q.tolist(), *v.tolist(), *a.tolist()), strict=True))
        state |= dict.fromkeys(layout.inputs, 0.0) | float_values(self._values) | {TIME: t}
        return fitting_accelerations(self.mechanism, self._graph, state, held, self.independent())

    def independent(self) -> tuple[str, ...]:
        """The velocities from which the others follow."""
        dependent = self._analysis.dependent
        return tuple(name for name in self.mechanism.layout.velocities if name not in dependent)

    def modes(self, at: Mapping[str, Scalar] | None = None, *, starts: int = 400, seed: int = 0) -> list[Assembly]:
        """All assembly modes with the values of `at` held, found from many starts; the given one first.

        If the mechanism can still move with these values held, each mode is an example of a family.
        """
        at = at or {}
        q, v = self.start(at)
        conditions = self.conditions()
        measured = conditions.measured(q)
        free = ~self._held(tuple(at))
        angles = angle_names(self.mechanism)
        turns = [k for k, name in enumerate(self.mechanism.layout.positions) if name in angles]
        random = generator(seed)
        found: list[Assembly] = []
        places: list[Floats] = []
        for start in range(starts):
            aside = np.where(free, random.uniform(-np.pi, np.pi, len(free)) if start else 0.0, 0.0)
            place = searched(conditions, beside(measured, q, aside), np.where(free, 1.0, 0.0))
            if place.fits and not is_among(place.q / measured.position_sizes, places, turns):
                found.append(self.assembled(place.q, v, tuple(at)))
                places.append(found[-1].q / measured.position_sizes)
        return found

    def left_free(self, q: Floats, held: Sequence[str] = ()) -> int:
        """The degrees of freedom that remain here while these coordinates are held."""
        return row_rank(self.conditions().measured(q).jacobian(q)[:, ~self._held(held)], self.rows).mobility

    def _positions(
        self, conditions: Conditions, q: Floats, held: Sequence[str], declared: Sequence[str]
    ) -> tuple[Assembled, tuple[str, ...], tuple[str, ...]]:
        """Assembled positions, the set and declared values that are kept, and those that are independent."""
        known = self._displacements
        held, declared = ([name for name in names if name in known] for names in (held, declared))
        named = tuple(dict.fromkeys((*held, *declared)))
        as_given = searched(conditions, q, np.where(self._held(named), 0.0, 1.0))
        if as_given.fits:
            return as_given, holding(conditions.jacobian(as_given.q)[conditions.by_position], known, named), named
        weights = np.where(self._held(declared), _DECLARED_RELUCTANCE, 1.0)
        rough = assembled_positions(conditions, q, np.where(self._held(held), _RELUCTANCE, weights))
        if named and not rough.fits:  # large weights may prevent convergence
            rough = assembled_positions(conditions, q, np.ones(len(weights)))
        self._require_closed(conditions, rough, held)
        jacobian = conditions.jacobian(rough.q)[conditions.by_position]
        free = holding(jacobian, known, named)
        least = max(1, sum(name in held for name in free))
        for count in range(len(free), least - 1, -1):  # drop declared values that cannot be reached, the last first
            found = self._closed_with(conditions, q, rough.q, free[:count])
            if not found.fits and count == len(free):
                found = assembled_positions(conditions, q, np.where(self._held(free), 0.0, 1.0))
            if found.fits:
                return found, free[:count], free
        return rough, (), free

    def _closed_with(self, conditions: Conditions, q: Floats, rough: Floats, names: Sequence[str]) -> Assembled:
        """Positions with these values, found near the given ones or by continuation from an assembled position."""
        weights = np.where(self._held(names), 0.0, 1.0)
        found = searched(conditions, q, weights)
        if found.fits:
            return found
        places = [k for k, name in enumerate(self.mechanism.layout.positions) if name in names]
        place, given = rough.copy(), rough[places]
        for part in np.linspace(0, 1, _STAGES + 1)[1:]:
            place[places] = given + part * (q[places] - given)
            found = searched(conditions, place, weights)
            if not found.fits:
                break
            place = found.q.copy()
        return found

    def _require_closed(self, conditions: Conditions, found: Assembled, held: Sequence[str]) -> None:
        if not found.closed:
            raise AssemblyError(self._miss(found, held))
        if found.turned_round:
            raise AssemblyError(
                f"{self.mechanism.name} closes near this state only with frames that are rotated instead of parallel: "
                f"{', '.join(self._turned_round(conditions, found.q))}\n  start nearer to parallel frames"
            )

    def _turned_round(self, conditions: Conditions, q: Floats) -> list[str]:
        held = [one for one in self.mechanism.loops if isinstance(one, Loop) and one.type.fixes.rotation is Turns.ALL]
        cosines = conditions.facing(q).reshape(-1, 3)
        return [loop.name for loop, facing in zip(held, cosines, strict=True) if np.sum(facing) < _PARALLEL]

    def _velocities(
        self, conditions: Conditions, q: Floats, v: Floats, held: Sequence[str], declared: Sequence[str]
    ) -> tuple[Floats, tuple[str, ...]]:
        """Consistent velocities, and the set and declared values that are independent."""
        names = self.mechanism.layout.velocities
        columns = {name: (column,) for column, name in enumerate(names)}
        named = tuple(name for name in dict.fromkeys((*held, *declared)) if name in columns)
        free = holding(conditions.jacobian(q), columns, named)
        measured = conditions.measured(q)
        speed = _speed(measured, q, v)

        def missed(rates: Floats) -> Floats:
            return np.abs(measured.rate(q, rates / measured.sizes))

        if np.max(missed(v), initial=0.0) <= _ROUNDED_RATE * speed:
            return v, free  # a simulation that continues a saved state starts with identical bits
        fixed = np.array([name in free for name in names], dtype=bool)
        found = consistent_velocities(conditions, q, v, np.where(fixed, 0.0, 1.0), self.is_rounded)
        if np.max(missed(found), initial=0.0) > (ROUNDED if self.is_rounded else 1e-9) * speed:
            found = consistent_velocities(conditions, q, v, np.where(fixed, _RELUCTANCE, 1.0), self.is_rounded)
        left = missed(found)
        if np.max(left, initial=0.0) > (ROUNDED if self.is_rounded else 1e-6) * speed:
            worst = int(np.argmax(left))
            raise AssemblyError(
                f"{self.mechanism.name}: no velocities satisfy all constraints: {self.rows[worst]} has the residual "
                f"{abs(conditions.rate(q, found)[worst]):.3g}\n"
                "  constraints contradict each other: check those that act on the same velocities"
            )
        return found, free

    @property
    def closing_limit(self) -> float:
        """The residual (in units of the model) up to which loops count as closed; larger if rounded numbers in
        redundant rows contradict each other."""
        place = np.array(self._analysis.place) if self._analysis.place else self.start({})[0]
        conditions = self.conditions()
        entries = np.abs(conditions.jacobian(place) * conditions.measured(place).sizes)
        longest = float(conditions.largest_entries(entries)[entries.any(axis=1)].max(initial=0.0)) or 1.0
        return longest * (ROUNDED if self.is_rounded else CLOSED)

    @property
    def is_rounded(self) -> bool:
        """Whether redundant rows contradict each other by rounding, so that not all residuals can be zero."""
        return self._analysis.rounded

    def _held(self, held: Sequence[str]) -> np.ndarray:
        """A mask of the displacements of the named coordinates."""
        fixed = np.zeros(len(self.mechanism.layout.velocities), dtype=bool)
        fixed[[column for name in held for column in self._displacements.get(name, ())]] = True
        return fixed

    @cached_property
    def _displacements(self) -> dict[str, tuple[int, ...]]:
        """The indices of the displacements of each position; three for a quaternion."""
        found: dict[str, tuple[int, ...]] = {}
        count = 0
        for coordinate in self.mechanism.coordinates:
            names = (coordinate.name,) if isinstance(coordinate, Coordinate) else coordinate.names
            columns = tuple(range(count, count + (1 if len(names) == 1 else 3)))
            found |= dict.fromkeys(names, columns)
            count += len(columns)
        return found

    def _miss(self, found: Assembled, held: Sequence[str]) -> str:
        place, misses = 0, []
        for one in (*self.mechanism.loops, *self.mechanism.constraints):
            count = len(row_names(one))
            misses.append((float(np.linalg.norm(found.residual[place : place + count])), one.name, _bodies(one)))
            place += count
        miss, name, between = max(misses)
        hint = f"do not set all of {', '.join(held)}, " if held else ""
        return (
            f"{self.mechanism.name} cannot be assembled near this state: {name} has a gap of {miss:.3g}{between}\n"
            f"  {hint}check the lengths, or start nearer to a position where it closes"
        )


def _speed(measured: Conditions, q: Floats, v: Floats) -> float:
    """The largest velocity, given or prescribed, in radians and lever lengths per unit of time."""
    drives = measured.rate(q, np.zeros_like(v))
    return float(max(np.abs(v / measured.sizes).max(initial=0.0), np.abs(drives).max(initial=0.0)))


def _bodies(constraint: AnyLoop | Constraint) -> str:
    """The bodies of a loop, in words; empty for constraints of coordinates."""
    return f" between {constraint.first} and {constraint.second}" if isinstance(constraint, Loop) else ""
