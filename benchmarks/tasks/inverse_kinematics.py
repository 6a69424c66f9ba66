"""All solutions of inverse kinematics beside EAIK, in one run: time per pose, solutions found, largest error.

    python -m benchmarks ik [--poses 1000] [--json]

Random poses that can be reached. Ours: the closed form compiled as a batch kernel, with and without the certificate by
forward kinematics; EAIK: its Python calls for one pose and for batches. All on one core. Only ratios mean something.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from kinegraph import library
from kinegraph.extras import extra
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.pose_solver import PoseSolver

ARMS = {"puma560": "L6", "ur5": "Wrist3"}
_ROUNDS = 15


@dataclass(frozen=True)
class Figures:
    """Microseconds a pose; solutions in all; the largest error of ours; whether EAIK finds the same solutions."""

    arm: str
    closed_form: str
    poses: int
    solutions: int
    error: float
    ours: float
    kernel: float
    eaik_single: float
    eaik_batch: float
    eaik_solutions: int
    missing_in_ours: int


def measure(name: str, body: str, count: int) -> Figures:
    """One arm."""
    mechanism = library.mechanism(name)
    solver = PoseSolver(mechanism, body, points=False)
    q = np.random.default_rng(1).uniform(-np.pi, np.pi, (count, solver.size))
    poses = solver.forward.batch(q)[f"pose:{body}"]
    found = solver.batch(poses)
    peer = _peer(solver)
    at_home = [pose @ np.linalg.inv(solver.arm.home) for pose in poses]
    ours, kernel, single, batch = (
        1e6 * seconds / count
        for seconds in best(
            [
                lambda: solver.batch(poses),
                lambda: solver.candidates(poses),
                lambda: [peer.IK(pose) for pose in at_home],
                lambda: peer.IK_batched(at_home, 1),
            ]
        )
    )
    theirs = [np.atleast_2d(one.Q)[~np.atleast_1d(one.is_LS)] for one in (peer.IK(pose) for pose in at_home)]
    return Figures(
        arm=name,
        closed_form=solver.name,
        poses=count,
        solutions=int(found.counts.sum()),
        error=float(found.errors[found.reached].max()),
        ours=ours,
        kernel=kernel,
        eaik_single=single,
        eaik_batch=batch,
        eaik_solutions=sum(len(rows) for rows in theirs),
        missing_in_ours=_missing(found.q, found.reached, theirs),
    )


def best(works: list[Callable[[], object]]) -> list[float]:
    """The shortest times, taking turns."""
    shortest = [float("inf")] * len(works)
    for _ in range(_ROUNDS):
        for place, work in enumerate(works):
            begun = time.perf_counter()
            work()
            shortest[place] = min(shortest[place], time.perf_counter() - begun)
    return shortest


def _peer(solver: PoseSolver):  # type: ignore[no-untyped-def]
    """The same arm in EAIK: axes and the shifts between their points. Poses are relative to that at q = 0."""
    robot = extra("eaik.IK_HP", "the comparison with EAIK").HPRobot
    joints = solver.arm.joints
    points = [np.zeros(3), *(joint.point for joint in joints), np.zeros(3)]
    shifts = np.diff(points, axis=0)
    return robot(np.array([joint.direction for joint in joints]), shifts)


def _missing(q: Floats, reached: np.ndarray, theirs: list[Floats]) -> int:
    """How many of the peer's solutions are not among ours."""
    missing = 0
    for rows, ok, others in zip(q, reached, theirs, strict=True):
        for other in others:
            apart = np.abs((rows[ok] - other + np.pi) % (2 * np.pi) - np.pi).max(axis=1, initial=0.0)
            missing += not (apart < 1e-6).any()
    return missing


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ik", description=__doc__)
    parser.add_argument("--poses", type=int, default=1000, help="how many random poses")
    parser.add_argument("--json", action="store_true", help="print machine-readable JSON and nothing else")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core for both sides
    rows = [measure(name, body, options.poses) for name, body in ARMS.items()]
    if options.json:
        print(json.dumps({"processor": cpu_model(), "arms": [asdict(row) for row in rows]}))
        return
    print(f"{cpu_model()}, microseconds a pose, {options.poses} random poses")
    for row in rows:
        print(
            f"{row.arm} ({row.closed_form}): {row.solutions} solutions, errors up to {row.error:.1e}; EAIK finds "
            f"{row.eaik_solutions}, of which ours lack {row.missing_in_ours}\n"
            f"  ours, certified {row.ours:.2f}; closed form alone {row.kernel:.2f}; "
            f"EAIK one by one {row.eaik_single:.2f}, in batches {row.eaik_batch:.2f}"
        )


if __name__ == "__main__":
    main()
