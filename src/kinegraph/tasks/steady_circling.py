"""Steady motions on rolling wheels and blades that go in circles: coordinates of the plane follow, the rest is steady.

Where rows restrict velocities only, x' and y' of a rotating disc are not constant, but follow from the others. With
independent velocities w the motion is steady if w' = 0, and if the coordinates on which w' depends rest. What a user
asks to turn must be a coordinate on which neither w' nor the rates of those that rest depend: this is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.derive.constraints.analysis import holonomic_rows, row_names_of
from kinegraph.derive.constraints.rank import dependent_columns, row_rank
from kinegraph.errors import TaskError
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.equations import JACOBIAN, RATE, VALUE, row_kernel, slope
from kinegraph.tasks.kernels import called
from kinegraph.tasks.linear.acceleration_slopes import acceleration_slopes
from kinegraph.tasks.linear.tangent import solved_columns
from kinegraph.tasks.operating_point import Floats, OperatingPoint, fitting
from kinegraph.tasks.varied import Varied

_SAMPLES = 3
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SteadyCircling:
    """What is missing for steady motion, for rows of unknowns: positions, then rates that follow from those held.

    following: velocities that follow from the others by the constraints. cyclic: coordinates that may turn.
    """

    mechanism: Mechanism
    parameters: Mapping[str, Scalar]
    point: OperatingPoint
    following: tuple[int, ...]
    cyclic: tuple[int, ...]
    free: tuple[int, ...]
    varied: Varied | None = None
    rows: int = 0

    @property
    def positions(self) -> int:
        """How many of the unknowns are positions."""
        return len(self.point.q)

    @property
    def unknowns(self) -> int:
        """How many unknowns there are, without the varied value."""
        return self.positions + len(self.free)

    def started(self, q: Floats) -> Floats:
        """Unknowns to begin with."""
        return np.hstack([q, np.tile(self.point.v[list(self.free)], (len(q), 1))])

    def at(self, unknowns: Floats) -> OperatingPoint:
        """The state that one row of unknowns says."""
        v = self.point.v.copy()
        v[list(self.free)] = unknowns[self.positions : self.unknowns]
        point = replace(self.point, q=unknowns[: self.positions], v=v)
        return point if self.varied is None else self.varied.at(point, float(unknowns[-1]))

    def missing(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Independent accelerations, values and rates of the constraints, and their slopes, row by row."""
        found = [self._missing(self.at(row)) for row in unknowns]
        return np.array([one for one, _ in found]), np.array([one for _, one in found])

    def _missing(self, point: OperatingPoint) -> tuple[Floats, Floats]:
        retained = [k for k in range(len(point.v)) if k not in self.following]
        rows = called(row_kernel(self.mechanism, self.parameters), point.arguments())
        holonomic = holonomic_rows(self.mechanism)
        count = len(retained) + len(holonomic) + len(rows[RATE])
        columns = [*self.free, *([] if self.varied is None else [self.varied.index])]
        try:
            motion = acceleration_slopes(self.mechanism, point, self.parameters)
        except TaskError:  # a singular position on the way is no place to look at
            return np.full(count, np.nan), np.full((count, self.positions + len(columns)), np.nan)
        jacobian = rows[JACOBIAN]
        values = np.concatenate([motion.accelerations[retained], rows[VALUE][holonomic], rows[RATE]])
        by_displacement = np.vstack([motion.by_displacement[retained], jacobian[holonomic], rows[slope(RATE, "dq")]])
        by_displacement[:, list(self.cyclic)] = 0.0  # where they are is of no account: they stay where they begin
        by_velocity = np.vstack([motion.by_velocity[retained], np.zeros((len(holonomic), len(point.v))), jacobian])
        return values, np.hstack([by_displacement, by_velocity[:, columns]])


def steady_circling(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar],
    held: Sequence[int],
    plane: Sequence[int],
) -> SteadyCircling:
    """The equations of steady motion with held rates; plane: coordinates on which nothing depends at all."""
    following = _following(mechanism, point, parameters, held, plane)
    cyclic = _rotating(mechanism, point, parameters, following)
    names = mechanism.layout.velocities
    for index in held:
        if index not in cyclic:
            listed = ", ".join(names[k] for k in cyclic if k not in following) or "none"
            raise TaskError(
                f"{mechanism.name}: {names[index]} cannot stay constant: the equations depend on its coordinate\n"
                f"  steady rates are those of cyclic coordinates; here: {listed}"
            )
    free = tuple(k for k in cyclic if k not in held)
    v = np.zeros_like(point.v)
    retained = [*held, *free]
    v[retained] = point.v[retained]
    return SteadyCircling(mechanism, dict(parameters), replace(point, v=v), following, cyclic, free)


def resting_matrix(equations: SteadyCircling, point: OperatingPoint) -> tuple[Floats, int]:
    """The linear system of what rests and of the velocities; and how many coordinates that turn are left out."""
    matrix, displaced = reduced_matrix(equations.mechanism, point, equations.parameters, equations.following)
    resting = [k for k, index in enumerate(displaced) if index not in equations.cyclic]
    retained = [*resting, *range(len(displaced), len(matrix))]
    return np.asarray(matrix[np.ix_(retained, retained)]), len(displaced) - len(resting)


def reduced_matrix(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar], following: Sequence[int]
) -> tuple[Floats, tuple[int, ...]]:
    """d(z', w')/d(z, w) for independent displacements z and velocities w; and which displacements z are."""
    rows = called(row_kernel(mechanism, parameters), point.arguments())
    jacobian = rows[JACOBIAN]
    size = len(point.v)
    retained = [k for k in range(size) if k not in following]
    names, holonomic = row_names_of(mechanism), holonomic_rows(mechanism)
    taken = list(row_rank(jacobian, names).independent)
    inverse = np.linalg.inv(jacobian[np.ix_(taken, list(following))])
    displaced, positions = solved_columns(jacobian[holonomic], [names[k] for k in holonomic])
    velocities, rotating = np.zeros((size, len(retained))), np.zeros((size, size))
    velocities[retained] = np.eye(len(retained))
    velocities[list(following)] = -inverse @ jacobian[np.ix_(taken, retained)]
    rotating[list(following)] = -inverse @ rows[slope(RATE, "dq")][taken]
    motion = acceleration_slopes(mechanism, point, parameters)
    by_place = (motion.by_displacement + motion.by_velocity @ rotating) @ positions
    lower = np.hstack([by_place, motion.by_velocity @ velocities])[retained]
    upper = np.hstack([rotating @ positions, velocities])[list(displaced)]
    return np.vstack([upper, lower]), displaced


def _following(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar],
    held: Sequence[int],
    plane: Sequence[int],
) -> tuple[int, ...]:
    """Which velocities follow: those of the plane if they can, held ones last."""
    jacobian = called(row_kernel(mechanism, parameters), point.arguments())[JACOBIAN]
    rows = list(row_rank(jacobian, row_names_of(mechanism)).independent)
    size = len(point.v)
    order = [*held, *(k for k in range(size) if k not in held and k not in plane)]
    order += [k for k in plane if k not in held]
    return tuple(sorted(order[k] for k in dependent_columns(jacobian[rows][:, order])))


def _rotating(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar], following: Sequence[int]
) -> tuple[int, ...]:
    """Coordinates on which neither w' nor the rates of other coordinates depend, seen at random states."""
    random = np.random.default_rng(5)
    size = len(point.v)
    influence = np.zeros((2 * size, size), dtype=bool)
    cyclic = set(range(size))
    for _ in range(_SAMPLES):
        aside = replace(point, q=point.q + random.uniform(-0.5, 0.5, size), v=random.uniform(-1, 1, size))
        state = fitting(mechanism, aside, (), parameters, guess=True)
        matrix, displaced = reduced_matrix(mechanism, state, parameters, following)
        cyclic &= set(displaced)
        count = len(displaced)
        large = np.abs(matrix[:, :count]) > _ROUNDING * float(np.max(np.abs(matrix)))
        influence[np.ix_(displaced, displaced)] |= large[:count]
        influence[size, list(displaced)] |= large[count:].any(axis=0)
    while True:
        others = [k for k in range(size) if k not in cyclic]
        wrong = {k for k in cyclic if influence[[*others, size], k].any()}
        if not wrong:
            return tuple(sorted(cyclic))
        cyclic -= wrong
