"""The recipes of docs/machine-elements.md against closed forms, and tables in runs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError

_BRAKE = """
    parameters k = 1000, c = 10, T = 5, load = 3;
    coordinates w;
    Drum | Rz(w) | Jz(0.2);
    define grip = min(max(k*z + c*w', -T), T);
    state z' = (grip - k*z)/c;
    force brake | value(-grip), on(w);
    force weight | value(load), on(w);
"""


def test_a_brake_with_an_elastic_deflection_holds_without_creep_and_slips_at_its_torque() -> None:
    model = kg.parse(_BRAKE)
    held = kg.simulate(model, 1000.0, times=[0, 10, 1000], rtol=1e-9, atol=1e-13)
    assert held["w"][1:] == pytest.approx([3 / 1000, 3 / 1000], abs=1e-11)
    assert held["z"][-1] == pytest.approx(3 / 1000, abs=1e-11)
    slips = kg.simulate(model, 2.0, parameters={"load": 9}, times=[0, 1, 2])
    assert slips["w'"][2] - slips["w'"][1] == pytest.approx((9 - 5) / 0.2, rel=1e-8)
    friction = kg.parse(
        "coordinates w; Drum | Rz(w) | Jz(0.2); friction b | on(w), coulomb(5), width(0.01);"
        "force weight | value(3), on(w);"
    )
    creeping = kg.simulate(friction, 20.0, times=[0, 10, 20])
    assert creeping["w"][2] - creeping["w"][1] == pytest.approx(10 * 0.01 * np.arctanh(3 / 5), rel=1e-6)


def test_play_lets_shafts_turn_freely_between_its_ends() -> None:
    """A shaft crosses the play at its own speed, then both share the momentum; the contact is stiff and elastic."""
    model = kg.parse("""
        coordinates w1, w2; initial w1' = 2;
        A | Rz(w1) | Jz(1); B | Rz(w2) | Jz(3);
        limit teeth | on(w1 - w2), lower(-0.1), upper(0.1), stiffness(1e4);
    """)
    run = kg.simulate(model, 0.12, times=[0, 0.049, 0.12], rtol=1e-9)
    assert run["w1"][1] == pytest.approx(0.098, abs=1e-9) and run["w2"][1] == 0.0
    assert run["w1'"][2] == pytest.approx(2 * (1 - 3) / 4, abs=1e-6)  # an elastic impact
    assert run["w2'"][2] == pytest.approx(2 * 2 / 4, abs=1e-6)


def test_a_run_that_leaves_a_table_names_it() -> None:
    model = kg.parse("""
        coordinates q; table push | (0, 5), (10, 5) | linear, refuse;
        Wheel | Rz(q) | Jz(1); force f | value(push(q')), on(q);
    """)
    said = str(kg.simulate(model, 4.0))
    assert "at t = 2" in said and "the table push ends at 10, and q' is 10 there" in said
    assert "`hold`" in said


def test_formulas_of_a_run_may_use_the_tables_of_the_model() -> None:
    model = kg.parse("""
        coordinates q; inputs u; table push | (0, 5), (10, 8) | linear, hold;
        Wheel | Rz(q) | Jz(1); force f | value(u), on(q);
    """)
    run = kg.simulate(model, 1.0, inputs={"u": "push(10*t)"}, events={"seven": "push(10*t) - 7"})
    assert run["q'"][-1] == pytest.approx(6.5, rel=1e-9)
    assert run.events[0].time == pytest.approx(2 / 3, abs=1e-9)
    with pytest.raises(SolveError, match=r"`2 m/s` has two meanings"):
        kg.simulate(model, 1.0, inputs={"u": "2 m/s"})
    with pytest.raises(SolveError, match=r"write 2 \[m\] or 2\*m"):
        kg.simulate(model, 1.0, inputs={"u": "2 m"})  # the model could have a parameter m


def test_exported_code_contains_the_table(tmp_path: Path) -> None:
    model = kg.parse("""
        model tabled; coordinates q, p;
        table a | (0, 1), (1, 2), (2, -1), (3, 1) | spline, periodic;
        table b | x(0, 1, 2), y(0, 1, 3), values((1, 2, 3), (2, 0, 1), (5, 4, 3)) | spline, extrapolate;
        table c | (0, 1), (1, 2), (2, 0) | linear, refuse;
        A | Rz(q) | Jz(1); B~A | Rz(p) | Sx(1), m(1), Jz(1);
        force f | value(a(q) + b(q, p) + c(p)), on(q);
    """)
    kg.export(model, "forces", "python", tmp_path)
    spec = importlib.util.spec_from_file_location("tabled", tmp_path / "tabled.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = kg.compile(model, "forces")
    for q, p in ((0.4, 0.3), (-7.2, 1.4), (2.5, 1.9)):
        wanted = kernel(q=[q, p], v=[0, 0])
        assert np.ravel(module.forces(np.array([q, p]), np.zeros(2))) == pytest.approx(wanted, abs=1e-12)
    assert np.isnan(module.forces(np.array([0.5, 2.5]), np.zeros(2))[0])  # beyond the last point of c


def test_differential_belt_and_rack_transmit_as_their_ratios_say() -> None:
    """A motor on a belt turns the case of a differential; one wheel drives a rack. One inertia, one acceleration."""
    model = kg.parse("""
        parameters r1 = 0.05, r2 = 0.1, r = 0.3, drive = 6, drag = 1.5;
        coordinates motor, case, left, right, x;
        Motor | Rz(motor) | Jz(0.02); Case | Rz(case) | Jz(0.4);
        Left | Rz(left) | Jz(0.5); Right | Rz(right) | Jz(0.7); Bar | Sx(x) | m(4);
        constraint belt | r1*motor = r2*case;
        constraint axle | left + right = 2*case;
        loop teeth | rack(r) | x | right;
        force turn | value(drive), on(motor);
        force hold | value(-drag), on(left);
    """)
    run = kg.simulate(model, 0.5)
    both = 0.7 + 4 * 0.3**2  # of the right wheel with its rack
    # With a the acceleration of the case and d that of the left wheel beyond it: left = a + d, right = a - d.
    carried = np.array([[0.4 + 4 * 0.02 + 0.5 + both, 0.5 - both], [0.5 - both, 0.5 + both]])
    a, d = np.linalg.solve(carried, [2 * 6 - 1.5, -1.5])
    assert run["case'"][-1] == pytest.approx(0.5 * a, rel=1e-9)
    assert run["left'"][-1] == pytest.approx(0.5 * (a + d), rel=1e-9)
    assert run["x"][-1] == pytest.approx(0.3 * 0.125 * (a - d), rel=1e-9)
    assert run["motor"][-1] == pytest.approx(2 * run["case"][-1], rel=1e-12)
