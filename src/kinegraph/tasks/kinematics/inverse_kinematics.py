"""`inverse_kinematics`: all positions that bring a body to a pose, each certified by forward kinematics.

In closed form where the arm has one, which gives all solutions; else by a search from many starts, where what arrives
at the same place is one solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.assembly.places import angle_names, is_among, wrapped
from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.seeds import generator
from kinegraph.tasks.forces.coordinates_alone import refuse_quaternions
from kinegraph.tasks.kernels import kernel_of
from kinegraph.tasks.kinematics.pose_errors import target
from kinegraph.tasks.kinematics.pose_search import PoseSearch
from kinegraph.tasks.kinematics.pose_solver import REACHED, NoClosedForm, PoseSolver
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.search_box import search_box

#: What is said of solutions that were searched for.
SEARCH = "search"


@dataclass(frozen=True)
class PoseSolution:
    """One solution: positions and how far the pose is missed (metres, radians; the larger counts)."""

    q: Floats
    error: float


@dataclass(frozen=True)
class PoseSolutions(RichDisplay):
    """All solutions that were found. Empty: the pose was not reached; `nearest` is the closest that was found.

    `family`: the mechanism can move while the body stays (it has more joints than the pose fixes, or is singular
    there), so the solutions are examples of infinitely many.
    `method`: the closed form that gave them, so that they are all there are, or `search`.
    """

    solutions: tuple[PoseSolution, ...]
    coordinates: tuple[str, ...]
    nearest: PoseSolution
    family: bool
    method: str = SEARCH

    def __len__(self) -> int:
        return len(self.solutions)

    @property
    def complete(self) -> bool:
        """Whether there are no further solutions, for sure."""
        return self.method != SEARCH and not self.family

    def __str__(self) -> str:
        if not self.solutions:
            return f"the pose is not reached ({self.method}): the nearest found misses it by {self.nearest.error:.3g}"
        kind = "examples of infinitely many" if self.family else "all" if self.complete else "all that were found"
        lines = [f"{len(self)} solutions, {kind} ({self.method})"]
        for one in self.solutions:
            place = ", ".join(f"{name} = {x:.9g}" for name, x in zip(self.coordinates, one.q, strict=True))
            lines.append(f"  {place}; error {one.error:.1e}")
        return "\n".join(lines)


def inverse_kinematics(
    mechanism: MechanismSource,
    body: str,
    pose: Floats | Sequence[float],
    *,
    within: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 256,
    seed: int = 0,
    parameters: Mapping[str, Scalar] | None = None,
    closed_form: bool = True,
) -> PoseSolutions:
    """Positions at which `body` (or an output point) has the pose: a 4 x 4 matrix, or three numbers for a point.

    within: limits by coordinate; by default angles take one turn, lengths -2..2.
    starts, seed: of the search, where there is no closed form (or `closed_form` is False).
    """
    mechanism = mechanism_of(mechanism)
    _require_open_tree(mechanism)
    wanted = target(pose)
    box = search_box(mechanism, within or {}, 2.0)
    solver = _solver(mechanism, body, wanted, parameters) if closed_form else None
    kernel = kernel_of(mechanism, [f"pose:{body}", f"jacobian:{body}"], parameters)
    search = PoseSearch(kernel, body, wanted)
    if solver is None:
        random = generator(seed)
        q, errors = search.arrive(random.uniform(box[:, 0], box[:, 1], (starts, len(box))))
    else:
        q = solver.batch(wanted[None]).q[0]
        errors = search.errors(q)
    return _collected(mechanism, search, q, errors, box if within else None, solver.name if solver else SEARCH)


def _require_open_tree(mechanism: Mechanism) -> None:
    refuse_quaternions(mechanism, "inverse kinematics takes")
    if is_constrained(mechanism):
        raise TaskError(
            f"{mechanism.name} has loops or constraints: inverse kinematics is for trees\n"
            "  kg.follow leads a point of it along a path, kg.assemble closes it with coordinates held"
        )


def _solver(
    mechanism: Mechanism, body: str, wanted: Floats, parameters: Mapping[str, Scalar] | None
) -> PoseSolver | None:
    """The closed form; None if there is none, or if other coordinates are free beside it."""
    try:
        solver = PoseSolver(mechanism, body, wanted.ndim == 1, parameters)
    except NoClosedForm:
        return None
    return solver if len(solver.arm.moving) == solver.size else None


def _collected(
    mechanism: Mechanism, search: PoseSearch, q: Floats, errors: Floats, limits: Floats | None, method: str
) -> PoseSolutions:
    names = mechanism.layout.positions
    best = int(np.nanargmin(errors)) if np.isfinite(errors).any() else 0
    reached = errors <= REACHED
    angles = angle_names(mechanism)
    turns = [k for k, name in enumerate(names) if name in angles]
    rows = wrapped(q[reached], turns, limits)
    found = _solutions(rows, errors[reached], turns, limits)
    family = bool(reached.any()) and bool(np.any(search.ranks(q[reached]) < len(names)))
    return PoseSolutions(found, names, PoseSolution(q[best], float(errors[best])), family, method)


def _solutions(q: Floats, errors: Floats, turns: Sequence[int], limits: Floats | None) -> tuple[PoseSolution, ...]:
    found: list[PoseSolution] = []
    for row, error in zip(q, errors, strict=True):
        if limits is not None and np.any((row < limits[:, 0] - 1e-9) | (row > limits[:, 1] + 1e-9)):
            continue
        if not is_among(row, [other.q for other in found], turns):
            found.append(PoseSolution(row, float(error)))
    return tuple(sorted(found, key=lambda one: np.round(one.q, 9).tolist()))
