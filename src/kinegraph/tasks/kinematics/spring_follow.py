"""`follow_by_spring`: inverse kinematics by dynamics (KiDyM): fictitious springs and dampers pull points along a path.

The mechanism moves without weight and other forces, pulled by k (path - point) + c (path - point)'. It lags behind by
about its inertia times its acceleration over k: what the springs allow is in `deviation`, and halves as k doubles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.elements import Damper, Element, Linear, Spring
from kinegraph.model.expression import Scalar, expression
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.simulate.run import simulate
from kinegraph.solve.problem.execution import Native
from kinegraph.tasks.forces.motion_law import SampledMotion
from kinegraph.tasks.kernels import called_rows, kernel_of
from kinegraph.tasks.kinematics.follow import PathMotion, follow
from kinegraph.tasks.kinematics.path import led
from kinegraph.tasks.operating_point import Floats

_JACOBIAN = "constraint_jacobian"
#: How long the beginning of a path is looked at, in seconds.
_SHORTLY = 1e-5


@dataclass(frozen=True)
class SpringMotion(RichDisplay):
    """A motion found by springs. deviation: the largest distance from the path, by what is led."""

    coordinates: tuple[str, ...]
    motion: SampledMotion
    deviation: Mapping[str, float]
    stiffness: float
    damping: float

    def __str__(self) -> str:
        lines = [f"springs of {self.stiffness:.6g} N/m with dampers of {self.damping:.6g} N s/m"]
        return "\n".join([*lines, *(f"  {name}: off the path by {miss:.3g}" for name, miss in self.deviation.items())])


def follow_by_spring(
    mechanism: MechanismSource,
    path: Mapping[str, Scalar],
    times: Sequence[float] | Floats,
    *,
    stiffness: float = 1e7,
    damping: float | None = None,
    start: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    native: Native = "auto",
) -> SpringMotion:
    """The motion along a path, as springs between points and path cause it; the path is given as for `follow`.

    damping: of the dampers beside the springs; by default about critical for the mass that is moved.
    start: near which position to begin.
    """
    given_mechanism = mechanism_of(mechanism)
    for name, value in (("stiffness", stiffness), ("damping", 1.0 if damping is None else damping)):
        if not 0 < value < float("inf"):
            raise TaskError(f"{name} is {value!r}: give a number above zero")
    at = np.atleast_1d(np.asarray(times, dtype=float))
    rows = led(given_mechanism, path)
    if len(rows.loops) > len(given_mechanism.loops):
        raise TaskError("springs lead points and coordinates; of a body, lead three of its points")
    first = follow(given_mechanism, path, [at[0], at[0] + _SHORTLY], start=start, parameters=parameters)
    free = replace(given_mechanism, elements=(), unknowns=(), inputs=(), contacts=(), gravity=(ZERO, ZERO, ZERO))
    beginning = _Beginning(free, rows, first, parameters)
    chosen = float(damping or 2 * np.sqrt(stiffness * beginning.mass))
    pulled = replace(free, elements=_pulls(given_mechanism, rows, stiffness, chosen))
    initial = beginning.state(stiffness, chosen)
    run = simulate(
        pulled, float(at[-1] - at[0]), start=float(at[0]), grid=at, initial=initial, parameters=parameters,
        rtol=1e-11, method="bdf" if stiffness > 1e9 else "dop853", native=native, progress=False,
    )  # fmt: skip
    q, v = run.array(*run.positions), run.array(*run.velocities)
    none = np.zeros_like(v)
    a = called_rows(kernel_of(pulled, "qdd", parameters), {"q": q, "v": v, "tau": none, "t": at})["qdd"]
    names = [one.name.removeprefix("path ") for one in rows.constraints[len(given_mechanism.constraints) :]]
    misses = called_rows(kernel_of(rows, "constraints", parameters), {"q": q, "t": at})["constraints"]
    off = np.max(np.abs(misses[:, -len(names) :]), axis=0)
    return SpringMotion(
        given_mechanism.layout.positions,
        SampledMotion(at, q, v, a),
        dict(zip(names, off.tolist(), strict=True)),
        stiffness,
        chosen,
    )


def _pulls(mechanism: Mechanism, rows: Mechanism, stiffness: float, damping: float) -> tuple[Element, ...]:
    """A spring and a damper for every row of the path."""
    found: list[Element] = []
    for one in rows.constraints[len(mechanism.constraints) :]:
        found.append(Spring(f"spring of {one.name}", one.residual, Linear(expression(stiffness))))
        found.append(Damper(f"damper of {one.name}", one.residual, Linear(expression(damping))))
    return tuple(found)


class _Beginning:
    """Where to begin so that springs and dampers pull at once as the path wants: without that the motion rings."""

    def __init__(
        self, free: Mechanism, rows: Mechanism, first: PathMotion, parameters: Mapping[str, Scalar] | None
    ) -> None:
        motion = first.motion
        values: dict[str, Floats | float] = {"q": motion.q, "v": motion.v, "a": motion.a, "t": motion.times}
        found = called_rows(kernel_of(free, ["tau", "H"], parameters), values)
        jacobians = called_rows(kernel_of(rows, _JACOBIAN, parameters), values)[_JACOBIAN]
        self._motion, self._inverse = motion, np.linalg.pinv(jacobians)
        pulls = [np.linalg.lstsq(j.T, f, rcond=None)[0] for j, f in zip(jacobians, found["tau"], strict=True)]
        self._pull, self._growth = pulls[0], (pulls[1] - pulls[0]) / _SHORTLY
        self.mass = float(np.max(np.linalg.eigvalsh(self._inverse[0].T @ found["H"][0] @ self._inverse[0])))

    def state(self, stiffness: float, damping: float) -> Floats:
        """Positions and velocities that lag behind the path as they will."""
        lag = (self._pull - damping / stiffness * self._growth) / stiffness
        inverse, inverse_later = self._inverse
        slower = inverse @ self._growth + (inverse_later - inverse) @ self._pull / _SHORTLY
        q, v = self._motion.q[0], self._motion.v[0]
        return np.concatenate([q - inverse @ lag, v - slower / stiffness])
