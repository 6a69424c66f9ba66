"""Random states, kept in Pinocchio's conventions, and what turns them and results into Kinegraph's.

A floating base has in Pinocchio q = (position, quaternion x y z w), v = (linear, angular) both in the turned axes. In
Kinegraph q = (position, quaternion scalar first) and the linear velocity is along the fixed axes: v_p = X v_k with
X = diag(R^T, 1), a_p = X a_k + dX/dt v_k, tau_k = X^T tau_p. MuJoCo's conventions are Kinegraph's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """One state: q, v, a and independent forces tau."""

    q: Array
    v: Array
    a: Array
    tau: Array
    floating: bool

    @property
    def turn(self) -> Array:
        """R of the base: from the turned axes to the fixed ones."""
        return rotation(self.q[3:7])

    @property
    def change(self) -> Array:
        """X of v_p = X v_k."""
        matrix = np.eye(len(self.v))
        if self.floating:
            matrix[:3, :3] = self.turn.T
        return matrix

    @property
    def change_rate(self) -> Array:
        """dX/dt: minus the angular velocity crossed with R^T."""
        matrix = np.zeros((len(self.v), len(self.v)))
        if self.floating:
            matrix[:3, :3] = -cross(self.v[3:6]) @ self.turn.T
        return matrix

    # in Kinegraph's conventions

    @property
    def fixed_q(self) -> Array:
        """Positions with the quaternion's scalar part first."""
        return np.concatenate([self.q[:3], self.q[6:7], self.q[3:6], self.q[7:]]) if self.floating else self.q

    @property
    def fixed_v(self) -> Array:
        """The velocities with those of the base in fixed axes."""
        return self.change.T @ self.v

    @property
    def fixed_a(self) -> Array:
        """The accelerations with those of the base in fixed axes."""
        return self.change.T @ (self.a - self.change_rate @ self.fixed_v)

    @property
    def fixed_tau(self) -> Array:
        """The forces that belong to the velocities in fixed axes."""
        return self.change.T @ self.tau


def random_states(positions: int, velocities: int, floating: bool, number: int, seed: int = 1) -> list[State]:
    """States with angles all around and a random attitude."""
    random = np.random.default_rng(seed)
    states = []
    for _ in range(number):
        q = random.uniform(-np.pi, np.pi, positions)
        if floating:
            q[3:7] = random.normal(size=4)
            q[3:7] /= np.linalg.norm(q[3:7])
        v, a, tau = (random.uniform(-2, 2, velocities) for _ in range(3))
        states.append(State(q, v, a, 10 * tau, floating))
    return states


def rotation(xyzw: Array) -> Array:
    """The rotation matrix of a unit quaternion."""
    x, y, z, w = xyzw
    skew = cross(np.array([x, y, z]))
    return np.asarray(np.eye(3) + 2 * w * skew + 2 * skew @ skew)


def cross(vector: Array) -> Array:
    """The matrix of a cross product."""
    x, y, z = vector
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def tangent(state: State) -> Array:
    """Kinegraph's displacements along Pinocchio's, which moves the base in its own axes."""
    matrix = np.eye(len(state.v))
    if state.floating:
        matrix[:3, :3] = state.turn
    return matrix
