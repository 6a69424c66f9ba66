"""`assemble`: positions and velocities that fit the loops and constraints, near those a user gives.

What the user fixes stays fixed; everything else moves as little as possible, so the assembly stays on the branch the
user describes. A mechanism that cannot be closed is an error that says by how much, and in which joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegraph.assembly.legs import ReachingLegs
from kinegraph.assembly.places import is_among
from kinegraph.derive.constraints.analysis import (
    Analysis,
    RowsOf,
    analysed,
    numeric_conditions,
    row_names_of,
)
from kinegraph.derive.constraints.conditions import Conditions, Floats
from kinegraph.derive.constraints.positions import (
    CLOSED,
    ROUNDED,
    Assembled,
    assembled_positions,
    consistent_velocities,
)
from kinegraph.derive.constraints.rank import NEARLY_DEPENDENT, RowRank, chosen_rows, nearly_dependent, row_rank
from kinegraph.derive.quantities.derivation import constraint_graph
from kinegraph.errors import AssemblyError
from kinegraph.graph.node import Graph
from kinegraph.model.constraints.joint_types import Rotation as Turns
from kinegraph.model.constraints.records import AnyLoop, Constraint, Loop, row_group, row_names
from kinegraph.model.evaluate import float_values, initial_positions, initial_velocities, number, parameter_values
from kinegraph.model.expression import Expression, Scalar, expression, names
from kinegraph.model.mechanism import Mechanism, Rotation, amounts
from kinegraph.model.names import did_you_mean
from kinegraph.seeds import generator

#: How much less a value that was given moves than one that was not, where both cannot stay.
_RELUCTANCE = 1e-3
#: The cosines of three axes that are parallel add up to 3; to 0 or -1 where frames fit otherwise.
_PARALLEL = 2.0


@dataclass(frozen=True)
class Assembly:
    """A state that fits. `changed` says by how much values that were given had to move, by name."""

    q: Floats
    v: Floats
    residual: float
    changed: Mapping[str, float]
    rank: RowRank

    @property
    def mobility(self) -> int:
        """The degrees of freedom at this state."""
        return self.rank.mobility


@dataclass(frozen=True)
class OpenRows:
    """Derives the rows of a mechanism with some parameters left open."""

    names: tuple[str, ...]

    def __call__(self, mechanism: Mechanism, bound: tuple[tuple[str, Expression], ...]) -> Graph:
        """The graph, whatever the values of these parameters are."""
        return constraint_graph(mechanism, tuple(one for one in bound if one[0] not in self.names))


class Assembler:
    """Assembles one mechanism with given parameters, any number of times.

    runtime: parameters that stay symbols in the rows, so that one graph serves all their values.
    """

    def __init__(
        self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None, runtime: tuple[str, ...] = ()
    ) -> None:
        self.mechanism = mechanism
        self._derive: RowsOf = OpenRows(runtime) if runtime else constraint_graph
        self.parameters = parameters
        self._values = parameter_values(mechanism, parameters)
        self._overrides = {name: expression(value, name) for name, value in (parameters or {}).items()}

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
                raise AssemblyError(f"{self.mechanism.name} has no {name!r}\n  {did_you_mean(name, known)}")
        given = {name: number(expression(value, name), self._values) for name, value in at.items()}
        q = zip(layout.positions, initial_positions(self.mechanism, self._values), strict=True)
        v = zip(layout.velocities, initial_velocities(self.mechanism, self._values), strict=True)
        positions, velocities = (np.array([given.get(*pair) for pair in group], dtype=float) for group in (q, v))
        return positions, velocities

    def assemble(self, at: Mapping[str, Scalar] | None = None, t: float = 0.0) -> Assembly:
        """A state that fits near the given one; values of `at` stay if they can."""
        at = at or {}
        q, v = self.start(at)
        return self.assembled(q, v, tuple(at), t)

    def assembled(self, q: Floats, v: Floats, held: Sequence[str] = (), t: float = 0.0) -> Assembly:
        """Like assemble, from arrays; `held` are names of positions and velocities.

        Where all loops are those of a platform's legs, the ring stays and the legs reach it, unless a leg is held.
        """
        conditions = self.conditions(t)
        legs = ReachingLegs(self.mechanism)
        if legs.follow(held):
            q, held = legs.reaching(q, t, self._values), legs.others
        place = self._positions(conditions, q, held)
        rates = self._velocities(conditions, place.q, v, held)
        layout = self.mechanism.layout
        before = dict(zip((*layout.positions, *layout.velocities), (*q, *v), strict=True))
        after = dict(zip((*layout.positions, *layout.velocities), (*place.q, *rates), strict=True))
        changed = {name: after[name] - before[name] for name in held if abs(after[name] - before[name]) > 1e-12}
        rank = row_rank(conditions.jacobian(place.q), self.rows)
        return Assembly(place.q, rates, place.miss, changed, rank)

    @property
    def _analysis(self) -> Analysis:
        return analysed(self.mechanism, self._bound, self._derive)

    def independent_rows(self, jacobian: Floats) -> tuple[int, ...]:
        """The rows that are computed with at a place, by index, from the entries of all rows there: those that do not
        follow from others wherever the mechanism is assembled."""
        return self._analysis.taken(jacobian, self.rows)

    def carrying_rows(self, jacobian: Floats) -> tuple[int, ...]:
        """As many independent rows as there are wherever the mechanism is assembled, from the entries of all rows in
        any axes; all of them where that is not known."""
        here = row_rank(jacobian, self.rows).independent
        mobility = self._analysis.mobility
        if mobility is None:
            return tuple(range(len(self.rows)))
        count = jacobian.shape[1] - mobility
        return here if len(here) == count else tuple(sorted(chosen_rows(jacobian, count)))

    def singular_rows(self, q: Floats, t: float = 0.0, part: float = NEARLY_DEPENDENT) -> tuple[str, ...]:
        """Rows that follow from others at this place, but for a part, and not elsewhere: the place is singular.

        Accelerations and forces of constraints mean nothing there: loops allow more than one way on.
        """
        jacobian = self.conditions(t).jacobian(q)
        places = self.independent_rows(jacobian)
        groups = [row_group(self.rows[k]) for k in places]
        found = nearly_dependent(jacobian[list(places)], groups, part)
        return tuple(self.rows[places[k]] for k in found)

    def singular_message(self, what: str, q: Floats, t: float = 0.0) -> str | None:
        """Why `what` has no value at this place, in words; None if the place is not singular."""
        rows = self.singular_rows(q, t)
        if not rows:
            return None
        return (
            f"{what}: {self.mechanism.name} is in a singular position here, where {', '.join(rows)} follows "
            "from other rows: these numbers mean nothing\n"
            "  try a state beside it; qdd_proximal takes of all accelerations that fit that of least constraint force"
        )

    def loses_chart(self, q: Floats, t: float = 0.0) -> bool:
        """Whether the coordinates chosen as dependent do not follow from the others here, although the place is not
        singular: a crank in its dead centre."""
        columns = list(self._analysis.dependent_of(self.mechanism.layout.velocities))
        if not columns:
            return False
        jacobian = self.conditions(t).jacobian(q)
        rows = list(self.independent_rows(jacobian))
        return len(nearly_dependent(jacobian[rows][:, columns], [row_group(self.rows[k]) for k in rows])) > 0

    def independent(self) -> tuple[str, ...]:
        """The velocities from which the others follow."""
        dependent = self._analysis.dependent
        return tuple(name for name in self.mechanism.layout.velocities if name not in dependent)

    def modes(self, at: Mapping[str, Scalar] | None = None, *, starts: int = 200, seed: int = 0) -> list[Assembly]:
        """All ways to assemble with the values of `at` held, found from many starts; the given one first.

        Where the held values leave the mechanism free to move, each is an example of a family.
        """
        at = at or {}
        q, v = self.start(at)
        conditions = self.conditions()
        free = ~self._held(tuple(at))
        turns = [k for k, name in enumerate(self.mechanism.layout.positions) if is_angle(self.mechanism, name)]
        random = generator(seed)
        found: list[Assembly] = []
        places: list[Floats] = []
        for start in range(starts):
            aside = np.where(free, random.uniform(-np.pi, np.pi, len(free)) if start else 0.0, 0.0)
            place = assembled_positions(conditions, conditions.moved(q, aside), np.where(free, 1.0, 0.0))
            if place.fits and not is_among(place.q, places, turns):
                found.append(self.assembled(place.q, v, tuple(at)))
                places.append(found[-1].q)
        return found

    def left_free(self, q: Floats, held: Sequence[str] = ()) -> int:
        """In how many ways the mechanism can move from here while these coordinates are held."""
        return row_rank(self.conditions().jacobian(q)[:, ~self._held(held)], self.rows).mobility

    def _positions(self, conditions: Conditions, q: Floats, held: Sequence[str]) -> Assembled:
        fixed = self._held(held)
        found = assembled_positions(conditions, q, np.where(fixed, 0.0, 1.0))
        if not found.fits and np.any(fixed):
            found = assembled_positions(conditions, q, np.where(fixed, _RELUCTANCE, 1.0))
        if not found.closed:
            raise AssemblyError(self._miss(found, held))
        if found.turned_round:
            raise AssemblyError(
                f"{self.mechanism.name} closes near this state only with frames turned round that should be parallel: "
                f"{', '.join(self._turned_round(conditions, found.q))}\n  begin nearer to a position where they are"
            )
        return found

    def _turned_round(self, conditions: Conditions, q: Floats) -> list[str]:
        held = [one for one in self.mechanism.loops if isinstance(one, Loop) and one.type.fixes.rotation is Turns.ALL]
        cosines = conditions.facing(q).reshape(-1, 3)
        return [loop.name for loop, facing in zip(held, cosines, strict=True) if np.sum(facing) < _PARALLEL]

    def _velocities(self, conditions: Conditions, q: Floats, v: Floats, held: Sequence[str]) -> Floats:
        fixed = np.array([name in held for name in self.mechanism.layout.velocities], dtype=bool)
        size = 1 + np.max(np.abs(v), initial=0.0)
        found = consistent_velocities(conditions, q, v, np.where(fixed, 0.0, 1.0))
        if np.max(np.abs(conditions.rate(q, found)), initial=0.0) > (ROUNDED if self._is_rounded else 1e-9) * size:
            found = consistent_velocities(conditions, q, v, np.where(fixed, _RELUCTANCE, 1.0))
        missed = np.abs(conditions.rate(q, found))
        if np.max(missed, initial=0.0) > (ROUNDED if self._is_rounded else 1e-6) * size:
            worst = self.rows[int(np.argmax(missed))]
            raise AssemblyError(
                f"{self.mechanism.name}: no velocities meet all its constraints here: {worst} stays off by "
                f"{np.max(missed):.3g}\n  they contradict each other: check those that act on the same velocities"
            )
        return found

    @property
    def closing_limit(self) -> float:
        """Up to what residual (metres, radians) loops count as closed: more where rounded numbers contradict each
        other."""
        return ROUNDED if self._is_rounded else CLOSED

    @property
    def _is_rounded(self) -> bool:
        return self._analysis.residual > CLOSED

    def _held(self, held: Sequence[str]) -> np.ndarray:
        """Which displacements are held: those of the named coordinates (all three of a quaternion)."""
        layout = self.mechanism.layout
        fixed: list[bool] = []
        start = 0
        while start < len(layout.positions):
            if start in layout.quaternions:
                fixed += [any(name in held for name in layout.positions[start : start + 4])] * 3
                start += 4
            else:
                fixed.append(layout.positions[start] in held)
                start += 1
        return np.array(fixed, dtype=bool)

    def _miss(self, found: Assembled, held: Sequence[str]) -> str:
        ties = (*self.mechanism.loops, *self.mechanism.constraints)
        place, misses = 0, []
        for tie in ties:
            count = len(row_names(tie))
            misses.append((float(np.linalg.norm(found.residual[place : place + count])), tie.name, _bodies(tie)))
            place += count
        miss, name, between = max(misses)
        hint = f"free some of {', '.join(held)}, or " if held else ""
        return (
            f"{self.mechanism.name} cannot be assembled near this state: {name} stays open by {miss:.3g}{between}\n"
            f"  {hint}check the lengths, or begin nearer to a position where it closes"
        )


def _bodies(tie: AnyLoop | Constraint) -> str:
    """Which bodies a loop ties, in words; nothing for what ties coordinates."""
    return f" between {tie.first} and {tie.second}" if isinstance(tie, Loop) else ""


def is_angle(mechanism: Mechanism, name: str) -> bool:
    """Whether a coordinate appears in rotations and nowhere else in the geometry: a turn more is the same place."""
    found = False
    for body in mechanism.bodies:
        for transform in body.transforms:
            if any(name in names(amount) for amount in amounts(transform)):
                if not isinstance(transform, Rotation):
                    return False
                found = True
    return found
