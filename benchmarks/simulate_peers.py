"""The peers' side of `python -m benchmarks simulate`, run by an interpreter that has them: prints one JSON object.

    python simulate_peers.py chain           six links, 10 s: SciPy around Pinocchio, Exudyn, MuJoCo
    python simulate_peers.py sweep CASES.npy  many double pendulums: mujoco.rollout

Every entry is [name, setting, seconds (best of several), end state or file of end states].
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

#: An object of one of the peers; this file runs where Kinegraph may not be.
Foreign: TypeAlias = Any

#: Name, setting, seconds, end state or the file of end states.
Entry: TypeAlias = "tuple[str, str, float, list[float] | str]"

T = TypeVar("T")

LINKS, DURATION, REPEATS = 6, 10.0, 5
CHUNK = 500  # rollout keeps every step: all runs of a sweep at once would not fit into memory
SWEEP_DURATION = 5.0


def best(work: Callable[[], T], repeats: int = REPEATS) -> tuple[float, T]:
    """The shortest of several runs, and the result."""
    shortest = float("inf")
    for _ in range(repeats):
        begun = time.perf_counter()
        result = work()
        shortest = min(shortest, time.perf_counter() - begun)
    return shortest, result


def pinocchio_chain() -> list[Entry]:
    """The six-link chain by SciPy's integrators around Pinocchio."""
    import pinocchio as pin
    from scipy.integrate import solve_ivp

    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.81])
    parent = 0
    rod = pin.Inertia(1.0, np.array([0, 0, -0.5]), np.diag([1 / 12, 1 / 12, 0.0]))
    for link in range(LINKS):
        place = pin.SE3(np.eye(3), np.array([0, 0, -1.0 if link else 0.0]))
        parent = model.addJoint(parent, pin.JointModelRY(), place, f"q{link}")
        model.appendBodyToJoint(parent, rod, pin.SE3.Identity())
    data, tau = model.createData(), np.zeros(LINKS)

    def f(t: float, y: Foreign) -> Foreign:
        # A new array each time: SciPy keeps the last one, and a shared buffer would spoil steps that are tried again.
        return np.concatenate([y[LINKS:], pin.aba(model, data, y[:LINKS], y[LINKS:], tau)])

    start = np.zeros(2 * LINKS)
    start[0] = 1
    found: list[Entry] = []
    for rtol in (1e-6, 1e-8, 1e-10):
        options = {"method": "DOP853", "rtol": rtol, "atol": rtol / 100}
        seconds, result = best(partial(solve_ivp, f, (0, DURATION), start, **options))
        found.append(("SciPy DOP853 + Pinocchio", f"rtol {rtol:g}", seconds, result.y[:, -1].tolist()))
    return found


def exudyn_chain() -> list[Entry]:
    """The six-link chain by Exudyn."""
    import exudyn as exu
    import exudyn.itemInterface as items

    def run(rtol: float) -> tuple[float, list[float]]:
        container = exu.SystemContainer()
        system = container.AddSystem()
        node = system.AddNode(items.NodeGenericODE2(
            referenceCoordinates=[0.0] * LINKS, initialCoordinates=[1.0] + [0.0] * (LINKS - 1),
            initialCoordinates_t=[0.0] * LINKS, numberOfODE2Coordinates=LINKS))  # fmt: skip
        system.AddObject(items.ObjectKinematicTree(
            nodeNumber=node, jointTypes=[exu.JointType.RevoluteY] * LINKS, linkParents=list(range(-1, LINKS - 1)),
            jointTransformations=exu.Matrix3DList([np.eye(3)] * LINKS),
            jointOffsets=exu.Vector3DList([[0, 0, 0]] + [[0, 0, -1]] * (LINKS - 1)),
            linkInertiasCOM=exu.Matrix3DList([np.diag([1 / 12, 1 / 12, 0.0])] * LINKS),
            linkCOMs=exu.Vector3DList([[0, 0, -0.5]] * LINKS), linkMasses=[1.0] * LINKS,
            baseOffset=[0, 0, 0], gravity=[0, 0, -9.81]))  # fmt: skip
        system.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = DURATION
        settings.timeIntegration.numberOfSteps = 10
        settings.timeIntegration.automaticStepSize = True
        settings.timeIntegration.initialStepSize = 1e-3
        settings.timeIntegration.minimumStepSize = 1e-10
        settings.timeIntegration.relativeTolerance = rtol
        settings.timeIntegration.absoluteTolerance = rtol
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        begun = time.perf_counter()
        system.SolveDynamic(settings, solverType=exu.DynamicSolverType.DOPRI5)
        seconds = time.perf_counter() - begun
        data = system.systemData
        return seconds, [*data.GetODE2Coordinates().tolist(), *data.GetODE2Coordinates_t().tolist()]

    found: list[Entry] = []
    for rtol in (1e-5, 1e-6, 1e-8):
        runs = [run(rtol) for _ in range(REPEATS)]  # only the solver is timed, not building the model
        found.append(("Exudyn DOPRI5", f"tolerance {rtol:g}", min(one[0] for one in runs), runs[-1][1]))
    return found


def mujoco_model(bodies: list[tuple[str, str]], step: float) -> Foreign:
    """A chain of hinges about y in a row: (inertial element, where the next body hangs)."""
    import mujoco

    inside = ""
    for index in range(len(bodies) - 1, -1, -1):
        inertial, _ = bodies[index]
        place = bodies[index - 1][1] if index else "0 0 0"
        inside = f'<body pos="{place}"><joint type="hinge" axis="0 1 0"/>{inertial}{inside}</body>'
    flags = '<flag contact="disable" constraint="disable"/>'
    options = f'<option integrator="RK4" timestep="{step}" gravity="0 0 -9.81">{flags}</option>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{options}<worldbody>{inside}</worldbody></mujoco>")


def mujoco_chain() -> list[Entry]:
    """The six-link chain by MuJoCo's Runge-Kutta method, at three steps."""
    import mujoco

    rod = ('<inertial pos="0 0 -0.5" mass="1" diaginertia="0.08333333333333333 0.08333333333333333 1e-6"/>', "0 0 -1")
    found: list[Entry] = []
    for step in (1e-3, 5e-4, 2.5e-4):
        model = mujoco_model([rod] * LINKS, step)
        data = mujoco.MjData(model)

        def run(model: Foreign = model, data: Foreign = data, step: float = step) -> Foreign:
            mujoco.mj_resetData(model, data)
            data.qpos[0] = 1
            mujoco.mj_step(model, data, nstep=round(DURATION / step))
            return np.concatenate([data.qpos, data.qvel])

        seconds, result = best(run)
        found.append(("MuJoCo RK4", f"step {step:g}", seconds, result.tolist()))
    return found


def mujoco_sweep(cases: str) -> list[Entry]:
    """Many runs of the double pendulum by MuJoCo's threads."""
    import os

    import mujoco
    from mujoco import rollout

    starts = np.load(cases)
    threads = len(os.sched_getaffinity(0))
    point = ('<inertial pos="0 0 -1" mass="1" diaginertia="1e-10 1e-10 1e-10"/>', "0 0 -1")
    found: list[Entry] = []
    for step in (1e-2, 5e-3):
        model = mujoco_model([point, point], step)
        steps = round(SWEEP_DURATION / step)
        states = np.zeros((len(starts), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        states[:, 1 : 1 + starts.shape[1]] = starts
        path = np.zeros((CHUNK, steps, states.shape[1]))  # given beforehand, as its documentation advises for speed
        with rollout.Rollout(nthread=threads) as pool:
            data = [mujoco.MjData(model) for _ in range(threads)]

            def run(model: Foreign = model, path: Foreign = path, pool: Foreign = pool, data: Foreign = data,
                    steps: int = steps, states: Foreign = states) -> Foreign:  # fmt: skip
                ends = np.zeros_like(starts)
                for first in range(0, len(starts), CHUNK):
                    part = slice(first, first + CHUNK)
                    pool.rollout(model, data, states[part], nstep=steps, state=path)
                    ends[part] = path[:, -1, 1 : 1 + starts.shape[1]]
                return ends

            seconds, ends = best(run, 3)
        file = f"{cases}.{step:g}.npy"
        np.save(file, ends)
        found.append(("mujoco.rollout RK4", f"step {step:g}, {threads} threads", seconds, file))
    return found


def attempt(work: Callable[[], list[Entry]]) -> list[Entry]:
    """What a peer gives; a peer that is not installed or fails is named and left out."""
    try:
        return work()
    except Exception as error:  # a bench goes on without a peer
        print(f"{work.__name__}: {type(error).__name__}: {error}", file=sys.stderr)
        return []


def main() -> None:
    """Run the peers that are installed and print what they reached, for the calling process."""
    if sys.argv[1] == "sweep":
        found = attempt(lambda: mujoco_sweep(str(Path(sys.argv[2]))))
    else:
        found = [entry for work in (pinocchio_chain, exudyn_chain, mujoco_chain) for entry in attempt(work)]
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
