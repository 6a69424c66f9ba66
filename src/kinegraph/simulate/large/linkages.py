"""The motion of long planar linkages: loops over bars and pins, and states taken back onto the loops in O(n)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen.arrays import Doubles
from kinegraph.codegen.kernel import Code, Kernel, Outputs, Recipe, Result
from kinegraph.errors import AssemblyError, SolveError
from kinegraph.graph.node import Graph
from kinegraph.jit.glue import Glue
from kinegraph.jit.kernel import Argument
from kinegraph.large.by_address.tables import Addressed
from kinegraph.large.kernel import glued
from kinegraph.large.linkages.assembly import CLOSED, closed_state
from kinegraph.large.linkages.structure import planar_linkage
from kinegraph.large.linkages.sweeps import SINGULAR
from kinegraph.large.linkages.system import LinkageSystem
from kinegraph.model.evaluate import Value
from kinegraph.model.expression import Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import ProjectedStates, largest
from kinegraph.simulate.large.looped import LoopedForm
from kinegraph.simulate.start import given_state
from kinegraph.solve.problem.problem import Floats

#: How much less a value that was given moves than one that was not, where both cannot stay.
_RELUCTANCE = 1e-3


class LinkageProjection(Kernel):
    """x -> y and pivots: one Newton step of a state onto the loops of a planar linkage, in the metric of H."""

    form = "looped"

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


class LinkageForm(LoopedForm):
    """y = [q, v] of a planar linkage with loops, its accelerations and its loops by loops over bars and pins."""

    @cached_property
    def _system(self) -> LinkageSystem:
        return linkage_system(self.mechanism, self.bound)

    @property
    def projection(self) -> Graph | None:
        raise SolveError("loops over bodies give numbers, no graph of the projection: simulate with loops=False")

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

    def assembled(self, initial: Mapping[str, Scalar], parameters: Mapping[str, Value]) -> tuple[Floats, Floats]:
        """q and v at the start, closed near the values that are given; those of `initial` stay if they can."""
        layout = self.mechanism.layout
        given = given_state(self.mechanism, initial, parameters)
        held = [name in initial or f"{name}'" in initial for name in layout.positions]
        found = closed_state(self._system, *given, np.where(held, 0.0, 1.0))
        if not np.max(found.missed) <= CLOSED:
            found = closed_state(self._system, *given, np.where(held, _RELUCTANCE, 1.0))
        if not np.max(found.missed) <= CLOSED:
            worst = self.mechanism.loops[int(np.argmax(found.missed))].name
            raise AssemblyError(
                f"{self.mechanism.name} cannot be assembled near this state: {worst} stays open by "
                f"{np.max(found.missed):.3g}\n  check the lengths, or begin nearer to a position where it closes"
            )
        self._refuse_singular(found.q)
        return found.q, found.v

    def _refuse_singular(self, q: Floats) -> None:
        pivots = self._system.projected_states(q, np.zeros_like(q))[2]
        if not np.min(pivots) > SINGULAR:
            row = self.rows[2 * int(np.argmin(pivots))]
            raise SolveError(
                f"{self.mechanism.name} starts in a singular position, or has redundant rows: {row} follows from "
                "the others there\n  start a little beside it, or give loops=False, which sorts out redundant rows"
            )


def linkage_system(mechanism: Mechanism, bound: Mapping[str, Expression]) -> LinkageSystem:
    """A mechanism that is a planar linkage, ready for numbers."""
    found = planar_linkage(mechanism, bound)
    if found is None:
        raise SolveError(f"{mechanism.name} is no planar linkage of bars and pins: give loops=False")
    return LinkageSystem(*found)
