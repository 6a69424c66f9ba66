"""A passive spacecraft for any ring: its geometry, what is wrong is said, platforms dock to capture."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.docking.description import docking_of
from kinegraph.docking.dock import dock
from kinegraph.docking.result import Outcome
from kinegraph.docking.target import Port, port_of, with_target
from kinegraph.errors import SolveError
from kinegraph.model.elements import CompliantContact, anchors_of
from kinegraph.model.evaluate import number, parameter_values
from tests.cli.run import runner
from tests.docking.test_rows import LIGHT

ALONE = LIGHT[: LIGHT.index("coordinates bx")] + LIGHT[LIGHT.index("initial") : LIGHT.index("Target |")]
ALONE = (
    ALONE.replace(", bwx = 0.01, bwy = 0.02, b1 = 0.01", "")
    + LIGHT[LIGHT.index("output A") : LIGHT.index("contact pad")]
)


def places(mechanism: kg.Mechanism, name: str) -> np.ndarray:
    """Where the shapes of a compliant contact are attached."""
    contact = next(one for one in mechanism.elements if isinstance(one, CompliantContact) and one.name == name)
    values = parameter_values(mechanism, {})
    return np.array([
        [float(number(part, values)) for part in anchor.position]
        for shape in contact.shapes
        for anchor in anchors_of(shape)
    ])  # fmt: skip


def test_guides_and_latches_are_those_of_the_library() -> None:
    known = kg.load("docking-two-spacecraft")
    made = with_target("stewart-docking")
    guides = [one.name for one in docking_of(made).guides]
    assert len(guides) == 9
    for name in guides:
        np.testing.assert_allclose(places(made, name), places(known, name), rtol=0, atol=1e-15)
    values = parameter_values(known, {})
    for name in ("R1", "T1", "R2", "T2", "R3", "T3"):
        first, second = (next(one for one in m.points if one.name == name) for m in (made, known))
        at = [[float(number(part, values)) for part in one.position] for one in (first, second)]
        np.testing.assert_allclose(*at, rtol=0, atol=1e-15)


@pytest.mark.parametrize("count", [2, 4, 6])
def test_any_number_of_latches(count: int) -> None:
    docking = docking_of(with_target(kg.parse(ALONE), Port(latches=count)))
    assert len(docking.latches) == count and len(docking.guides) == 3 * count
    assert (
        docking.mechanism.body("Target").inertia.mass == kg.load("docking-two-spacecraft").body("Target").inertia.mass
    )


@pytest.mark.parametrize(("ahead", "touched"), [(0.1, True), (0.05, False)])
def test_a_small_ring_docks_to_capture(ahead: float, touched: bool) -> None:
    """Nothing but a ring on springs and no spacecraft to dock with; and one that stands where all latches fit."""
    port = Port(2, 0.3, 0.25, 0.15, 0.1, mass=90, across=9, along=9, ahead=ahead, center=0.2)
    docking = docking_of(with_target(kg.parse(ALONE), port))
    near = replace(docking, latches=tuple(replace(one, distance=0.02, speed=0.2) for one in docking.latches))
    run = dock(near, 3, native=False, rtol=1e-7, interval=0.05, stop_at_capture=True)
    assert run.outcome is Outcome.CAPTURED and run.momentum < 1e-9 and run.energy < 1e-5
    assert bool(run.phases) is touched and len(run.times) == len(run["energy"])
    if not touched:
        with pytest.raises(SolveError, match="ended at its start"):
            run.solution()


@pytest.mark.soak
@pytest.mark.parametrize("model", ["stewart-docking", "hunt-docking"])
def test_platforms_of_the_library_dock_to_capture(model: str) -> None:
    run = dock(with_target(model), 10, stop_at_capture=True)
    assert run.outcome is Outcome.CAPTURED and run.momentum < 1e-11 and run.energy < 1e-8


@pytest.mark.soak
def test_what_draws_the_drives_in_is_in_the_balance_of_energy() -> None:
    run = dock(with_target("hunt-docking"), 10)
    assert run.outcome is Outcome.DOCKED and run.energy < 1e-7
    assert run.phases[-1].columns["supplied"][-1] > 1.0


@pytest.mark.parametrize(
    ("values", "message"),
    [({"radius": 0.0}, "radius is 0.0"), ({"stiffness": -1.0}, "not negative"), ({"latches": 1}, "from 2 to 12"),
     ({"mass": nan}, "mass is nan"), ({"latches": 2.5}, "an integer")],
)  # fmt: skip
def test_a_port_that_cannot_be(values: dict[str, float], message: str) -> None:
    with pytest.raises(SolveError, match=message):
        Port(**values)  # type: ignore[arg-type]


def test_what_is_wrong_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SolveError, match="no body 'Ring'"):
        with_target("double-pendulum")
    with pytest.raises(SolveError, match="already has a body 'Target'"):
        with_target("docking-light-legs")
    with pytest.raises(SolveError, match="freely by a quaternion"):
        with_target(kg.parse("model one; coordinates z; Ring | Sz(z) | m(1);"))
    with pytest.raises(SolveError, match="no 'radios'"):
        port_of({"radios": "1"})
    with pytest.raises(SolveError, match="with_target"):
        docking_of(kg.load("stewart-docking"))
    code, _, err = runner(capsys)("dock docking-light-legs --port radius=0.5")
    assert code == 2 and "--port" in err
