"""Motion of large mechanisms by recursive algorithms over bodies, and the paths of their output points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen.kernel import Code, Doubles, Kernel, Outputs, Recipe, Result, vector
from kinegraph.compiler.compile import LARGE, compile
from kinegraph.derive.dynamics.state_rate import WORK, rates_and_forces
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import SolveError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Output
from kinegraph.jit.engine import Call, Copy, Entry, Glue, Memory, in_turn
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME
from kinegraph.model.mechanism import Mechanism, Point, Quaternion, Rotation, Transform, amounts
from kinegraph.simulate.checks.first_integrals import ENERGY
from kinegraph.simulate.equations import Equations, VelocityForm, kernel_of_graph
from kinegraph.simulate.observation import KINETIC, POTENTIAL, Rows
from kinegraph.solve.methods.method import Solver, StateForm
from kinegraph.solve.problem import Floats, RightHandSide

# Output points of a run, computed from their transforms at each state: no formula of a long chain is written out.


def point_columns(equations: Equations, rows: Rows) -> dict[str, Floats]:
    """The coordinates of all output points in the fixed frame, by name."""
    columns: dict[str, Floats] = {}
    for point in equations.mechanism.points:
        place = _followed(equations, point, rows)
        columns |= {f"{point.name}.{axis}": column for axis, column in zip("xyz", place, strict=True)}
    return columns


def _followed(equations: Equations, point: Point, rows: Rows) -> list[Floats]:
    """A point of a body in the fixed frame: its transforms applied in turn, the last first."""
    path = list(_inwards(equations.mechanism, point.body))
    builder = GraphBuilder()
    names = Names(builder, equations.mechanism, equations.bound)
    wanted = [*point.position, *(one for transform in path for one in amounts(transform))]
    nodes = tuple(names.scalar(one).index for one in wanted)
    known = dict(zip(equations.mechanism.layout.positions, rows.q.T, strict=True)) | {TIME: rows.times}
    found = interpret(builder.graph([Output("amounts", (len(nodes),), nodes)]), known)["amounts"]
    values = iter(np.broadcast_to(found, (len(rows.times), len(nodes))).T)
    place = [np.array(next(values)) for _ in range(3)]
    for transform in path:
        place = _moved(transform, place, [next(values) for _ in amounts(transform)])
    return place


def _inwards(mechanism: Mechanism, name: str | None) -> Iterator[Transform]:
    """The transforms from a body to the fixed frame, the body's last one first."""
    while name is not None:
        body = mechanism.body(name)
        yield from reversed(body.transforms)
        name = body.base


def _moved(transform: Transform, place: list[Floats], values: list[Floats]) -> list[Floats]:
    """A point in the frame after a transform, expressed in the frame before it."""
    if isinstance(transform, Quaternion):
        return _turned(place, values)
    x, y, z = (place[(transform.axis.value + k) % 3] for k in range(3))
    (value,) = values
    if isinstance(transform, Rotation):
        cosine, sine = np.cos(value), np.sin(value)
        y, z = cosine * y - sine * z, sine * y + cosine * z
    else:
        x = x + value
    moved = [x, y, z]
    return [moved[(axis - transform.axis.value) % 3] for axis in range(3)]


def _turned(place: list[Floats], quaternion: list[Floats]) -> list[Floats]:
    """A point rotated by a nonzero quaternion: r + 2 e x (e x r + e0 r) / |e|^2."""
    e0, e = quaternion[0], np.array(quaternion[1:])
    r = np.array(place)
    once = np.cross(e, r, axis=0) + e0 * r
    return list(r + 2 * np.cross(e, once, axis=0) / (e0 * e0 + (e * e).sum(axis=0)))


# Accelerations by recursive algorithms, instead of code written out for each body.

#: Planar linkages with loops and more velocities than this run by recursion: written-out code grows faster.
LARGE_LINKAGE = 100


def takes_recursion(mechanism: Mechanism, solver: Solver, loops: bool | None, passes: str = "") -> bool:
    """Whether a run computes accelerations by recursion. `loops` forces or forbids it.

    User passes need a graph. SolveError if recursion is required and not possible.
    """
    large = len(mechanism.layout.velocities) > (LARGE_LINKAGE if is_constrained(mechanism) else LARGE)
    if not (large if loops is None else loops):
        return False
    why = "passes need a graph" if passes else _unsuited(mechanism)
    suits = not why
    if loops is None and not suits:
        return False
    if solver.capabilities.jacobian:
        why = f"{solver.name} needs the Jacobian of the rates"
    elif solver.capabilities.form is not StateForm.VELOCITIES:
        why = f"{solver.name} needs the equations in momenta"
    if why:
        remedy = "omit the passes" if passes else "use dop853 or dopri5" if suits else "omit loops=True"
        raise SolveError(f"{why}, which recursive algorithms do not provide: {remedy}, or give loops=False")
    return True


def _unsuited(mechanism: Mechanism) -> str:
    """Why recursive algorithms cannot run a mechanism; empty if they can."""
    if mechanism.elements:
        return f"{mechanism.name} has elements"
    if mechanism.states:
        return f"{mechanism.name} has first-order states"
    if is_constrained(mechanism) and not _is_planar_linkage(mechanism):
        return f"{mechanism.name} has loops or constraints and is not a planar linkage of bars and pins"
    return ""


def _is_planar_linkage(mechanism: Mechanism) -> bool:
    from kinegraph.recursive.linkages.recognition import planar_linkage  # imports SciPy's sparse matrices

    return planar_linkage(mechanism) is not None


class RecursiveRate(Kernel):
    """y' = [N(q) v, qdd, further] with recursive accelerations; `around` gives the rest, interpreted or compiled.

    It has an address if both parts have one.
    """

    form = "recursive"

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
        return RecursiveRate, (self._accelerations, self._around)

    @cached_property
    def _glue(self) -> Glue | None:
        """The rates as one function, if all parts can be called by address."""
        accelerations, around = self._accelerations.code, self._around.code
        if not isinstance(accelerations, int) or not isinstance(around, int):
            return None
        return self._joined(accelerations, around)

    def _joined(self, accelerations: int, around: int) -> Glue:
        """Compute the surrounding part, collect the arguments of the accelerations after it, and write the results
        in place."""
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


class RecursiveForm(VelocityForm):
    """y = [q, v], with accelerations by recursion over bodies."""

    by_loops = True

    @property
    def names(self) -> tuple[str, ...]:
        return replace(self.mechanism.layout, balances=self.balances).state

    @property
    def balances(self) -> tuple[str, ...]:
        # recursion does not give the power of prescribed motions
        return tuple(one for one in super().balances if one == WORK)

    @property
    def rate(self) -> Graph:
        raise SolveError("recursive algorithms give numbers, not a graph of the rates: simulate with loops=False")

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        """The right-hand side. Recursion is compiled, and so is the surrounding part if it has an address."""
        accelerations = compile(self.mechanism, "qdd", parameters=self.bound, loops=True)
        graph = rates_and_forces(self.mechanism, self.bound, self.forces)
        around = kernel_of_graph(graph, self._arguments(), accelerations.addressable)
        return RightHandSide(
            code=RecursiveRate(accelerations, around),
            names=self.names,
            inputs=len(self.forces.sampled),
            quaternions=self.mechanism.layout.quaternions,
            projection=self.back or 0,
            rows=self.rows,
        )

    @property
    def back(self) -> Kernel | None:
        """One projection step of a state onto loops; None if there are none."""
        return None


def recursive_observation(equations: Equations, rows: Rows) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """Columns of energies and output points, and the conserved quantities. Momenta are not computed by recursion."""
    known = {"q": rows.q, "v": rows.v, "t": rows.times}
    energies = compile(equations.mechanism, "energy", parameters=equations.bound, loops=True)
    kinetic, potential = energies.batch(*(known[argument.name] for argument in energies.arguments)).T
    columns = {KINETIC: kinetic, POTENTIAL: potential, ENERGY: kinetic + potential}
    # there are no elements here: without time dependence, energy changes by the work of forces alone
    integrals = () if depends_on_time(equations.mechanism) else (ENERGY,)
    return columns | point_columns(equations, rows), integrals
