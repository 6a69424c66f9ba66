"""Stepping beside MuJoCo: one robot from Python, and thousands of robots at once, contacts off in both.

Both take steps of the classical Runge-Kutta method of one size from the same states with the same joint torques, and
must agree at the end. Ratios of one run; the machine may be busy.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

import kinegraph as kg
from benchmarks.peers.robots import CASES, RobotCase, prepare
from benchmarks.peers.sides.mujoco import mujoco_model
from kinegraph.codegen.kernel import Kernel
from kinegraph.jit.parallel import cores
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.simulate.simulator import Simulator, Simulators, simulator

ROBOTS = ("UR5", "Panda")
DT, STEPS = 1e-3, 50


def best(function: Callable[[], object], repeats: int = 5) -> float:
    """The least seconds of several calls."""
    times = []
    for _ in range(repeats):
        begun = perf_counter()
        function()
        times.append(perf_counter() - begun)
    return min(times)


def measured(case: RobotCase, path: Path, count: int) -> dict[str, object]:
    """Times of one robot and of many, ours and MuJoCo's, and how far the ends are apart."""
    import mujoco
    from mujoco import rollout

    model = mujoco_model(mujoco, case, path)
    model.opt.timestep, model.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_RK4
    robot = kg.load(str(path))
    one, many = simulator(robot, dt=DT), simulator(robot, dt=DT, count=count)
    assert isinstance(one, Simulator) and isinstance(many, Simulators)
    random = np.random.default_rng(1)
    states = 0.5 * random.normal(size=(count, one.state.size))
    torques = random.normal(size=(count, len(one.controls)))

    many.reset(states)
    many.step(torques, steps=STEPS)
    full = np.concatenate([np.zeros((count, 1)), states], axis=1)
    held = np.repeat(torques[:, None, :], STEPS, axis=1)
    spec = mujoco.mjtState.mjSTATE_QFRC_APPLIED
    pool = rollout.Rollout(nthread=cores())
    datas = [mujoco.MjData(model) for _ in range(cores())]

    def peer() -> np.ndarray:
        found, _ = pool.rollout([model] * count, datas, full, held, control_spec=spec)
        return np.asarray(found)

    apart = float(np.abs(peer()[:, -1, 1:] - many.state).max())
    data, u = mujoco.MjData(model), np.zeros(len(one.controls))

    def ours_alone() -> None:
        for _ in range(1000):
            one.step(u)

    def peer_alone() -> None:
        for _ in range(1000):
            data.qfrc_applied[:] = u
            mujoco.mj_step(model, data)

    tau = kg.compile(robot, "tau")
    controller, loop = (best(lambda on=on: computed_torque(tau, one, on), 15) for on in (False, True))  # type: ignore[misc]
    rows = {
        "one step from Python, us": (best(ours_alone) * 1e3, best(peer_alone) * 1e3),
        f"{count} robots, one step of each, us": (
            best(lambda: many.step(torques, steps=STEPS)) / STEPS * 1e6,
            best(peer, 3) / STEPS * 1e6,
        ),
    }
    return {"robot": case.name, "apart": apart, "rows": rows, "controller, us": controller * 1e3,
            "loop, us": loop * 1e3}  # fmt: skip


def computed_torque(tau: Kernel, sim: Simulator, step: bool = True) -> None:
    """A second of a loop of 1 kHz: a controller in Python on our kernel of inverse dynamics, with or without steps."""
    sim.reset()
    aim = sim.q + 0.1
    for _ in range(1000):
        q, v = sim.q, sim.v
        u = tau(q, v, 100.0 * (aim - q) - 20.0 * v)
        if step:
            sim.step(u)
    if step and np.abs(sim.q - aim).max() > 1e-3:
        raise AssertionError(f"the controller missed its aim by {np.abs(sim.q - aim).max():.1e}")


def main(words: Sequence[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks stepping", description=__doc__)
    parser.add_argument("--count", type=int, default=4096, help="how many robots are stepped at once")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        table = [measured(case, prepare(case, Path(folder)), options.count) for case in CASES if case.name in ROBOTS]
    if options.json:
        print(json.dumps({"processor": cpu_model(), "cores": cores(), "robots": table}, indent=1))
        return
    print(f"{cpu_model()}, {cores()} cores")
    for one in table:
        print(f"{one['robot']}: ends {one['apart']:.1e} apart after {STEPS} steps of {DT} s")
        alone, loop = one["controller, us"], one["loop, us"]
        assert isinstance(alone, float) and isinstance(loop, float)
        print(
            f"  1 kHz loop: controller {alone:.2f} us, with steps {loop:.2f} us a period, overhead {loop - alone:.2f}"
        )
        rows = one["rows"]
        assert isinstance(rows, dict)
        for name, (ours, theirs) in rows.items():
            print(f"  {name:40} Kinegraph {ours:10.2f}   MuJoCo {theirs:10.2f}   ratio {theirs / ours:6.1f}")


if __name__ == "__main__":
    main()
