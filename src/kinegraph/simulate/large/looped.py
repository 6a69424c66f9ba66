"""The motion of large mechanisms: accelerations by loops over bodies, in place of code written out for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen.arrays import Doubles, vector
from kinegraph.codegen.kernel import Code, Kernel, Outputs, Recipe, Result
from kinegraph.compiler.compile import LARGE, compile
from kinegraph.derive.dynamics.state_rate import WORK, rates_and_forces
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import SolveError
from kinegraph.graph.node import Graph
from kinegraph.jit.glue import Call, Copy, Entry, Glue, Memory, in_turn
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import Equations, VelocityForm, kernel_of_graph
from kinegraph.simulate.large.point_paths import point_columns
from kinegraph.simulate.observe import ENERGY, KINETIC, POTENTIAL, Rows
from kinegraph.solve.methods.capabilities import StateForm
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.problem.problem import Floats, RightHandSide

#: Beyond so many velocities planar linkages with loops are run by loops over bodies: their code grows faster.
LARGE_LINKAGE = 100


def takes_loops(mechanism: Mechanism, solver: Solver, loops: bool | None, passes: str = "") -> bool:
    """Whether a run computes accelerations by loops over bodies; `loops` forces it, or the contrary.

    Passes of the user's own need a graph.

    SolveError where loops are to be taken and cannot.
    """
    large = len(mechanism.layout.velocities) > (LARGE_LINKAGE if is_constrained(mechanism) else LARGE)
    if not (large if loops is None else loops):
        return False
    why = "passes reduce graphs" if passes else _unsuited(mechanism)
    suits = not why
    if loops is None and not suits:
        return False
    if solver.capabilities.jacobian:
        why = f"{solver.name} needs the Jacobian of the rates"
    elif solver.capabilities.form is not StateForm.VELOCITIES:
        why = f"{solver.name} needs the equations in momenta"
    if why:
        remedy = "leave the passes away" if passes else "choose dop853 or dopri5" if suits else "leave loops=True away"
        raise SolveError(f"{why}, which loops over bodies do not give: {remedy}, or give loops=False")
    return True


def _unsuited(mechanism: Mechanism) -> str:
    """Why loops over bodies cannot run a mechanism; nothing if they can."""
    if mechanism.elements:
        return f"{mechanism.name} has elements"
    if is_constrained(mechanism) and not _is_planar_linkage(mechanism):
        return f"{mechanism.name} has loops or constraints and is no planar linkage of bars and pins alone"
    return ""


def _is_planar_linkage(mechanism: Mechanism) -> bool:
    from kinegraph.large.linkages.structure import planar_linkage  # brings SciPy's sparse matrices with it

    return planar_linkage(mechanism) is not None


class LoopedRate(Kernel):
    """y' = [N(q) v, qdd, further] with accelerations by loops; `around` gives the rest, interpreted or compiled.

    It has an address where both have one.
    """

    form = "looped"

    def __init__(self, accelerations: Kernel, around: Kernel) -> None:
        self._accelerations, self._around = accelerations, around
        self.arguments = around.arguments
        self.operations = None
        positions, forces, further = (output.size for output in around.outputs)
        self._positions, self._forces = positions, positions + forces
        self.outputs = (Result("rate", (positions + forces + further,)),)
        self._time = len(self.arguments[0].symbols)

    @property
    def recipe(self) -> Recipe:
        return LoopedRate, (self._accelerations, self._around)

    @cached_property
    def _glue(self) -> Glue | None:
        """The rates as one function, where all parts can be called by their addresses."""
        accelerations, around = self._accelerations.code, self._around.code
        if not isinstance(accelerations, int) or not isinstance(around, int):
            return None
        return self._joined(accelerations, around)

    def _joined(self, accelerations: int, around: int) -> Glue:
        """Compute what is around, gather the arguments of the accelerations behind it, and put all in its place."""
        end = given = self._around.output_size
        work, further = Entry(Memory.WORK), Entry(Memory.WORK, self._forces)
        steps: list[Call | Copy] = [Call(around, Entry(Memory.X), work)]
        sources = {"q": Entry(Memory.X), "v": Entry(Memory.X, self._positions),
                   "tau": Entry(Memory.WORK, self._positions), "t": Entry(Memory.X, self._time)}  # fmt: skip
        for argument in self._accelerations.arguments:
            count = len(argument.symbols)
            steps.append(Copy(sources[argument.name], Entry(Memory.WORK, given), count))
            given += count
        steps.append(Call(accelerations, Entry(Memory.WORK, end), Entry(Memory.Y, self._positions)))
        steps.append(Copy(work, Entry(Memory.Y), self._positions))
        steps.append(Copy(further, Entry(Memory.Y, self._forces), end - self._forces))
        return in_turn(steps, given)

    @property
    def address(self) -> int:
        return super().address if self._glue is None else self._glue.address

    @property
    def code(self) -> Code:
        return super().code if self._glue is None else self._glue.address

    def flat(self, x: Doubles) -> Sequence[float]:
        """The rates for x = [y, t, u, p]."""
        around = np.asarray(self._around.flat(x))
        rates, forces, further = np.split(around, (self._positions, self._forces))
        q, v = x[: self._positions], x[self._positions : self._forces]
        known = {"q": q, "v": v, "tau": forces, "t": x[self._time]}
        found = self._accelerations(*(known[argument.name] for argument in self._accelerations.arguments))
        joined: list[float] = np.concatenate([rates, found, further]).tolist()
        return joined

    def __call__(self, *values: ArrayLike, **named: ArrayLike) -> Outputs:
        """The rates of one state."""
        given = zip(self.arguments, self.arranged(values, named), strict=True)
        return np.array(self.flat(np.concatenate([np.atleast_1d(vector(one, value)) for one, value in given])))

    def batch(self, *values: ArrayLike, out: object = None, **named: ArrayLike) -> Outputs:
        """The rates of many states, one after the other."""
        self.refuse_out(out)
        return np.array([self.flat(row) for row in np.hstack(self.rows(values, named))])


class LoopedForm(VelocityForm):
    """y = [q, v], its accelerations by loops over bodies."""

    by_loops = True

    @property
    def names(self) -> tuple[str, ...]:
        return replace(self.mechanism.layout, balances=self.balances).state

    @property
    def balances(self) -> tuple[str, ...]:
        return tuple(one for one in super().balances if one == WORK)  # loops do not give the power of laws of time

    @property
    def rate(self) -> Graph:
        raise SolveError("loops over bodies give numbers, no graph of the rates: simulate with loops=False")

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        """The right-hand side; loops are compiled, and what is around them too if they have an address."""
        accelerations = compile(self.mechanism, "qdd", parameters=self.bound, loops=True)
        graph = rates_and_forces(self.mechanism, self.bound, self.forces)
        around = kernel_of_graph(graph, self._arguments(), accelerations.addressable)
        return RightHandSide(
            code=LoopedRate(accelerations, around),
            names=self.names,
            inputs=len(self.forces.sampled),
            quaternions=self.mechanism.layout.quaternions,
            projection=self.back or 0,
            rows=self.rows,
        )

    @property
    def back(self) -> Kernel | None:
        """One step of a state back onto loops; None where there are none."""
        return None


def looped_observation(equations: Equations, rows: Rows) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """Columns of energies and output points, and what cannot change. Momenta are not computed by loops."""
    known = {"q": rows.q, "v": rows.v, "t": rows.times}
    energies = compile(equations.mechanism, "energy", parameters=equations.bound, loops=True)
    kinetic, potential = energies.batch(*(known[argument.name] for argument in energies.arguments)).T
    columns = {KINETIC: kinetic, POTENTIAL: potential, ENERGY: kinetic + potential}
    # there are no elements here: with nothing that depends on time, energy changes by the work of forces alone
    integrals = () if depends_on_time(equations.mechanism) else (ENERGY,)
    return columns | point_columns(equations, rows), integrals
