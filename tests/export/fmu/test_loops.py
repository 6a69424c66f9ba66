"""FMUs of closed loops: closed in Co-Simulation, kept closed in Model Exchange, never drifting apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.export import Fmi
from kinegraph.graph.interpret import interpret
from tests.export.fmu.hosting import Host, Maker, assert_same_motion, needs_compiler, run, validate_fmu

#: A free body on a rod: a quaternion and a constraint of lengths; the rod's anchor moves in time.
SWING = """model swing; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz); coordinates x = 0.8, y = 0, z = 0.6;
    gravity 0, 0, -9.81; Body | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(2), Jx(0.1), Jy(0.2), Jz(0.25);
    Anchor | Sx(0.1*sin(2*t)) |; loop rod | distance(1) | Anchor: | Body: Sy(0.1);"""


@needs_compiler
@pytest.mark.parametrize(("model", "fmi"), [("four-bar", Fmi.TWO), ("swing", Fmi.THREE)])
def test_loops_stay_closed(fmu: Maker, model: str, fmi: Fmi) -> None:
    mechanism = kg.parse(SWING) if model == "swing" else kg.load(model)
    path = fmu(mechanism, fmi)
    assert validate_fmu(path) == []
    expected = kg.simulate(mechanism, 1, times=20, rtol=1e-11, progress=False, native=False)
    rows = kg.compile(mechanism, "constraints")
    for kind, open_by, error in (("CoSimulation", 1e-12, 1e-7), ("ModelExchange", 2e-6, 1e-5)):
        found = run(path, kind, 1.0)
        assert_same_motion(found, expected, mechanism.layout.positions, error)
        for t, *q in zip(found["time"], *(found[name] for name in mechanism.layout.positions), strict=True):
            given = (np.array(q), t) if model == "swing" else (np.array(q),)
            assert np.max(np.abs(rows(*given))) < open_by


@needs_compiler
def test_directional_derivatives_keep_loops_closed(host: Callable[..., Host]) -> None:
    mechanism = kg.load("four-bar")
    place = kg.assemble(mechanism, {"crank": 1, "crank'": 2})
    names = (*mechanism.layout.positions, *mechanism.layout.velocities)
    point = dict(zip(names, (*place.q.tolist(), *place.v.tolist()), strict=True)) | {"tau:crank": 0.4, "a": 0.5}
    unknowns = ["der(rocker)", "crank''", "rocker''", "kinetic", "tip.x"]
    one = host(mechanism, Fmi.TWO).start(**point)
    for known in ("crank", "rocker", "coupler'", "tau:crank"):
        sides = []
        for change in (1e-5, -1e-5):
            shifted = host(mechanism, Fmi.TWO).start(**{**point, known: point[known] + change})
            sides.append(shifted.get(*unknowns))
        found = one.slope(unknowns, known)
        np.testing.assert_allclose(found, (sides[0] - sides[1]) / 2e-5, rtol=1e-5, atol=1e-6, err_msg=known)


@needs_compiler
def test_what_cannot_be_closed_does_not_start(host: Callable[..., Host]) -> None:
    with pytest.raises(Exception, match="ExitInitializationMode"):
        host(kg.load("four-bar"), Fmi.TWO).start(d=5.0)


@needs_compiler
def test_start_values_that_are_set_hold_and_others_follow(host: Callable[..., Host]) -> None:
    mechanism = kg.load("four-bar")
    names = (*mechanism.layout.positions, *mechanism.layout.velocities)
    found = host(mechanism, Fmi.TWO).start(**{"crank": 0.8, "crank'": 6.5}).get(*names)
    place = kg.assemble(mechanism, {"crank": 0.8, "crank'": 6.5})
    np.testing.assert_allclose(found, [*place.q, *place.v], rtol=0, atol=1e-12)
    declared = host(mechanism, Fmi.TWO).start(a=0.45).get(*names)
    np.testing.assert_allclose(declared[:1], [0.3], rtol=0, atol=1e-12)
    with pytest.raises(Exception, match="ExitInitializationMode"):  # of one degree of freedom
        host(mechanism, Fmi.TWO).start(crank=0.8, rocker=1.6)


@needs_compiler
def test_quaternions_follow_start_values_that_are_set(host: Callable[..., Host]) -> None:
    mechanism = kg.parse(SWING)
    one = host(mechanism, Fmi.THREE).start(x=0.75, wx=1.0)
    assert one.get("x", "y", "z", "wx") == pytest.approx([0.75, 0, 0.6, 1], abs=1e-12)
    q, v = (one.get(*names) for names in (mechanism.layout.positions, mechanism.layout.velocities))
    values = dict(zip((*mechanism.layout.positions, *mechanism.layout.velocities), (*q, *v), strict=True)) | {"t": 0.0}
    found = interpret(kg.derive(mechanism, "constraints,constraint_rates"), values)
    assert np.abs([*found["constraints"], *found["constraint_rates"]]).max() < 1e-12
    assert np.linalg.norm(q[:4]) == pytest.approx(1, abs=1e-12)
