"""What stiff joint limits cost: a double pendulum that swings against stops, from soft to very stiff, by BDF.

The stops lose energy, as real ones do. Without any loss a link pressed against a stop of 1e8 N m/rad goes on vibrating
some thousand times a second for ever, and every method must follow it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.run import simulate

STIFFNESSES = (1e3, 1e4, 1e6, 1e8)
DURATION = 10.0
LOSS = 0.5  # damping over stiffness, in seconds: a stop gives back a fraction of the speed

_MODEL = """
model stops;
parameters stiffness = 1e3, damping = 0;
coordinates q1 = 1.2, q2 = 0.3;
gravity 0, 0, -9.81;
Upper       | Ry(q1)         | Sz(-1/2), m(1), Jx(1/12), Jy(1/12);
Lower~Upper | Sz(-1), Ry(q2) | Sz(-1/2), m(1), Jx(1/12), Jy(1/12);
limit shoulder | on(q1), lower(-1), upper(1), stiffness(stiffness), damping(damping);
limit elbow    | on(q2), lower(-1/2), upper(1/2), stiffness(stiffness), damping(damping);
"""


@dataclass(frozen=True)
class Row:
    """One run; `seconds` are the best of some, `balance` is the relative error of the energy balance."""

    stiffness: float
    seconds: float
    steps: int
    evaluations: int
    jacobians: int
    balance: float


def model() -> Mechanism:
    """The double pendulum with stops."""
    return parse(_MODEL)


def measure(stiffness: float, repeats: int = 3, rtol: float = 1e-6) -> Row:
    """Simulate with compiled code; loops are loaded before the time is taken."""
    mechanism, values = model(), {"stiffness": stiffness, "damping": LOSS * stiffness}
    runs = [
        simulate(mechanism, DURATION, method="bdf", parameters=values, rtol=rtol, native=True, progress=False)
        for _ in range(repeats)
    ]
    best = min(runs, key=lambda run: run.statistics.seconds - run.statistics.loading)
    cost = best.statistics
    balance = next(check.error for check in best.checks if check.name.startswith("energy"))
    return Row(stiffness, cost.seconds - cost.loading, cost.steps, cost.evaluations, cost.jacobians, balance)
