"""Platforms with cranks: runs go on where crank and rod are in line, as general loops do, and say what they mean."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognition import legs_beyond_closed_form
from kinegraph.simulate import Status
from kinegraph.simulate.equations import VelocityForm
from kinegraph.solve.methods.step_control import Adaptive
from tests.cli.run import runner
from tests.derive.platforms.evaluate import AS_LOOPS, evaluated

MODEL = """model rsu; coordinates x, y, z = 0.6; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz); gravity 0, 0, -1;
Ring | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | Sy(0.05), m(20), Jx(1), Jy(1.1), Jz(1.9);
platform {kind}(0.2, 0.6) | Ring | Sx(0.1), m(2), Jx(0.1), Jy(0.11), Jz(0.05)
| Sx(0.3), m(1), Jx(0.1), Jy(0.11), Jz(0.05) | | A: Sx(0.5), Rx(pi/2) > Sx(0.3), Sy(0.2), Rz(0.3);"""


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    return kg.parse(MODEL.format(kind="RUS"))


@pytest.mark.parametrize("grid", [4, None])
def test_a_run_goes_on_beyond_a_stretched_crank(mechanism, monkeypatch, grid):
    """The crank passes the line at 0.401 s: so does the ring on loops of any kind."""
    options = {"inputs": {"A_theta": 5}, "native": False, "times": grid, "progress": False}
    found = kg.simulate(mechanism, 0.6, **options)
    assert found.status is Status.FINISHED and all(check.passed for check in found.checks) and not found.events
    assert np.all(np.diff(found.t) > 0) and found.t[-1] == 0.6 and (grid is None or len(found.t) == 5)
    assert np.sin(found["A_alpha"][0]) > 0 > np.sin(found["A_alpha"][-1])
    monkeypatch.setattr(VelocityForm, "closed_legs", False)
    loops = kg.simulate(mechanism, 0.6, **options)
    for name in ("A_theta", "z", "z'", "A_alpha'"):
        assert found[name][-1] == pytest.approx(loops[name][-1], abs=1e-6)


def test_sweeps_go_on_beyond_a_stretched_crank(mechanism):
    options = {"inputs": {"A_theta": 5}, "native": False, "times": 2, "progress": False, "method": "dopri5"}
    options["control"] = Adaptive(1e-8, max_steps=200)  # the closed form crawls toward the line
    found = kg.sweep(mechanism, 0.45, over={"z'": [0.1]}, **options)
    assert found.statuses == (Status.FINISHED,)
    alone = kg.simulate(mechanism, 0.45, state={"z'": 0.1}, **options)
    np.testing.assert_allclose(found["A_theta"][0], alone["A_theta"], atol=1e-5)
    assert np.sin(found["A_alpha"][0, -1]) < 0


def test_the_side_of_a_crank_is_kept(mechanism):
    """Declared angles hold: the closed form knows one side of crank and rod, the other one is run as loops."""
    fitting = Assembler(mechanism).assemble({"A_theta": 2.0, "A_alpha": -1.39})
    (closed,), (loops,) = (
        evaluated(mechanism, "qdd", plan)(fitting.q, fitting.v, np.zeros(9)) for plan in (None, AS_LOOPS)
    )
    assert np.all(np.isnan(closed)) and np.all(np.isfinite(loops))
    start = dict(zip(mechanism.layout.positions, fitting.q.tolist(), strict=True))
    assert legs_beyond_closed_form(mechanism, start) == ("A",)
    found = kg.simulate(mechanism, 0.01, state=start, native=False, times=2, progress=False)
    assert found["A_alpha"][0] == pytest.approx(-1.39, abs=1e-9)
    np.testing.assert_allclose(found["A_theta"], 2 + loops[0] * found.t**2 / 2, atol=1e-6)


def test_eval_says_which_equations_it_takes(mechanism, capsys, tmp_path):
    (tmp_path / "rus.kg").write_text(MODEL.format(kind="RUS"), "utf-8")
    found = runner(capsys)(f"eval {tmp_path / 'rus.kg'} -q platform_acceleration --state A_theta=2,A_alpha=-1.39")
    assert found.code == 1 and "crank and rod of A" in found.err and "nan" in found.out
    found = runner(capsys)(f"eval {tmp_path / 'rus.kg'} -q qdd --state A_theta=2,A_alpha=-1.39")
    assert found.code == 0 and "general loops instead" in found.err
    fitting = Assembler(mechanism).assemble({"A_theta": 2.0, "A_alpha": -1.39})
    (loops,) = evaluated(mechanism, "qdd", AS_LOOPS)(fitting.q, fitting.v, np.zeros(9))
    np.testing.assert_allclose([float(line) for line in found.out.split()[1:]], loops, rtol=1e-8, atol=1e-8)


def test_where_runs_cannot_change_their_form_they_name_the_leg(mechanism):
    feedback = kg.Feedback(lambda t, state: 5.0, 0.1)
    found = kg.simulate(mechanism, 0.6, inputs={"A_theta": feedback}, native=False, times=4, progress=False)
    assert found.status is Status.SINGULAR and "the crank and the rod of A are in line" in found.ending.detail


def test_pivots_of_closed_legs_have_their_names(mechanism):
    form = VelocityForm(mechanism, {}, Forces({}, ()))
    assert form.rows == ("A", "A")
