"""`closed_form_equations`: the closed form of inverse kinematics as equations, to be printed or exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.mechanism_source import MechanismSource
from kinegraph.display import RichDisplay
from kinegraph.graph.build import GraphBuilder, Scalar, moved, transfer
from kinegraph.graph.node import Graph, Kind
from kinegraph.model.expressions import Scalar as ModelScalar
from kinegraph.notation.latex import latex
from kinegraph.notation.text import formula
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce
from kinegraph.tasks.closed_form_kinematics import MARGINS, SOLUTIONS, SYMBOLS, constant_of
from kinegraph.tasks.pose_solver import PoseSolver, pose_solver

#: The entries of a pose by rows: three of the rotation, then the position.
POSE = tuple((*(f"r{i}{j}" for j in "123"), axis) for i, axis in zip("123", "xyz", strict=True))


@dataclass(frozen=True)
class ClosedFormEquations(RichDisplay):
    """The closed form of an arm. Its inputs are r11, r12, r13, x, r21, ... of the pose by rows, or x, y, z of a point.

    graph: the outputs `solutions`, a row for each branch and a column for each of the coordinates, and `margins`, the
    arguments of its square roots relative to their scale. A branch with a negative margin does not exist; forward
    kinematics tells of every other whether it reaches the pose. method: the geometry that makes the arm solvable.
    """

    model: str
    body: str
    coordinates: tuple[str, ...]
    method: str
    graph: Graph

    @property
    def branches(self) -> int:
        """The largest possible number of solutions."""
        return self.graph.output(SOLUTIONS).shape[0]

    def latex(self) -> str:
        """The equations as LaTeX."""
        return latex(self.graph, f"{self.model}: {self.body} by {self.method}")

    def __str__(self) -> str:
        columns = ", ".join(self.coordinates)
        head = f"# {self.model}: {self.body} by {self.method}; {self.branches} branches; columns {columns}"
        return f"{head}\n\n{formula(self.graph)}"

    def to_dict(self) -> dict[str, object]:
        """The facts as JSON can hold them."""
        return {
            "model": self.model, "body": self.body, "method": self.method, "coordinates": list(self.coordinates),
            "branches": self.branches, "equations": formula(self.graph),
        }  # fmt: skip


def closed_form_equations(
    model: MechanismSource,
    body: str,
    *,
    points: bool = False,
    parameters: Mapping[str, ModelScalar] | None = None,
) -> ClosedFormEquations:
    """Return the closed form of inverse kinematics as equations; TaskError if none is known for the arm.

    points: solve for the position of a point with three joints instead of a pose with six.
    """
    solver = pose_solver(model, body, points=points, parameters=parameters)
    names = solver.mechanism.layout.positions
    graph = reduce(_of_point(solver) if points else _of_pose(solver), Effort.QUICK).graph
    coordinates = tuple(names[k] for k in solver.arm.moving)
    return ClosedFormEquations(solver.mechanism.name, body, coordinates, solver.name, graph)


def _of_point(solver: PoseSolver) -> Graph:
    names = {f"p{i}": axis for i, axis in enumerate("xyz")}
    builder = GraphBuilder()
    graph = solver.form.graph
    place = transfer(graph, builder, lambda node: builder.symbol(node.kind, names.get(node.name, node.name)))
    return builder.graph(moved(graph.outputs, place))


def _of_pose(solver: PoseSolver) -> Graph:
    """The closed form of the displacement from the pose at q = 0, written in the pose itself."""
    builder = GraphBuilder()
    pose = [[Scalar(builder, builder.symbol(Kind.INPUT, name)) for name in row] for row in POSE]
    given = dict(zip(SYMBOLS, _displacement(solver, pose), strict=True))
    graph = solver.form.graph
    solutions, margins = moved(graph.outputs, transfer(graph, builder, lambda node: given[node].index))
    if solver.form.backwards:
        joints = len(solver.arm.joints)
        rows = [solutions.nodes[k : k + joints] for k in range(0, len(solutions.nodes), joints)]
        nodes = tuple(builder.scale(-1, node) for row in rows for node in reversed(row))
        solutions = solutions._replace(nodes=nodes)
    assert (solutions.name, margins.name) == (SOLUTIONS, MARGINS)
    return builder.graph([solutions, margins])


def _displacement(solver: PoseSolver, pose: list[list[Scalar]]) -> list[Scalar]:
    """pose home^-1 by rows; of a form from the hand to the base its inverse."""
    home, like = np.round(np.linalg.inv(solver.arm.home), 16), pose[0][0]
    turn = [[_sum([row[k] * constant_of(like, home[k, j]) for k in range(3)]) for j in range(3)] for row in pose]
    place = [_sum([row[3], *(row[k] * constant_of(like, home[k, 3]) for k in range(3))]) for row in pose]
    if solver.form.backwards:
        turn = [[turn[j][i] for j in range(3)] for i in range(3)]
        place = [-_sum([entry * distance for entry, distance in zip(row, place, strict=True)]) for row in turn]
    return [entry for row, last in zip(turn, place, strict=True) for entry in (*row, last)]


def _sum(parts: Sequence[Scalar]) -> Scalar:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
