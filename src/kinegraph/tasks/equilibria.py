"""`equilibria`: all positions of rest that are found from many starts, each with its stability.

Newton's method on the equations of rest (`balance.py`), with exact Jacobians, all starts at once in one batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.angles import repeats, same_place, wrapped
from kinegraph.tasks.balance import Balance, balance
from kinegraph.tasks.linear.linearise import linearised_at
from kinegraph.tasks.operating_point import Floats, OperatingPoint, operating_point
from kinegraph.tasks.search_box import search_box

_STEPS = 60
_LARGEST_STEP = 0.5


@dataclass(frozen=True)
class Equilibrium:
    """One position of rest; `unstable` counts eigenvalues with a positive real part."""

    q: Floats
    eigenvalues: np.ndarray

    @property
    def unstable(self) -> int:
        scale = max(1.0, float(np.max(np.abs(self.eigenvalues), initial=0.0)))
        return int(np.sum(self.eigenvalues.real > 1e-7 * scale))

    @property
    def stable(self) -> bool:
        """True if no eigenvalue has a positive real part (in the linear sense)."""
        return self.unstable == 0


@dataclass(frozen=True)
class Equilibria(RichDisplay):
    """All that were found, in the order of q; `starts` says from how many places Newton set out."""

    equilibria: tuple[Equilibrium, ...]
    coordinates: tuple[str, ...]
    starts: int

    def __len__(self) -> int:
        return len(self.equilibria)

    def __getitem__(self, index: int) -> Equilibrium:
        return self.equilibria[index]

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.equilibria)


def equilibria(
    mechanism: MechanismSource,
    at: Mapping[str, Scalar] | None = None,
    *,
    within: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 400,
    seed: int = 0,
    parameters: Mapping[str, Scalar] | None = None,
) -> Equilibria:
    """Positions of rest under the given forces (`at`: tau:q1=..., inputs).

    within: where to look, by coordinate; by default one turn for angles and -1..1 for lengths.
    """
    mechanism = mechanism_of(mechanism)
    layout = mechanism.layout
    if layout.quaternions:
        raise TaskError("equilibria of free rotations are not isolated: write rotations with Rx, Ry, Rz here")
    point = operating_point(mechanism, at, parameters)
    box = search_box(mechanism, within or {}, 1.0)
    equations = balance(mechanism, point, parameters)
    random = np.random.default_rng(seed)
    first = random.uniform(box[:, 0], box[:, 1], (starts, len(box)))
    found = _newton(equations, np.vstack([point.q, np.zeros(len(box)), first]))
    distinct = _distinct(mechanism, found, within or {})
    if not distinct:
        raise TaskError(
            f"{mechanism.name}: no equilibrium was found from {starts} starts; widen `within`, or add starts"
        )
    described = [_described(mechanism, point.at(q), parameters) for q in distinct]
    return Equilibria(tuple(described), layout.positions, starts)


def _newton(equations: Balance, q: Floats) -> Floats:
    """Where Newton's method arrives, row by row; rows that do not arrive are left out."""
    unknowns = equations.started(q)
    alive = np.all(np.isfinite(unknowns), axis=1)
    for _ in range(_STEPS):
        residual, slope = equations.missing(unknowns)
        alive &= np.all(np.isfinite(residual), axis=1) & np.all(np.isfinite(slope), axis=(1, 2))
        step = _steps(residual[alive], slope[alive])
        largest = np.max(np.abs(step[:, : equations.positions]), axis=1, initial=0.0, keepdims=True)
        unknowns[alive] -= step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))
        if not alive.any() or float(np.max(largest, initial=0.0)) < 1e-14:
            break
    residual, slope = equations.missing(unknowns)
    scale = np.maximum(np.max(np.abs(slope), axis=(1, 2), initial=0.0), 1e-300)
    arrived = alive & (np.max(np.abs(residual), axis=1, initial=0.0) <= 1e-10 * scale)
    return np.asarray(unknowns[arrived, : equations.positions])


def _steps(residual: Floats, slope: Floats) -> Floats:
    steps = [np.linalg.lstsq(s, r, rcond=1e-13)[0] for s, r in zip(slope, residual, strict=True)]
    return np.reshape(np.array(steps, dtype=np.float64), residual.shape)


def _distinct(mechanism: Mechanism, q: Floats, within: Mapping[str, tuple[float, float]]) -> list[Floats]:
    """Each equilibrium once. An angle is the same after a turn unless an element holds it or the user limits it."""
    names = mechanism.layout.positions
    turns = [index for index, name in enumerate(names) if name not in within and repeats(mechanism, name)]
    found: list[Floats] = []
    for row in wrapped(q, turns):
        if not any(same_place(row, other, turns) for other in found):
            found.append(row)
    return sorted(found, key=lambda row: np.round(row, 9).tolist())


def _described(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> Equilibrium:
    still = OperatingPoint(point.q, np.zeros_like(point.v), point.tau, point.u, point.t)
    linear = linearised_at(mechanism, still, parameters=parameters)
    return Equilibrium(point.q, linear.eigenvalues)
