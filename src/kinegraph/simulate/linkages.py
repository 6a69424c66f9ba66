"""Motion of long planar linkages: recursion over bars and pins, and projection onto the loops in O(n)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.assembly.initial_values import holding, moved_values, moved_values_note, moved_values_refusal
from kinegraph.codegen.kernel import Code, Doubles, Kernel, Outputs, Recipe, Result
from kinegraph.codegen.program.binding import Argument
from kinegraph.errors import AssemblyError, SolveError
from kinegraph.graph.node import Graph
from kinegraph.jit.engine import Glue
from kinegraph.model.evaluate import Value
from kinegraph.model.expressions import Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.c_interface import Addressed
from kinegraph.recursive.kernel import glued
from kinegraph.recursive.linkages.assembly import CLOSED, ClosedState, closed_state, closing_jacobian
from kinegraph.recursive.linkages.pins import SINGULAR, LinkageSystem
from kinegraph.recursive.linkages.recognition import planar_linkage
from kinegraph.simulate.equations import ProjectedStates, largest
from kinegraph.simulate.inputs import Start, given_state
from kinegraph.simulate.recursive import RecursiveForm
from kinegraph.solve.problem import Floats

#: Weights of values that cannot all hold: how much less a given value moves than an unspecified one; and a declared
#: one.
_RELUCTANCE, _DECLARED_RELUCTANCE = 1e-3, 0.1
#: For larger Jacobians, the values that can hold are not determined.
_MOST_ENTRIES = 1_000_000


class LinkageProjection(Kernel):
    """x -> y and pivots: one Newton step of a state onto the loops of a planar linkage, in the metric of H."""

    form = "recursive"

    def __init__(self, mechanism: Mechanism, bound: Mapping[str, Expression], argument: Argument, state: int) -> None:
        self._recipe = mechanism, dict(bound), argument, state
        self._system, self._state = linkage_system(mechanism, bound), state
        self.arguments, self.operations = (argument,), None
        self.outputs = (Result("y", (state,)), Result("pivots", (len(self._system.rows),)))

    @property
    def recipe(self) -> Recipe:
        return LinkageProjection, self._recipe

    @cached_property
    def _glue(self) -> tuple[Glue, Addressed]:
        code = self._system.projection_at(self._state)
        return glued(code), code

    @property
    def address(self) -> int:
        return self._glue[0].address

    @property
    def code(self) -> Code:
        return self.address

    def __call__(self, *values: ArrayLike, **named: ArrayLike) -> Outputs:
        """State and pivots of one state."""
        (x,) = self.arranged(values, named)
        given: Doubles = np.asarray(x, dtype=float)
        count = len(self._system.linkage.bar)
        q, v, pivots, _ = self._system.projected_states(given[:count].copy(), given[count : 2 * count].copy())
        return {"y": np.concatenate([q, v, given[2 * count : self._state]]), "pivots": np.repeat(pivots, 2)}

    def batch(self, *values: ArrayLike, out: object = None, **named: ArrayLike) -> Outputs:
        """State and pivots of many states, one after the other."""
        self.refuse_out(out)
        found = [self(row) for row in np.hstack(self.rows(values, named))]
        return {output.name: np.array([one[output.name] for one in found]) for output in self.outputs}


class LinkageForm(RecursiveForm):
    """y = [q, v] of a planar linkage with loops: accelerations and loop closure by recursion over bars and pins."""

    @cached_property
    def _system(self) -> LinkageSystem:
        return linkage_system(self.mechanism, self.bound)

    @property
    def projection(self) -> Graph | None:
        raise SolveError("recursive algorithms give numbers, not a graph of the projection: simulate with loops=False")

    @property
    def closes(self) -> bool:
        return True

    @property
    def rows(self) -> tuple[str, ...]:
        return self._system.rows

    @cached_property
    def back(self) -> Kernel:
        return LinkageProjection(self.mechanism, self.bound, Argument("x", self.symbols), len(self.names))

    def projected_states(self, times: Floats, q: Floats, v: Floats, parameters: Floats) -> ProjectedStates:
        places, speeds, missed = np.empty_like(q), np.empty_like(v), np.empty((len(q), len(self.rows) // 2, 4))
        for k, (place, speed) in enumerate(zip(np.ascontiguousarray(q), np.ascontiguousarray(v), strict=True)):
            places[k], speeds[k], _, missed[k] = self._system.projected_states(place, speed)
        return ProjectedStates(places, speeds, largest(missed[:, :, :2]), largest(missed[:, :, 2:]))

    def assembled(self, initial: Mapping[str, Scalar], parameters: Mapping[str, Value]) -> Start:
        """The initial state of a run: the given values hold first, then those that the model declares; SolveError if
        they cannot."""
        layout = self.mechanism.layout
        given = given_state(self.mechanism, initial, parameters)
        declared = [name for name in self.mechanism.declared if name not in initial]
        named = (*initial, *declared)
        independent, found = named, self._closed_with(given, named)
        if not found.closed:
            found = self._closed_near(given, tuple(initial), declared)
            independent = self._independent(found.q, named)
            held = self._closed_with(given, independent)
            found = held if held.closed else found
        names = (*layout.positions, *layout.velocities)
        before, after = (
            dict(zip(names, map(float, (*q, *v)), strict=True)) for q, v in (given, (found.q, found.v))
        )  # fmt: skip
        moved = moved_values(before, after, tuple(initial), independent, declared)
        if message := moved_values_refusal(self.mechanism.name, moved, independent):
            raise AssemblyError(message)
        self._refuse_singular(found.q)
        return Start(
            found.q, found.v, moved_values_note([one for one in moved if one.set or not one.follows or not initial])
        )

    def _closed_with(self, given: tuple[Floats, Floats], independent: Sequence[str]) -> ClosedState:
        """The loops closed while the named values hold."""
        layout, held = self.mechanism.layout, frozenset(independent)
        mobile, rates = (
            np.array([0.0 if name in held else 1.0 for name in names])
            for names in (layout.positions, layout.velocities)
        )
        return closed_state(self._system, *given, mobile, rates)

    def _independent(self, q: Floats, named: Sequence[str]) -> tuple[str, ...]:
        """The named values that can hold, by the rank of the loop rows; empty if there are too many to decide."""
        jacobian = closing_jacobian(self._system.linkage, q)
        if jacobian.shape[0] * jacobian.shape[1] > _MOST_ENTRIES:
            return ()
        dense = np.asarray(jacobian.todense())
        layout = self.mechanism.layout
        found: list[str] = []
        for names in (layout.positions, layout.velocities):
            columns = {name: (column,) for column, name in enumerate(names)}
            found += holding(dense, columns, tuple(name for name in named if name in columns))
        return tuple(found)

    def _closed_near(self, given: tuple[Floats, Floats], held: Sequence[str], declared: Sequence[str]) -> ClosedState:
        """The loops closed with the smallest change of the given values; SolveError names the loop that stays open."""
        layout = self.mechanism.layout
        weights = dict.fromkeys(declared, _DECLARED_RELUCTANCE) | dict.fromkeys(held, _RELUCTANCE)
        mobile, rates = (
            np.array([weights.get(name, 1.0) for name in names]) for names in (layout.positions, layout.velocities)
        )
        found = closed_state(self._system, *given, mobile, rates)
        if not np.max(found.missed) <= CLOSED:
            worst = self.mechanism.loops[int(np.argmax(found.missed))].name
            raise AssemblyError(
                f"{self.mechanism.name} cannot be assembled near this state: {worst} has a gap of "
                f"{np.max(found.missed):.3g}\n  check the lengths, or start nearer to a position where it closes"
            )
        return found

    def _refuse_singular(self, q: Floats) -> None:
        pivots = self._system.projected_states(q, np.zeros_like(q))[2]
        if not np.min(pivots) > SINGULAR:
            row = self.rows[2 * int(np.argmin(pivots))]
            raise SolveError(
                f"{self.mechanism.name} starts in a singular position, or has redundant rows: {row} depends "
                "on the others there\n  start slightly beside it, or give loops=False, which removes "
                "redundant rows"
            )


def linkage_system(mechanism: Mechanism, bound: Mapping[str, Expression]) -> LinkageSystem:
    """A mechanism that is a planar linkage, ready for numbers."""
    found = planar_linkage(mechanism, bound)
    if found is None:
        raise SolveError(f"{mechanism.name} is not a planar linkage of bars and pins: give loops=False")
    return LinkageSystem(*found)
