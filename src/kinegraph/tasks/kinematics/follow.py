"""`follow`: the motion that leads points, coordinates or bodies along a path, exact to the second derivative.

The path is a set of constraints Phi(q, t) = 0. Positions follow by Newton's method from one time to the next, so that
the mechanism stays on its branch; velocities and accelerations solve the differentiated constraints,

    J v = -Phi_t,        J a = -(J v + Phi_t)_q v - (J v + Phi_t)_t.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.jit.kernel import Kernel
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.forces.motion_law import SampledMotion
from kinegraph.tasks.kernels import called, kernel_of
from kinegraph.tasks.kinematics.path import led
from kinegraph.tasks.kinematics.path_start import begin
from kinegraph.tasks.operating_point import Floats

_VALUES, _JACOBIAN, _RATES = "constraints", "constraint_jacobian", "constraint_rates"
_BY_POSITION, _BY_TIME = f"d({_RATES})/d(all:dq)", f"d({_RATES})/d(t)"
_CLOSED = 1e-13
_NEWTON_STEPS = 12
#: By how much positions may differ from what velocities and accelerations foretell.
_SURPRISE = 0.1
_SHORTEST = 2.0**-16
#: The path is nearly singular where singular values of the Jacobian are this far apart.
NEAR_SINGULAR = 1e-3


@dataclass(frozen=True)
class PathMotion(RichDisplay):
    """The motion along a path. conditioning: the smallest by the largest singular value of the Jacobian at each time.

    near_singular: times at which that is small; crossings: pairs of times between which a singular position is passed.
    """

    coordinates: tuple[str, ...]
    motion: SampledMotion
    conditioning: Floats
    near_singular: Floats
    crossings: tuple[tuple[float, float], ...]

    def __getitem__(self, name: str) -> Floats:
        """A coordinate over time; `q1'` its velocity, `q1''` its acceleration."""
        coordinate = name.rstrip("'")
        order = len(name) - len(coordinate)
        if coordinate not in self.coordinates or order > 2:
            raise TaskError(f"the motion has no {name!r}; there are {', '.join(self.coordinates)}, with ' and ''")
        rows = (self.motion.q, self.motion.v, self.motion.a)[order]
        return np.asarray(rows[:, self.coordinates.index(coordinate)])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in {c + d for c in self.coordinates for d in ("", "'", "''")}

    def __str__(self) -> str:
        times, worst = self.motion.times, int(np.argmin(self.conditioning))
        lines = [f"{len(times)} times from {times[0]:.6g} to {times[-1]:.6g} s"]
        for name in self.coordinates:
            lines.append(f"  {name} from {self[name].min():.6g} to {self[name].max():.6g}")
        lines.append(f"  nearest to a singular position at t = {times[worst]:.6g} ({self.conditioning[worst]:.2g})")
        lines += [f"  passes a singular position between t = {a:.6g} and {b:.6g}" for a, b in self.crossings]
        return "\n".join(lines)


def follow(
    mechanism: MechanismSource,
    path: Mapping[str, Scalar],
    times: Sequence[float] | Floats,
    *,
    start: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
) -> PathMotion:
    """Positions, velocities and accelerations along a path, on trees and loops.

    path: `{"tip.x": "0.4*cos(t)", "q4": "0"}` for points and coordinates, `{"L6": "Sx(0.4), Rz(t)"}` for a body's pose.
        It must leave nothing free: lock other coordinates, or lead them too.
    start: near which position to begin, in place of the model's: it chooses among several ways to follow.
    """
    given_mechanism = mechanism_of(mechanism)
    mechanism = led(given_mechanism, path)
    at = np.atleast_1d(np.asarray(times, dtype=float))
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all() or np.any(np.diff(at) <= 0):
        raise TaskError("times of a path must be finite numbers that increase")
    begun = begin(given_mechanism, mechanism, start or {}, float(at[0]), parameters)
    return _Follower(mechanism, parameters).along(at, begun)


class _Follower:
    """The constraints of a path as machine code."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> None:
        timed = [_BY_TIME] if depends_on_time(mechanism) else []
        self.mechanism = mechanism
        self.places: Kernel = kernel_of(mechanism, [_VALUES, _JACOBIAN], parameters)
        self.slopes: Kernel = kernel_of(mechanism, [_JACOBIAN, _RATES, _BY_POSITION, *timed], parameters)
        self.none = np.zeros(len(mechanism.layout.inputs))

    def along(self, times: Floats, q: Floats) -> PathMotion:
        """All times, one after the other."""
        rows, sizes, signs = [], [], []
        state = self._rates(self._newton(q, times[0]), times[0])
        for place, time in enumerate(times):
            if place:
                state = self._next(state, float(times[place - 1]), float(time), 1.0)
            rows.append(state)
            jacobian = self._jacobian(state[0], time)
            values = np.linalg.svd(jacobian, compute_uv=False)
            sizes.append(values[min(jacobian.shape) - 1] / max(values[0], 1e-300))
            square = jacobian.shape[0] == jacobian.shape[1]
            signs.append(np.linalg.slogdet(jacobian)[0] if square else 1.0)
        q, v, a = (np.array(part) for part in zip(*rows, strict=True))
        conditioning = np.array(sizes)
        crossed = np.flatnonzero(np.diff(signs) != 0)
        return PathMotion(
            self.mechanism.layout.positions,
            SampledMotion(times, q, v, a),
            conditioning,
            times[conditioning < NEAR_SINGULAR],
            tuple((float(times[k]), float(times[k + 1])) for k in crossed),
        )

    def _next(self, state: tuple[Floats, Floats, Floats], before: float, time: float, part: float) -> _State:
        """The state at the next time; in two halves where the way is not clear."""
        q, v, a = state
        step = time - before
        foretold = q + v * step + a * (step * step / 2)
        try:
            found = self._newton(foretold, time)
            if np.max(np.abs(found - foretold), initial=0.0) < _SURPRISE:
                return self._rates(found, time)
        except TaskError:
            if part < _SHORTEST:
                raise
        if part < _SHORTEST:
            raise TaskError(f"at t = {time:.6g} the path runs into a singular position, where ways to follow it meet")
        middle = before + step / 2
        return self._next(self._next(state, before, middle, part / 2), middle, time, part / 2)

    def _newton(self, q: Floats, time: float) -> Floats:
        """The position on the path near another one."""
        for _ in range(_NEWTON_STEPS):
            found = called(self.places, {"q": q, "t": time, "u": self.none})
            miss = found[_VALUES]
            if not np.isfinite(miss).all():
                break
            size = float(np.max(np.abs(miss), initial=0.0))
            step = np.linalg.lstsq(found[_JACOBIAN], -miss, rcond=1e-12)[0]
            q = q + step
            if size < _CLOSED or (size < 1e-9 and np.max(np.abs(step), initial=0.0) < 1e-14):
                return q
        residual = float(np.max(np.abs(called(self.places, {"q": q, "t": time, "u": self.none})[_VALUES])))
        if residual < 1e-10:
            return q
        raise TaskError(f"at t = {time:.6g} the path cannot be followed: it stays out of reach by {residual:.3g}")

    def _rates(self, q: Floats, time: float) -> _State:
        values: dict[str, Floats | float] = {"q": q, "t": time, "u": self.none, "v": np.zeros(len(self._velocities))}
        found = called(self.slopes, values)
        v = self._solved(found[_JACOBIAN], -found[_RATES], time)
        found = called(self.slopes, values | {"v": v})
        bias = found[_BY_POSITION] @ v + found.get(_BY_TIME, 0.0)
        return q, v, self._solved(found[_JACOBIAN], -bias, time)

    def _jacobian(self, q: Floats, time: float) -> Floats:
        return np.asarray(called(self.places, {"q": q, "t": time, "u": self.none})[_JACOBIAN])

    @property
    def _velocities(self) -> tuple[str, ...]:
        return self.mechanism.layout.velocities

    def _solved(self, jacobian: Floats, right: Floats, time: float) -> Floats:
        found, _, rank, _ = np.linalg.lstsq(jacobian, right, rcond=1e-11)
        if rank < jacobian.shape[1]:
            free = jacobian.shape[1] - int(rank)
            names = ", ".join(self.mechanism.layout.positions)
            why = (
                "the position is singular, or the path leaves" if len(right) >= jacobian.shape[1] else "the path leaves"
            )
            raise TaskError(f"at t = {time:.6g} {why} {free} of {names} free: lock coordinates, or lead more of them")
        missing = float(np.max(np.abs(jacobian @ found - right), initial=0.0))
        if missing > 1e-8 * (1 + float(np.max(np.abs(right), initial=0.0))):
            raise TaskError(f"at t = {time:.6g} the mechanism cannot move along the path: {missing:.3g} are missing")
        return np.asarray(found, dtype=float)


_State = tuple[Floats, Floats, Floats]
