"""Everything that hands out addresses of code, begun by eight threads at once in a process that has run nothing yet.

`python -m tests.everything_in_threads SEED NATIVE` prints what failed or came out different, and nothing else. NATIVE
(0 or 1): whether the integrators' loops run as machine code.
"""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

import numpy as np

import kinegraph as kg

#: Interpreted runs take turns anyway: few of them are enough.
THREADS, FEW_THREADS = 8, 4

#: Seconds after which a process that hangs says where, and ends.
LIMIT = 900

TWO = kg.parse("""model two; parameters m2 = 1; coordinates q1 = 0.3, q2; gravity 0, 0, -9.81;
A | Ry(q1) | Sz(-1), m(1); B~A | Sz(-1), Ry(q2) | Sz(-1), m(m2); output tip = B (0, 0, -1);""")
BALL = kg.parse("""model ball; coordinates z = 1; gravity 0, 0, -9.81; Ball | Sz(z) | m(1);
contact floor | Ball.z >= 0 | restitution(0.5);""")
BARS = kg.parse("""model bars; coordinates crank = 0.3, coupler = 0.4, rocker = 1.2; gravity 0, -9.81, 0;
Crank | Rz(crank) | Sx(0.25), m(1); Coupler~Crank | Sx(0.5), Rz(coupler - crank) | Sx(0.6), m(2), Jz(0.2);
Rocker | Sx(1), Rz(rocker) | Sx(0.4), m(1); loop pin | revolute | Coupler: Sx(1.2) | Rocker: Sx(0.8);""")

Job = Callable[[bool], object]


def motion(model: kg.Mechanism, method: str, **more: object) -> Job:
    """The last positions of a short run."""

    def run(native: bool) -> list[float]:
        found = kg.simulate(model, 0.6, method=method, native=native, times=4, progress=False, **more)  # type: ignore[arg-type]
        return [found.final[name] for name in model.layout.positions]

    return run


def kernels(native: bool) -> object:
    """Calls and batches of straight code."""
    one = kg.compile(TWO, "tau")([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    many = kg.compile(TWO, "qdd").batch(np.full((50, 2), 0.1), np.full((50, 2), 0.2), np.zeros((50, 2)))
    return np.vstack([one, many])


def looped(native: bool) -> object:
    """Code by loops over bodies, and code of closed loops."""
    closed = kg.compile(BARS, "qdd")([1, 0.2, 1], [0, 0, 0], [0, 0, 0])
    long = kg.compile("pendulum-310", "qdd")(np.full(310, 0.1), np.zeros(310), np.zeros(310)) if native else []
    return np.hstack([closed, long])


JOBS: dict[str, Job] = {
    "kernels": kernels,
    "looped": looped,
    "dop853": motion(TWO, "dop853"),
    "dopri5": motion(TWO, "dopri5"),
    "rk4": motion(TWO, "rk4", step=0.05),
    "symplectic": motion(TWO, "symplectic", step=0.05),
    "bdf": motion(TWO, "bdf"),
    "adams": motion(TWO, "adams"),
    "loop": motion(BARS, "dop853"),
    "loop, symplectic": motion(BARS, "symplectic", step=0.05),
    "loop, ida": motion(BARS, "ida"),
    "contact": motion(BALL, "dop853"),
    "sweep": lambda native: kg.sweep(TWO, 0.2, over={"q1": np.linspace(0.1, 1, 9)}, native=native, progress=False)[
        "q1"
    ],
    "study": lambda native: kg.study(
        TWO, 0.2, vary={"q1": "uniform(-1, 1)"}, cases=9, outcomes={"top": "max(tip.z)"}, native=native, threads=2
    )["top"],
    "sensitivities": lambda native: (
        kg.sensitivities(TWO, 0.2, ["m2"], outputs=["tip.x"], native=native, progress=False).derivatives
    ),
    "gradient": lambda native: kg.gradient(
        TWO, 0.2, ["m2"], outputs=["tip.x"], native=native, progress=False
    ).derivative("tip.x", "m2"),
    "equilibria": lambda native: [one.q.tolist() for one in kg.equilibria(TWO, starts=8)],
    "modes": lambda native: kg.modes(TWO, {"q1": 0, "q2": 0}).frequencies,
    "assembly": lambda native: kg.assemble(BARS, {"crank": 1}).q,
}


def results(seed: int, native: bool) -> list[dict[str, object]]:
    """What every thread gets; with an odd seed all threads do the same at the same moment."""
    count = THREADS if native else FEW_THREADS
    chance, together = Random(seed), Barrier(count)
    order = chance.sample(sorted(JOBS), len(JOBS))

    def work(names: list[str]) -> dict[str, object]:
        found: dict[str, object] = {}
        together.wait(timeout=60)
        for name in names:
            if seed % 2:
                together.wait(timeout=LIMIT)
            try:
                found[name] = np.asarray(JOBS[name](native))
            except Exception as error:
                found[name] = repr(error)
        return found

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, [order if seed % 2 else chance.sample(order, len(order)) for _ in range(count)]))


def main(seed: int, native: bool) -> None:
    """Print what went wrong; the exit code is the number of jobs."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    found = results(seed, native)
    wrong = {
        name: [one[name] for one in found if isinstance(one[name], str)]
        for name in JOBS
        if any(isinstance(one[name], str) or not np.array_equal(one[name], found[0][name]) for one in found)  # type: ignore[arg-type]
    }
    print(wrong or "", end="")
    sys.exit(min(len(wrong), 100))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "1")
