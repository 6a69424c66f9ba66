"""Forward and inverse dynamics of a Gough-Stewart platform beside Pinocchio C++ and MuJoCo, in one run.

    python -m benchmarks platforms [--counts]

Six massive legs UPS with Tsai's numbers and axial inertia (1/800). Pinocchio computes by `lcaba` and by
`constraintDynamics`, with the platform free or carried by a leg, compiled with clang where there is one; MuJoCo by
`mj_forward`, which softens the loops. All sides are timed by the processor time of their thread, in short turns. Only
ratios mean something on a busy machine.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.sides.build import Unavailable
from benchmarks.peers.sides.peer import driver
from benchmarks.peers.sides.platform_sides import Hexapod, PlatformState, Side, mujoco_side, pinocchio_sides
from kinegraph import library
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler import stored
from kinegraph.compiler.compile import compile
from kinegraph.compiler.request import Request, request_of
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.states import force_on
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.solve.problem import Floats

_STATES = 16
_ROUNDS = 100
#: So few that all of them stay in the cache of a core.
_BATCH = 128
#: Operations of the six equations with H_k of 3 x 6 for each leg written out plainly, by a prototype.
_UNREDUCED = 1545 + 1070
_QUANTITIES = {
    "all accelerations": "qdd",
    "platform's accelerations alone": "platform_acceleration",
    "efforts of the drives (inverse)": "tau",
}


@dataclass(frozen=True)
class Own:
    """One of our kernels: nanoseconds of a call, and of a state in a batch on one thread."""

    call: Callable[[], float]
    batch: Callable[[], float]


def main(counts: bool = False) -> None:
    """Measure and print a table."""
    mechanism = hexapod_mechanism()
    states = platform_states(mechanism)
    own = {title: _own(mechanism, word, states) for title, word in _QUANTITIES.items()}
    peers = _peers(states)
    times = _measured(own, peers)
    print(f"Gough-Stewart platform, six massive legs UPS, ns; {cpu_model()}")
    for title in own:
        call, batch = times[title], times[f"{title}, batched"]
        print(f"  {title:<34} {call:>8.0f} a call {batch:>8.0f} a state in batches ({batch / call:.2f} of a call)")
    wanted = _platform_accelerations(mechanism, states)
    for name, side in peers.items():
        miss = "" if "leg" in name else f"differs by {_difference(side, wanted):.1e}"
        print(f"  {name:<48} {times[name]:>8.0f} a call  {miss}")
    if peers:
        fastest = min(peers, key=lambda name: times[name])
        for title in list(own)[:2]:
            print(f"  {title}: {times[fastest] / times[title]:.1f} times as fast as {fastest}")
    _print_counts(mechanism, counts)


def hexapod_mechanism() -> Mechanism:
    """Tsai's platform with axial inertia in both parts of every leg."""
    text = library.text("stewart").replace("Jy(0.00625) |", "Jy(0.00625), Jz(1/1600) |")
    return parse(text, "stewart-spin.kg")


def _numbers() -> Hexapod:
    base = [[-2.12, 1.374, 0], [-2.38, 1.224, 0], [-2.38, -1.224, 0], [-2.12, -1.374, 0], [0, -0.15, 0], [0, 0.15, 0]]
    platform = [[0.17, 0.595], [-0.6, 0.15], [-0.6, -0.15], [0.17, -0.595], [0.43, -0.445], [0.43, 0.445]]
    thin = 0.00625, 0.00625, 1 / 1600
    points = np.array([[*point, -0.4] for point in platform])
    return Hexapod(np.array(base), points, (0.1, 0.5, *thin), (0.1, -0.5, *thin), (1.5, 0.0, 0.08, 0.08, 0.08), 9.80665)


def platform_states(mechanism: Mechanism) -> list[PlatformState]:
    """States of the platform around its start, with legs that reach it."""
    random = np.random.default_rng(1)
    positions, velocities = compile(mechanism, "leg_positions"), compile(mechanism, "leg_velocities")
    found = []
    for _ in range(_STATES):
        place = np.array([-1.5, 0, 1]) + random.normal(scale=0.05, size=3)
        e = np.array([1, *random.normal(scale=0.1, size=3)])
        e /= np.linalg.norm(e)
        v, w = random.normal(size=3), random.normal(size=3)
        q = _in_order(len(mechanism.layout.positions), [*place, *e])
        rates = _in_order(len(mechanism.layout.velocities), [*v, *w])
        legs, speeds = np.asarray(positions(q)), np.asarray(velocities(q, rates))
        found.append(
            PlatformState(place, e, _rotation(e), v, w, _by_leg(legs), _by_leg(speeds), random.normal(scale=10, size=6))
        )
    return found


def _in_order(size: int, platform: list[float]) -> Floats:
    found = np.zeros(size)
    found[6 : 6 + len(platform)] = platform
    return found


def _by_leg(values: Floats) -> Floats:
    """alpha, beta and length of every leg; ours has all lengths first."""
    return np.column_stack([values[6:].reshape(6, 2), values[:6]])


def _rotation(e: Floats) -> Floats:
    w, v = e[0], e[1:]
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.array(np.eye(3) + 2 * w * skew + 2 * skew @ skew)


def _row(one: PlatformState, word: str) -> tuple[Floats, Floats, Floats]:
    def legs(values: Floats, platform: list[float]) -> Floats:
        return np.array([*values[:, 2], *platform, *values[:, :2].ravel()])

    q = legs(one.legs, [*one.position, *one.quaternion])
    v = legs(one.rates, [*one.velocity, *one.spin])
    third = np.zeros(len(v))
    third[:6] = one.efforts
    if word == "tau":
        third = _in_order(len(v), [0.3, -0.2, 0.5, 1.0, -2.0, 0.4])
    return q, v, third


def _own(mechanism: Mechanism, word: str, states: list[PlatformState]) -> Own:
    kernel = compile(mechanism, word)
    return Own(_call_timer(kernel, [_row(one, word) for one in states]), _batch_timer(kernel, word, states))


def _call_timer(kernel: Kernel, rows: list[tuple[Floats, Floats, Floats]]) -> Callable[[], float]:
    flat = np.array([np.concatenate(row) for row in rows])
    result = np.zeros(flat.shape[1])
    calls = 4000

    def timed() -> float:
        sizes = flat.shape[1], len(flat) - 1, calls, 1
        return 1e9 * float(driver().drive(kernel.address, flat.ctypes.data, result.ctypes.data, *sizes)) / calls

    return timed


def _batch_timer(kernel: Kernel, word: str, states: list[PlatformState]) -> Callable[[], float]:
    """The batch code itself, results into arrays that exist already."""
    columns = zip(*(_row(states[k % _STATES], word) for k in range(_BATCH)), strict=True)
    inputs = [np.array(column) for column in columns]
    outputs = [np.zeros((_BATCH, output.size)) for output in kernel.outputs]
    strides = (ctypes.c_int64 * len(inputs))(*(array.shape[1] for array in inputs))
    tables = [(ctypes.c_void_p * len(some))(*(one.ctypes.data for one in some)) for some in (inputs, outputs)]
    times = 64

    def timed(alive: object = (kernel, inputs, outputs)) -> float:
        begun = time.thread_time()
        driver().sweep_batch(kernel.batch_address, 0, _BATCH, tables[0], strides, tables[1], times)
        return 1e9 * (time.thread_time() - begun) / (times * _BATCH)

    return timed


def _peers(states: list[PlatformState]) -> dict[str, Side]:
    found: dict[str, Side] = {}
    try:
        found |= pinocchio_sides(_numbers(), states)
        found["MuJoCo mj_forward"] = mujoco_side(_numbers(), states)
    except (Unavailable, ImportError) as error:
        print(f"missing: {error}")
    return found


def _measured(own: dict[str, Own], peers: dict[str, Side]) -> dict[str, float]:
    """The shortest time of each, in turns, so that other load on the machine affects all equally."""
    timers: dict[str, Callable[[], float]] = {}
    for title, one in own.items():
        timers |= {title: one.call, f"{title}, batched": one.batch}
    for name, side in peers.items():
        timers[name] = lambda side=side: side.nanoseconds(100)  # type: ignore[misc]
    least = dict.fromkeys(timers, float("inf"))
    for _ in range(_ROUNDS):
        least = {name: min(least[name], timer()) for name, timer in timers.items()}
    return least


def _platform_accelerations(mechanism: Mechanism, states: list[PlatformState]) -> Floats:
    kernel = compile(mechanism, "platform_acceleration")
    return np.array([np.asarray(kernel(*_row(one, "platform_acceleration"))) for one in states])


def _difference(side: Side, wanted: Floats) -> float:
    found = np.array([side.platform(k) for k in range(len(wanted))])
    return float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))


def _print_counts(mechanism: Mechanism, counts: bool) -> None:
    """Operations of the platform's and of all accelerations; with `counts` by the normal effort too (minutes)."""
    for effort in (Effort.QUICK, Effort.NORMAL) if counts else (Effort.QUICK,):
        for title, word in list(_QUANTITIES.items())[:2]:
            request = request_of(mechanism, word, numeric=True, effort=effort)
            _print_count(f"{title}, forces on all coordinates, effort {effort.value}", stored.reduced(request).graph)
            _print_count(f"{title}, drives alone, effort {effort.value}", _driven(mechanism, request, effort))
    print(f"  {_UNREDUCED}: the platform's accelerations by H_k of 3 x 6 written out plainly, 1545 mul and 1070 add")


def _print_count(title: str, graph: Graph) -> None:
    found = count(graph)
    print(f"  operations of {title}: {found}; {(found.mul + found.add) / _UNREDUCED:.0%} of {_UNREDUCED}")


def _driven(mechanism: Mechanism, request: Request, effort: Effort) -> Graph:
    """The same without forces but those of the drives."""
    drives = {force_on(name) for name in mechanism.layout.velocities[:6]}
    builder = GraphBuilder()

    def symbol(one: Symbol) -> int:
        gone = one.kind is Kind.INPUT and one.name not in drives
        return builder.zero if gone else builder.symbol(one.kind, one.name)

    graph = stored.derived(request).graph
    return reduce(builder.graph(moved(graph.outputs, transfer(graph, builder, symbol))), effort).graph


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", action="store_true", help="operations after the normal effort, too (a minute)")
    main(parser.parse_args().counts)
