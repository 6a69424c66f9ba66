"""A step of the walker: single, double, single support, as modes of one run; impact and double support checked by
other means."""

from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.graph.interpret import interpret
from kinegraph.simulate import Status


@pytest.fixture(scope="module")
def step():
    return kg.simulate("walker", 0.35, native=False, times=350, rtol=1e-10)


def test_single_double_single(step):
    """Foot 2 lands and slips a little, sticks; foot 1 slips and leaves: nothing else happens."""
    words = [event.name for event in step.events]
    expected = ["foot1: rest", "foot2: impact", "foot2: rest", "foot2: stick", "foot1: slip", "foot1: release"]
    assert step.status is Status.FINISHED and words == expected
    supports = (step["foot1.mode"] > 0).astype(int) + (step["foot2.mode"] > 0)
    assert supports[0] == 1 and supports.max() == 2 and supports[-1] == 1
    assert step["foot1.mode"][-1] == 0 and step["foot2.mode"][0] == 0
    assert min(step["foot1.gap"].min(), step["foot2.gap"].min()) > -1e-10
    assert all(check.passed for check in step.checks)


def test_ground_carries_what_the_momentum_says(step):
    """Newton's law for the whole walker, and friction within its cone."""
    t, weight = step.t, 21 * 9.81
    lifting = step["foot1.normal"] + step["foot2.normal"]
    pushing = step["foot1.friction"] + step["foot2.friction"]
    smooth = np.ones(len(t) - 2, dtype=bool)
    for event in step.events:
        smooth &= np.abs(t[1:-1] - event.time) > 3e-3
    for force, momentum, constant in ((lifting, step["pz"], weight), (pushing, step["px"], 0.0)):
        rate = (momentum[2:] - momentum[:-2]) / (t[2:] - t[:-2])
        assert np.max(np.abs(rate + constant - force[1:-1])[smooth]) < 0.2
    for foot in ("foot1", "foot2"):
        assert np.all(np.abs(step[f"{foot}.friction"]) <= 0.8 * step[f"{foot}.normal"] + 1e-6)


def test_the_landing_is_the_plastic_impact_of_the_laws(step):
    """v+ = v- + H^-1 (J_n^T p_n + J_t^T p_t): foot 2 stops along the normal, foot 1 stays, friction is on its cone."""
    landing = next(event for event in step.events if event.name == "foot2: impact")
    before = landing.state[:12]
    model = replace(kg.load("walker"), contacts=())
    names = (*model.layout.positions, *model.layout.velocities)
    at = dict(zip(names, before, strict=True))
    inertia = interpret(kg.derive(model, "H", numeric=True), {**at, "t": landing.time})["H"]
    rows = np.array([_rows(before[:6], leg) for leg in (2, 4)]).reshape(4, 6)  # x and z of both feet
    after = kg.simulate("walker", landing.time + 1e-9, native=False, times=[landing.time + 1e-9], rtol=1e-10)
    v = np.array([after[name][-1] for name in model.layout.velocities])
    impulses = np.linalg.lstsq(rows.T, inertia @ (v - before[6:]), rcond=None)[0]
    np.testing.assert_allclose(rows.T @ impulses, inertia @ (v - before[6:]), atol=1e-6)
    assert np.abs((rows @ v)[[0, 1, 3]]).max() < 1e-6
    assert abs(abs(impulses[2]) - 0.8 * impulses[3]) < 1e-6 and impulses[2] * (rows @ v)[2] < 0.0


def _rows(q, leg):
    """d(foot.x)/dq and d(foot.z)/dq."""
    angle, length = q[leg], q[leg + 1] - 1.0
    x, z = np.eye(6)[0], np.eye(6)[1]
    x[leg], x[leg + 1] = length * np.cos(angle), np.sin(angle)
    z[leg], z[leg + 1] = -length * np.sin(angle), np.cos(angle)
    return x, z


def test_double_support_is_the_motion_with_both_feet_pinned(step):
    """The same walker with constraints in place of contacts, from one time of double support to another."""
    model = replace(kg.load("walker"), contacts=())
    first, last = 195, 210
    assert np.all(step["foot1.mode"][first : last + 1] == 3) and np.all(step["foot2.mode"][first : last + 1] == 3)
    feet = [float(step[name][first]) for name in ("F1.x", "F2.x")]
    pins = [f"constraint f{k}x | F{k}.x = {place!r}; constraint f{k}z | F{k}.z = 0;" for k, place in enumerate(feet, 1)]
    pinned = kg.parse(" ".join([_text(), *pins]))
    start = {name: step[name][first] for name in (*model.layout.positions, *model.layout.velocities)}
    run = kg.simulate(
        pinned, step.t[last] - step.t[first], t0=step.t[first], state=start, native=False, times=1, rtol=1e-10
    )
    for name in model.layout.positions:
        assert abs(run[name][-1] - step[name][last]) < 1e-8


def _text():
    from importlib.resources import files

    lines = (files("kinegraph.library") / "models" / "walker.kg").read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("contact"))
