"""Nothing is timed before its numbers agree with every peer's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.peers.sides.peer import Peer
from benchmarks.peers.states import Array, State

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Agreement:
    """The largest difference between two sides, relative to the largest entry of the result."""

    quantity: str
    peer: str
    error: float
    note: str = ""

    @property
    def good(self) -> bool:
        """Whether two programs differ by rounding alone."""
        return self.error <= TOLERANCE


def difference(ours: Array, theirs: Array) -> float:
    """The largest difference relative to the largest entry."""
    scale = max(float(np.abs(theirs).max()), 1e-3)
    return float(np.abs(ours - theirs).max()) / scale


def compare(quantity: str, ours: Peer, theirs: Peer, states: Sequence[State], judge: Peer | None = None) -> Agreement:
    """Both sides on the same states. `judge` computes forces where accelerations are ill-conditioned."""
    pairs = [(ours.value(quantity, one), theirs.value(quantity, one), one) for one in states]
    error = max(difference(a, b) for a, b, _ in pairs)
    if error <= TOLERANCE or quantity not in ("coriolis", "qdd", "d(qdd)"):
        return Agreement(quantity, theirs.name, error)
    if quantity != "coriolis":
        return _judged(quantity, pairs, theirs, judge or theirs)
    # Coriolis matrices are not unique; what they must agree on is C v.
    error = max(difference(_times_v(a, one), _times_v(b, one)) for a, b, one in pairs)
    return Agreement(quantity, theirs.name, error, "C v compared: the matrix is not unique")


def _judged(
    quantity: str, pairs: Sequence[tuple[Array, Array, State]], theirs: Peer, judge: Peer
) -> Agreement:  # fmt: skip
    """Joints that move almost no mass magnify rounding; then our accelerations must give back the forces.

    The peer's own error is told beside ours.
    """
    error = _backward_error if quantity == "qdd" else _slopes_backward_error
    own = max(error(judge, a, one) for a, _, one in pairs)
    peer = max(error(judge, b, one) for _, b, one in pairs)
    note = f"ill-conditioned: forces given back to {own:.0e} by Kinegraph, to {peer:.0e} by {theirs.name}"
    return Agreement(quantity, theirs.name, own, note)


def _backward_error(judge: Peer, acceleration: Array, state: State) -> float:
    """|tau(q, v, a) - tau| relative to |H| |a| + |tau|."""
    n = len(acceleration)
    inertia = judge.value("H", state).reshape(n, n)
    residual = judge.value("tau", replace(state, a=acceleration)) - state.tau
    scale = np.abs(inertia) @ np.abs(acceleration) + np.abs(state.tau).max()
    return float((np.abs(residual) / scale).max())


def _slopes_backward_error(judge: Peer, slopes: Array, state: State) -> float:
    """|H d(qdd) + d(tau)| at a = qdd, relative to |H| |d(qdd)| + |d(tau)|, for all three derivatives."""
    n = len(state.v)
    inertia = judge.value("H", state).reshape(n, n)
    at_motion = replace(state, a=judge.value("qdd", state))
    forces = judge.value("d(tau)", at_motion).reshape(3, n, n)
    forces[2] = -np.eye(n)
    found = slopes.reshape(3, n, n)
    scale = np.abs(inertia) @ np.abs(found) + np.abs(forces).max(axis=(1, 2), keepdims=True)
    return float((np.abs(inertia @ found + forces) / scale).max())


def _times_v(matrix: Array, state: State) -> Array:
    n = len(state.v)
    return np.asarray(matrix.reshape(n, n) @ state.v)
