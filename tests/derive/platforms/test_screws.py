"""Ball screws in legs: every joule is accounted for, driven and driven back, at limits; what locks stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.model.mechanism import Mechanism
from tests.derive.platforms.evaluate import evaluated
from tests.derive.platforms.test_model import moving, table

LEAD = 0.01
TURNS = 2 * np.pi / LEAD
DRIVES = [0, 1, 2]  # three legs, their lengths first
RING = slice(3, 9)
CASES = {
    "losses": "screw(0.01, 1e-4, 0.8, 0.6), width(0.2)",
    "limits": "screw(0.01, 1e-4, 0.9, 0.9), width(0.1), limit(0.25)",
    "dry friction too": "screw(0.01, 1e-4, 0.7, 0.5), width(0.2), coulomb(20)",
    "no losses": "screw(0.01, 2e-4)",
}


@dataclass(frozen=True)
class Account:
    """The rates of a platform's state beside the work of its motors and what screws and friction take."""

    mechanism: Mechanism
    efficiency: float
    back_driving: float
    width: float
    coulomb: float
    limit: float

    def torques(self, t: float) -> np.ndarray:
        return 0.35 * np.sin(9 * t + np.arange(3.0))

    def rates(self, qdd: Callable[..., list[np.ndarray]]) -> Callable[[float, np.ndarray], np.ndarray]:
        size, still = len(self.mechanism.layout.positions), np.zeros(len(self.mechanism.layout.velocities))

        def rate(t: float, state: np.ndarray) -> np.ndarray:
            q, v, given = state[:size], state[size:-2], self.torques(t)
            (a,) = qdd(q, v, still, given)
            return np.array([*self._moved(q, v), *a, *self._powers(given, v[DRIVES])])

        return rate

    def _moved(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Positions are lengths, place and quaternion of the ring, angles of legs."""
        w, e = v[6:9], q[6:10]
        turned = 0.5 * np.array([-e[1:] @ w, *(e[0] * w + np.cross(e[1:], w))])
        return np.array([*v[:6], *turned, *v[9:]])

    def _powers(self, given: np.ndarray, rates: np.ndarray) -> tuple[float, float]:
        """By hand, from what efficiency means: of driving power a part is lost, of back-driving one that is taken."""
        motors = np.clip(given, -self.limit, self.limit) * TURNS * rates
        driving = (1 - self.efficiency) * motors
        driven = (1 - 1 / self.back_driving) * motors
        moving = np.abs(np.tanh(rates / self.width))
        dry = self.coulomb * rates * np.tanh(rates / self.width)
        return float(np.sum(motors)), float(np.sum(np.where(motors > 0, driving, driven) * moving + dry))


def account(word: str) -> Account:
    mechanism = kg.parse(table(CASES[word]))
    efficiency = {"losses": (0.8, 0.6), "limits": (0.9, 0.9), "dry friction too": (0.7, 0.5)}.get(word, (1.0, 1.0))
    width = 0.1 if word == "limits" else 0.2
    coulomb, limit = 20.0 if word.startswith("dry") else 0.0, 0.25 if word == "limits" else np.inf
    return Account(mechanism, *efficiency, width, coulomb, limit)


@pytest.mark.parametrize("word", CASES)
def test_energy_is_accounted_for(word: str) -> None:
    """What motors put in is kinetic and potential energy, or lost: to 1e-8 over a run with both ways of driving."""
    found = account(word)
    start = Assembler(found.mechanism).assemble({"x": 0.02, "e1": 0.1, "z'": 0.4, "wx": 0.5}, 0.0)
    state = np.array([*start.q, *start.v, 0.0, 0.0])
    rates = found.rates(evaluated(found.mechanism, "qdd"))
    run = solve_ivp(rates, (0, 0.4), state, "DOP853", rtol=1e-10, atol=1e-11)
    energy = evaluated(found.mechanism, "energy")
    size = len(start.q)
    stored = [float(np.sum(energy(y[:size], y[size:-2])[0])) for y in run.y.T]
    work, lost = run.y[-2:]
    np.testing.assert_allclose(np.array(stored) - stored[0], work - lost, atol=1e-8 * max(1.0, np.ptp(work)))
    powers = np.array([found.torques(t) * y[size:-2][DRIVES] for t, y in zip(run.t, run.y.T, strict=True)])
    assert np.min(powers) < -0.01 and np.max(powers) > 0.01  # motors drive and are driven
    assert np.all(np.diff(lost) >= -1e-12) and (lost[-1] > 0.1) == (word != "no losses")
    if np.isfinite(found.limit):
        assert np.max(np.abs([found.torques(t) for t in run.t])) > found.limit


def test_losses_do_not_jump_at_rest() -> None:
    """Friction that is smoothed: no force jumps where a leg stops, and none makes energy, at any rate."""
    mechanism = kg.parse(table("screw(0.01, 0, 0.8, 0.6), width(0.05)"))
    forces = evaluated(mechanism, "forces")
    q, v, *_ = moving(mechanism)
    given = np.array([0.3, -0.2, 0.1])
    pushed = TURNS * given
    for rate in (1e-9, -1e-9):
        slow = v / np.max(np.abs(v)) * rate
        np.testing.assert_allclose(forces(q, slow, given)[0][DRIVES], pushed, rtol=1e-7)
    for scale in np.geomspace(1e-6, 10, 15):
        for sign in (scale, -scale):
            lost = (pushed - forces(q, sign * v, given)[0][DRIVES]) * (sign * v)[DRIVES]
            assert np.all(lost >= 0)


def test_a_screw_that_locks_itself() -> None:
    """Dry friction above the load: legs creep by less than its width, where without it the ring falls."""
    fallen = {}
    for word, drive in {"locks": "screw(0.01, 1e-5), coulomb(2000), width(0.001)", "runs": "screw(0.01, 1e-5)"}.items():
        mechanism = kg.parse(table(drive))
        start = Assembler(mechanism).assemble({}, 0.0)
        found = Account(mechanism, 1, 1, 1, 0, 0)  # motors off
        state = np.array([*start.q, *start.v, 0.0, 0.0])
        qdd = evaluated(mechanism, "qdd")
        rates = found.rates(lambda q, v, still, given, qdd=qdd: qdd(q, v, still, 0 * given))
        run = solve_ivp(rates, (0, 0.05), state, "Radau", rtol=1e-6, atol=1e-9)
        fallen[word] = float(np.max(np.abs(run.y[len(start.q) : -2][DRIVES])))
    assert fallen["locks"] < 0.001 < 0.05 < fallen["runs"]
