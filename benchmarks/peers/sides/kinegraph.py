"""Kinegraph: kernels at default effort, and the way from its conventions to Pinocchio's (see states.py)."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.peers.robots import RobotCase
from benchmarks.peers.sides.peer import THREADS, Function, Loop, Peer, Sweep, driver, in_threads
from benchmarks.peers.states import Array, State, cross, tangent
from kinegraph.codegen.kernel import Kernel, addresses
from kinegraph.io.robot.findings import Robot

#: The words of Kinegraph for the quantities of the bench.
WORDS = {
    "d(tau)": ("d(tau)/d(dq)", "d(tau)/d(v)", "d(tau)/d(a)"),
    "d(qdd)": ("d(qdd)/d(dq)", "d(qdd)/d(v)", "d(qdd)/d(tau)"),
}

#: Fused multiply-adds and sines of more lanes round differently, and ill-conditioned robots magnify that.
BATCH_TOLERANCE = 1e-8


def load(case: RobotCase, path: Path) -> Robot:
    """The robot as Kinegraph reads it."""
    from kinegraph.io.options import UrdfOptions
    from kinegraph.io.urdf import load_urdf

    return load_urdf(path, options=UrdfOptions(base="floating" if case.floating else "fixed", mimic=False))


class Kinegraph(Peer):
    """Kernels of the process, compiled when first asked for."""

    name = "Kinegraph"

    def __init__(self, case: RobotCase, path: Path, joint_names: Sequence[str], effort: str = "quick") -> None:
        robot = load(case, path)
        self.mechanism = robot.mechanism
        self.effort = effort
        self._kernels: dict[str, Kernel] = {}
        #: Processor time of compiling each kernel, or of loading it from the cache.
        self.compile_seconds: dict[str, float] = {}
        base = 6 if case.floating else 0
        joints = [robot.joints[name] for name in self.mechanism.layout.positions[base + 1 if base else 0 :]]
        if sorted(joints) != sorted(joint_names):
            raise SystemExit(f"{case.name}: Kinegraph and Pinocchio disagree on the joints")
        index = {name: number for number, name in enumerate(joint_names)}
        #: Entry i of a Kinegraph vector is entry order[i] of a Pinocchio vector.
        self.order = np.concatenate([np.arange(base), [base + index[name] for name in joints]]).astype(int)
        self.position_order = self.order
        if base:
            self.position_order = np.concatenate([np.arange(7), self.order[6:] + 1])

    def kernel(self, quantity: str) -> Kernel:
        """The kernel of a quantity, compiled at the first call, with the time that took."""
        if quantity not in self._kernels:
            compiler = import_module("kinegraph.compiler.compile")
            effort = compiler.Effort(self.effort)
            start = time.process_time()
            self._kernels[quantity] = compiler.compile(self.mechanism, WORDS.get(quantity, quantity), effort=effort)
            self.compile_seconds[quantity] = time.process_time() - start
        return self._kernels[quantity]

    def offers(self, quantity: str) -> bool:
        return True

    def arguments(self, quantity: str, state: State) -> list[Array]:
        """What the kernel takes, in Kinegraph's conventions and order."""
        vectors = {
            "q": state.fixed_q[self.position_order],
            "v": state.fixed_v[self.order],
            "a": state.fixed_a[self.order],
            "tau": state.fixed_tau[self.order],
        }
        return [vectors[argument.name] for argument in self.kernel(quantity).arguments]

    def rows(self, quantity: str, states: Sequence[State]) -> Array:
        """The arguments of a quantity, a row for each state."""
        return np.array([np.concatenate(self.arguments(quantity, one)) for one in states])

    def function(self, quantity: str) -> Function:
        """The scalar code of a quantity."""
        kernel = self.kernel(quantity)
        return Function(kernel.address, kernel.output_size)

    def value(self, quantity: str, state: State) -> Array:
        flat = self.function(quantity)(self.rows(quantity, [state])[0])
        return _CONVERSIONS[quantity](self, state, flat).ravel()

    def loop(self, quantity: str, states: Sequence[State]) -> Loop:
        return self.function(quantity).loop(self.rows(quantity, states))

    def check_batch(self, quantity: str, states: Sequence[State]) -> None:
        """Batches must give what single calls give, which have been compared with the peers."""
        kernel, function = self.kernel(quantity), self.function(quantity)
        columns = zip(*(self.arguments(quantity, one) for one in states), strict=True)
        found = kernel.batch(*(np.array(column) for column in columns))
        parts = found.values() if isinstance(found, dict) else [found]
        together = np.concatenate([part.reshape(len(states), -1) for part in parts], axis=1)
        single = np.array([function(row) for row in self.rows(quantity, states)])
        scale = np.abs(single).max(axis=1, keepdims=True) + 1e-3
        if (error := float((np.abs(together - single) / scale).max())) > BATCH_TOLERANCE:
            raise SystemExit(f"{quantity}: the batch is {error:.1e} off single calls; nothing was timed")

    def public_sweep(self, quantity: str, states: Sequence[State]) -> Sweep:
        """`kernel.batch` as users call it; results go into the same arrays every time."""
        kernel = self.kernel(quantity)
        columns = zip(*(self.arguments(quantity, one) for one in states), strict=True)
        arrays = [np.array(column) for column in columns]
        out = kernel.batch(*arrays)
        return lambda times: [kernel.batch(*arrays, out=out) for _ in range(times)]

    def sweep(self, quantity: str, states: Sequence[State]) -> Sweep:
        """The batch code on both threads, results into arrays that exist already, as the peers do it."""
        kernel = self.kernel(quantity)
        address = kernel.batch_address
        columns = zip(*(self.arguments(quantity, one) for one in states), strict=True)
        inputs = [np.array(column) for column in columns]
        outputs = [np.zeros((len(states), output.size)) for output in kernel.outputs]
        strides = (ctypes.c_int64 * len(inputs))(*(array.shape[1] for array in inputs))
        shares = [(part[0], part[-1] + 1) for part in np.array_split(np.arange(len(states)), THREADS)]

        tables = addresses(inputs), strides, addresses(outputs)

        def share(first: int, last: int, times: int, alive: object = (kernel, inputs, outputs)) -> None:
            # The tables hold addresses only: `alive` keeps what they point to.
            driver().sweep_batch(address, first, last, *tables, times)

        return in_threads([partial(share, int(first), int(last)) for first, last in shares])

    def operations(self, quantity: str) -> int:
        counted = self.kernel(quantity).operations
        assert counted is not None  # but of loops over bodies, which are none here
        return int(counted.total)

    # conversion to Pinocchio's order and conventions

    def vector(self, flat: Array) -> Array:
        """A vector in the order of velocities that all sides share."""
        result = np.zeros(len(self.order))
        result[self.order] = flat
        return result

    def matrix(self, flat: Array) -> Array:
        """A matrix in the order of velocities that all sides share."""
        n = len(self.order)
        result = np.zeros((n, n))
        result[np.ix_(self.order, self.order)] = flat.reshape(n, n)
        return result

    def matrices(self, flat: Array) -> list[Array]:
        """The three derivatives, by displacements, v and the third argument."""
        return [self.matrix(part) for part in np.split(flat, 3)]


def _tau(side: Kinegraph, state: State, flat: Array) -> Array:
    return state.change @ side.vector(flat)


def _inertia(side: Kinegraph, state: State, flat: Array) -> Array:
    return state.change @ side.matrix(flat) @ state.change.T


def _accelerations(side: Kinegraph, state: State, flat: Array) -> Array:
    return state.change @ side.vector(flat) + state.change_rate @ state.fixed_v


def _coriolis(side: Kinegraph, state: State, flat: Array) -> Array:
    """C_p = X C_k X^T + X H_k dX^T/dt."""
    inertia = side.matrix(side.function("H")(side.rows("H", [state])[0]))
    return state.change @ (side.matrix(flat) @ state.change.T + inertia @ state.change_rate.T)


def _tau_derivatives(side: Kinegraph, state: State, flat: Array) -> Array:
    """tau_p = X tau_k(q, X^T v_p, X^T a_p + dX^T/dt v_p), differentiated along displacements of the base."""
    by_q, by_v, by_a = side.matrices(flat)
    change = state.change
    tau = state.change @ side.vector(side.function("tau")(side.rows("tau", [state])[0]))
    by_q = by_q @ tangent(state)
    turned_q, turned_v = np.zeros_like(by_v), np.zeros_like(by_v)
    if state.floating:
        turn, linear, angular = state.turn, state.v[:3], state.v[3:6]
        acceleration = state.a[:3] + np.cross(angular, linear)
        by_q += by_v @ _block(len(tau), 3, -turn @ cross(linear))
        by_q += by_a @ _block(len(tau), 3, -turn @ cross(acceleration))
        turned_q = _block(len(tau), 3, cross(tau[:3]))
        turned_v = by_a @ (_block(len(tau), 0, turn @ cross(angular)) - _block(len(tau), 3, turn @ cross(linear)))
    return np.array([change @ by_q + turned_q, change @ (by_v @ change.T + turned_v), change @ by_a @ change.T])


def _acceleration_derivatives(side: Kinegraph, state: State, flat: Array) -> Array:
    """a_p = X qdd_k(q, X^T v_p, X^T tau_p) + dX/dt v_k, differentiated along displacements of the base."""
    by_q, by_v, by_tau = side.matrices(flat)
    change, n = state.change, len(state.v)
    by_q = by_q @ tangent(state)
    turned_q, turned_v = np.zeros((n, n)), np.zeros((n, n))
    if state.floating:
        turn, linear, angular = state.turn, state.v[:3], state.v[3:6]
        acceleration = change @ side.vector(side.function("qdd")(side.rows("qdd", [state])[0]))
        by_q += by_v @ _block(n, 3, -turn @ cross(linear))
        by_q += by_tau @ _block(n, 3, -turn @ cross(state.tau[:3]))
        turned_q = _block(n, 3, cross(acceleration[:3]))
        turned_v = _block(n, 3, cross(linear)) - _block(n, 0, cross(angular))
    parts = change @ by_q + turned_q, change @ by_v @ change.T + turned_v, change @ by_tau @ change.T
    return np.array(parts)


def _block(size: int, column: int, block: Array) -> Array:
    """A matrix that is zero but for a block in the first three rows."""
    matrix = np.zeros((size, size))
    matrix[:3, column : column + 3] = block
    return matrix


_CONVERSIONS = {
    "tau": _tau,
    "H": _inertia,
    "qdd": _accelerations,
    "coriolis": _coriolis,
    "d(tau)": _tau_derivatives,
    "d(qdd)": _acceleration_derivatives,
}
